//! Tests that a call is ordered by its claims. The driver of these tests does not read the call's accesses; the simulator reads
//! them, so it would order the call by itself. Other tests check the device that is current in a call, and the time at which an
//! object is dropped.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use super::call::Call;
use crate::driver::host::HostDriver;
use crate::driver::{
    CopyKind, CopyOp, DeviceId, Driver, DriverResult, Layer, Libraries, LibraryCall, LibraryCalls,
    LibraryError, MemoryRange, RawStream,
};
use crate::error::Result;
use crate::library::HostBody;
use crate::memory::{AfterWork, Buffer};
use crate::stream::{CudaStream, CudaStreamPool};
use crate::{Platform, device};

/// A simulator that calls the functions of libraries, as a device's driver does.
#[derive(Debug)]
struct CallsFunctions {
    below: HostDriver,
    /// The device that each thread has made current last.
    bound: Mutex<HashMap<ThreadId, DeviceId>>,
}

// SAFETY: this layer passes all calls on to the driver below.
unsafe impl Layer for CallsFunctions {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.bound.lock().unwrap().insert(thread::current().id(), device);
        self.below.bind(device)
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: the library's function makes its copy by a call of the driver below.
unsafe impl Libraries for CallsFunctions {
    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Body
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        Ok((call.device)(stream)?)
    }
}

const LEN: usize = 64;

impl CallsFunctions {
    /// Returns the device that is current on this thread.
    fn bound(&self) -> Option<DeviceId> {
        self.bound.lock().unwrap().get(&thread::current().id()).copied()
    }

    /// Copies without noting a use of memory, after a record as another thread might make it. The record does not cover the copy,
    /// so a use that was noted before the record would not order the copy.
    fn copy_bytes(&self, stream: &CudaStream, source: u64, target: u64) {
        assert_eq!(self.bound(), Some(device(0)), "another device than the stream's is current");
        stream.record().unwrap();
        let range = |address| MemoryRange { address, bytes: LEN as u64 };
        let (source, target) = (range(source), range(target));
        let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
        // SAFETY: the stream is alive, and the memory has this length and lives until the driver is dropped.
        unsafe { self.below().copy(stream.timeline().raw(), &copy) }.unwrap();
    }
}

/// Queues a copy by a library's function that returns `status`. If the driver ran the host body instead, nothing would be copied.
fn queue(
    status: i32,
    driver: &CallsFunctions,
    stream: &CudaStream,
    x: &Buffer<u8>,
    y: &mut Buffer<u8>,
) -> Result<()> {
    let body = HostBody::new("copy", |_| Ok(()));
    let mut call = Call::on(stream, "a library", "copy");
    let (x, y) = (call.read("x", x), call.write("y", y));
    let device = |_: RawStream| {
        driver.copy_bytes(stream, x, y);
        LibraryError::check("a library", "copy", status, |_| "REFUSED")
    };
    // SAFETY: the function reads `x` and writes `y`, as claimed. The record in the call touches no claimed memory.
    unsafe { call.queue_in_place(stream, &body, &device) }
}

fn calling(seed: u64) -> (Arc<CallsFunctions>, Platform) {
    let below = HostDriver::builder().devices(2).seed(seed).build();
    let driver = Arc::new(CallsFunctions { below, bound: Mutex::default() });
    let platform = Platform::builder().race_check(false).driver(driver.clone()).unwrap();
    (driver, platform)
}

/// Fills `x` on a first stream, copies `x` to `y` on a second stream by a call of a library, and returns `y` as read on the first
/// stream. With `fills_again`, `x` is filled again before the read, and only the claim of `x` makes that fill come after the
/// copy. Without it, the claim of `y` makes the read come after the copy.
fn copied(status: i32, seed: u64, fills_again: bool) -> Vec<u8> {
    let (driver, platform) = calling(seed);
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let [first, second] = ["first", "second"].map(|name| pool.allocate(name).unwrap());
    let mut x: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    let mut y: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    first.fill_bytes(&mut y, 1).unwrap();
    first.fill_bytes(&mut x, 7).unwrap();
    let queued = queue(status, &driver, &second, &x, &mut y);
    assert_eq!(queued.is_err(), status != 0, "{status}");
    if let Err(error) = queued {
        assert!(error.to_string().contains("REFUSED (7)"), "{error}");
    }
    if fills_again {
        first.fill_bytes(&mut x, 9).unwrap();
    }
    first.download_blocking(&y).unwrap()
}

#[test]
fn a_call_without_accesses_is_ordered_by_its_claims() {
    for status in [0, 7] {
        for seed in 0..64 {
            for fills_again in [false, true] {
                let found = copied(status, seed, fills_again);
                assert_eq!(found, [7; LEN], "{status}, seed {seed}, {fills_again}");
            }
        }
    }
}

/// No stream has to wait for another in this test, since a wait would also make the device current.
#[test]
fn a_function_is_called_with_its_streams_device_current() {
    for status in [0, 7] {
        let (driver, platform) = calling(0);
        let stream = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        let stream = stream.allocate("work").unwrap();
        let x: Buffer<u8> = platform.buffer(LEN, &stream).unwrap();
        let mut y: Buffer<u8> = platform.buffer(LEN, &stream).unwrap();
        platform.default_stream(device(1)).unwrap().timeline().bind().unwrap();
        assert_eq!(driver.bound(), Some(device(1)));
        let _ = queue(status, &driver, &stream, &x, &mut y);
    }
}

/// An object of a library. Its drop sends the device that is then current to the test.
struct Object {
    driver: Arc<CallsFunctions>,
    told: Sender<Option<DeviceId>>,
}

impl Drop for Object {
    fn drop(&mut self) {
        self.told.send(self.driver.bound()).unwrap();
    }
}

#[test]
fn an_object_is_dropped_with_its_streams_device_current() {
    let (driver, platform) = calling(0);
    for number in [1, 0] {
        let stream = platform.default_stream(device(number)).unwrap();
        let (told, dropped) = channel();
        let make = |_: RawStream| Ok(Object { driver: driver.clone(), told: told.clone() });
        let object = AfterWork::new(&stream, stream.make_object(make).unwrap()).unwrap();
        drop(object);
        stream.synchronize_blocking().unwrap();
        assert_eq!(dropped.recv().unwrap(), Some(device(number)));
    }
}
