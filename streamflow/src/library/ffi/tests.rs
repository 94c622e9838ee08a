//! A call that no driver needs is ordered by its claims as any other: the simulator, which needs all calls, can't show it by
//! itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use super::call::{self, Call};
use super::claim::Claim;
use super::operation::{self, Operation, Refused, accepted};
use crate::driver::host::HostDriver;
use crate::driver::{
    CopyKind, CopyOp, DeviceId, Driver, DriverResult, Layer, LibraryCalls, LibraryError,
    MemoryRange, RawStream,
};
use crate::error::Result;
use crate::library::HostBody;
use crate::memory::Buffer;
use crate::stream::{CudaStream, CudaStreamPool};
use crate::{Platform, device};

/// A simulator that needs nothing of a library's call, as a device's driver.
#[derive(Debug)]
struct PassedOver {
    below: HostDriver,
    /// The device that was made current at last.
    bound: AtomicU32,
}

// SAFETY: all calls are forwarded.
unsafe impl Layer for PassedOver {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.bound.store(device.0, Ordering::Relaxed);
        self.below.bind(device)
    }

    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Unseen
    }
}

const LEN: usize = 64;

/// How a copy is queued.
#[derive(Debug, Clone, Copy)]
enum How {
    ByCall,
    /// As an operation whose function returns this status.
    AsOperation(c_int),
}

const ALL: [How; 3] = [How::ByCall, How::AsOperation(0), How::AsOperation(7)];

/// A function that copies, and then returns a status.
#[derive(Debug, Clone, Copy)]
struct Copying<'a> {
    driver: &'a PassedOver,
    on: &'a CudaStream,
    x: Claim<'a>,
    y: Claim<'a>,
    status: c_int,
}

impl<'a> Operation<'a, 3> for Copying<'a> {
    fn name(&self) -> (&'static str, &'static str) {
        ("a library", "copy")
    }

    fn claims(&self) -> [Option<Claim<'a>>; 3] {
        [Some(self.x), None, Some(self.y)]
    }

    fn add_values(&self, _: &mut Call<'a>) {}

    unsafe fn call(&self, _: RawStream) -> Result<(), Refused> {
        self.driver.copy_bytes(self.on, self.x.address(), self.y.address());
        accepted("copy", self.status)
    }

    fn error(function: &'static str, status: c_int) -> LibraryError {
        call::error("a library", function, status, |_| "REFUSED")
    }
}

impl PassedOver {
    /// A copy that no use of memory is noted for, right after a record, as another thread may make one. That record does not
    /// cover the copy, so a use that was noted before would be lost.
    fn copy_bytes(&self, stream: &CudaStream, source: u64, target: u64) {
        assert_eq!(
            self.bound.load(Ordering::Relaxed),
            0,
            "another device than the stream's is current"
        );
        stream.record().unwrap();
        let range = |address| MemoryRange { address, bytes: LEN as u64 };
        let (source, target) = (range(source), range(target));
        let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
        // SAFETY: the stream is live, and the memory is as long and lives until the driver ends.
        unsafe { self.below().copy(stream.timeline().raw(), &copy) }.unwrap();
    }
}

/// Queues a copy. The function of a library does it; nothing is copied if the driver gets the call.
fn queue(
    how: How,
    driver: &PassedOver,
    stream: &CudaStream,
    x: &Buffer<u8>,
    y: &mut Buffer<u8>,
) -> Result<()> {
    let body = HostBody::new("copy", |_| Ok(()));
    match how {
        How::ByCall => {
            let mut call = Call::on(stream, "a library", "copy");
            let (x, y) = (call.read("x", x), call.write("y", y));
            let device = |_: RawStream| {
                driver.copy_bytes(stream, x, y);
                Ok(())
            };
            // SAFETY: `x` is read and `y` is written, as claimed.
            unsafe { call.queue_in_place(stream, &body, device) }
        }
        How::AsOperation(status) => {
            let (x, y) = (Claim::read("x", x), Claim::write("y", y));
            // SAFETY: as above; the record of the call touches no claimed memory.
            unsafe { operation::queue(stream, &body, Copying { driver, on: stream, x, y, status }) }
        }
    }
}

fn passed_over(seed: u64) -> (Arc<PassedOver>, Platform) {
    let below = HostDriver::builder().devices(2).seed(seed).build();
    let driver = Arc::new(PassedOver { below, bound: AtomicU32::new(0) });
    let platform = Platform::builder().race_check(false).driver(driver.clone()).unwrap();
    (driver, platform)
}

/// One stream fills `x`, another one copies it to `y` by a call of a library, and the first one reads `y`. Returns that. If `x`
/// is filled again before, that comes after the call by the claim of `x` alone, and else the read by the claim of `y`.
fn copied(how: How, seed: u64, fills_again: bool) -> Vec<u8> {
    let (driver, platform) = passed_over(seed);
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let [first, second] = ["first", "second"].map(|name| pool.allocate(name).unwrap());
    let mut x: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    let mut y: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    first.fill_bytes(&mut y, 1).unwrap();
    first.fill_bytes(&mut x, 7).unwrap();
    let queued = queue(how, &driver, &second, &x, &mut y);
    let is_refused = matches!(how, How::AsOperation(7));
    assert_eq!(queued.is_err(), is_refused, "{how:?}");
    if let Err(error) = queued {
        assert!(error.to_string().contains("REFUSED (7)"), "{error}");
    }
    if fills_again {
        first.fill_bytes(&mut x, 9).unwrap();
    }
    first.download_blocking(&y).unwrap()
}

#[test]
fn a_call_that_no_driver_needs_is_ordered_by_its_claims() {
    for how in ALL {
        for seed in 0..64 {
            for fills_again in [false, true] {
                let found = copied(how, seed, fills_again);
                assert_eq!(found, [7; LEN], "{how:?}, seed {seed}, {fills_again}");
            }
        }
    }
}

/// A wait would make it current as well: here none is needed.
#[test]
fn a_function_is_called_with_its_streams_device_current() {
    for how in ALL {
        let (driver, platform) = passed_over(0);
        let stream = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        let stream = stream.allocate("work").unwrap();
        let x: Buffer<u8> = platform.buffer(LEN, &stream).unwrap();
        let mut y: Buffer<u8> = platform.buffer(LEN, &stream).unwrap();
        platform.default_stream(device(1)).unwrap().timeline().bind().unwrap();
        assert_eq!(driver.bound.load(Ordering::Relaxed), 1);
        let _ = queue(how, &driver, &stream, &x, &mut y);
    }
}
