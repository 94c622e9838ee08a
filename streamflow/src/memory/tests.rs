//! Tests of which memory an allocation gets, and which driver calls it makes. A recorder over the simulator lists the calls.
//! With the lazy policy the simulator executes work only when a call waits for it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod bodies;
mod bound;
mod contexts;
mod downloads;
mod freeing;
mod given_back;
mod logged;
mod marks;
mod pinned;
mod queries;
mod refused;
mod releasing;
mod reuse;
mod room;
mod rotation;
mod shapes;
mod siblings;
mod sizes;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::*;
use crate::driver::host::{HostDriver, Policy};
use crate::driver::{
    Call, DeviceId, Driver, DriverError, DriverResult, Layer, MemoryRange, RecordedRange, Recorder,
    StreamLabel,
};
use crate::stream::StreamPool;
use crate::{CudaStream, CudaStreamPool, Platform, device};

const LEN: usize = 1003;

struct Bench {
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
}

/// Returns options with which this many free blocks of each size may be in use by the device.
fn in_flight(blocks: usize) -> MemoryOptions {
    MemoryOptions { in_flight: blocks, small_in_flight: blocks, ..MemoryOptions::default() }
}

fn bench(options: MemoryOptions) -> Bench {
    bench_with(Policy::Lazy, options)
}

fn bench_with(policy: Policy, options: MemoryOptions) -> Bench {
    let host = HostDriver::builder().policy(policy).build();
    let recorder = Arc::new(Recorder::new(Arc::new(host)));
    let platform = Platform::builder().memory(options).driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    Bench { recorder, platform, pool }
}

impl Bench {
    /// Creates a stream, and returns it with the name that the recorder has given it.
    fn stream(&self) -> (CudaStream, StreamLabel) {
        let stream = self.pool.allocate("a test").unwrap();
        self.recorder.clear();
        stream.is_complete().unwrap();
        let name = self.recorder.calls().iter().find_map(Call::stream).unwrap();
        (stream, name)
    }

    fn buffer(&self, stream: &CudaStream) -> Buffer<u8> {
        self.platform.buffer(LEN, stream).unwrap()
    }

    fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        self.recorder.count(wanted)
    }
}

fn is_wait(call: &Call) -> bool {
    matches!(call, Call::WaitEvent { .. })
}
