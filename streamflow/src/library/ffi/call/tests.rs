//! A call that no driver needs is ordered by its claims as any other: the simulator, which needs all calls, can't show it by
//! itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::Call;
use crate::Platform;
use crate::driver::host::HostDriver;
use crate::driver::{CopyKind, CopyOp, Driver, Layer, LibraryCalls, MemoryRange, RawStream};
use crate::library::HostBody;
use crate::memory::Buffer;
use crate::stream::CudaStreamPool;

/// A simulator that needs nothing of a library's call, as a device's driver.
#[derive(Debug)]
struct PassedOver(HostDriver);

// SAFETY: all calls are forwarded.
unsafe impl Layer for PassedOver {
    fn below(&self) -> &dyn Driver {
        &self.0
    }

    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Unseen
    }
}

const LEN: usize = 64;

/// One stream fills `x`, another one copies it to `y` by a call of a library, and the first one reads `y`. Returns that. If `x`
/// is filled again before, that comes after the call by the claim of `x` alone, and else the read by the claim of `y`.
fn copied(seed: u64, fills_again: bool) -> Vec<u8> {
    let driver = Arc::new(PassedOver(HostDriver::builder().seed(seed).build()));
    let platform = Platform::builder().race_check(false).driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let [first, second] = ["first", "second"].map(|name| pool.allocate(name).unwrap());
    let mut x: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    let mut y: Buffer<u8> = platform.buffer(LEN, &first).unwrap();
    first.fill_bytes(&mut y, 1).unwrap();
    first.fill_bytes(&mut x, 7).unwrap();
    let mut call = Call::on(&second, "a library", "copy");
    let addresses = (call.read("x", &x), call.write("y", &mut y));
    // Nothing is copied if the driver gets the call.
    let body = HostBody::new("copy", |_| {});
    let range = |address| MemoryRange { address, bytes: LEN as u64 };
    let (source, target) = (range(addresses.0), range(addresses.1));
    let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
    let device = |stream: RawStream| {
        // SAFETY: the stream is live, and the memory is as long and lives until the driver ends.
        unsafe { driver.below().copy(stream, &copy) }.unwrap();
        Ok(())
    };
    // SAFETY: `x` is read and `y` is written, as claimed.
    unsafe { call.queue_in_place(&second, &body, device) }.unwrap();
    drop(call);
    if fills_again {
        first.fill_bytes(&mut x, 9).unwrap();
    }
    first.download_blocking(&y).unwrap()
}

#[test]
fn a_call_that_no_driver_needs_is_ordered_by_its_claims() {
    for seed in 0..64 {
        for fills_again in [false, true] {
            assert_eq!(copied(seed, fills_again), [7; LEN], "seed {seed}, {fills_again}");
        }
    }
}
