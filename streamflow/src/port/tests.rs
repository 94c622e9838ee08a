//! What a message that is sent comes after.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::Outlet;
use crate::context::{ExecutionContext, SingleStream, Streams};
use crate::driver::host::{HostDriver, LogAction, Policy};
use crate::driver::{Driver, DriverResult, Layer, RawEvent, RawStream};
use crate::memory::Buffer;
use crate::message::{Envelope, Metadata};
use crate::stream::{CudaStream, CudaStreamPool};
use crate::turns::hooks;
use crate::{Platform, device};

/// Hands every call on, and stops before a wait.
#[derive(Debug)]
struct Stops(HostDriver);

const WAITING: &str = "the driver is about to wait";

// SAFETY: all calls are handed on.
unsafe impl Layer for Stops {
    fn below(&self) -> &dyn Driver {
        &self.0
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        crate::turns::point(WAITING);
        // SAFETY: the caller's contract.
        unsafe { self.0.wait_event(stream, event) }
    }
}

struct Bench {
    driver: Arc<Stops>,
    platform: Platform,
    /// The message is written here, and sent on another stream.
    writer: CudaStream,
    sender: CudaStream,
    receiver: CudaStream,
}

fn bench() -> Bench {
    let driver = Arc::new(Stops(HostDriver::builder().policy(Policy::Lazy).trace(true).build()));
    let platform = Platform::from_driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = |name: &'static str| pool.allocate(name).unwrap();
    let (writer, sender, receiver) = (stream("writer"), stream("sender"), stream("receiver"));
    Bench { driver, platform, writer, sender, receiver }
}

impl Bench {
    /// Writes a message and sends it.
    fn send(&self) -> Envelope<Buffer<u8>> {
        let mut data = self.platform.buffer::<u8>(3, &self.writer).unwrap();
        self.writer.fill_bytes(&mut data, 7).unwrap();
        let single_stream = SingleStream::new(0);
        let streams = Streams::Adopt;
        let cx = ExecutionContext::new(
            &self.platform,
            "a test",
            device(0),
            streams,
            &[],
            &single_stream,
        );
        let mut outlet = Outlet::<Buffer<u8>>::new("out");
        outlet.emit(data, Metadata::default(), Some(&self.sender), &cx).unwrap();
        outlet.take_pending().unwrap()
    }

    /// Whether what waits for a message comes after its data: under the lazy policy nothing else is executed.
    fn is_written_before(&self, message: &Envelope<Buffer<u8>>) -> bool {
        self.receiver.wait(message.sent.unwrap()).unwrap();
        self.receiver.synchronize_blocking().unwrap();
        let log = self.driver.0.log();
        log.iter().any(|entry| matches!(entry.action, LogAction::Fill { .. }))
    }
}

#[test]
fn a_message_is_sent_after_what_was_written_on_another_stream() {
    let bench = bench();
    let message = bench.send();
    assert!(bench.is_written_before(&message));
}

/// Another thread records the sender's stream before that comes after the data. The record does not stand for the
/// message.
#[test]
fn a_record_from_before_a_message_was_ordered_does_not_stand_for_it() {
    let bench = bench();
    let again = CudaStream::adopted(bench.platform.streams(), bench.sender.timeline().open_point());
    hooks::at(WAITING, move || assert!(again.record().is_ok()));
    let message = bench.send();
    assert!(hooks::are_done() && bench.is_written_before(&message));
}
