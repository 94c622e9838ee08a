//! Tests: a stream that waits for a sent message comes after the work that wrote the message.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::outlet::{Outgoing, Outlet};
use crate::context::{ExecutionContext, SingleStream, Streams};
use crate::driver::host::{HostDriver, LogAction, Policy};
use crate::driver::{Driver, DriverResult, Layer, RawEvent, RawStream};
use crate::memory::Buffer;
use crate::message::{EdgeOptions, Envelope, Inlet, Metadata};
use crate::stream::{CudaStream, CudaStreamPool};
use crate::turns::hooks;
use crate::{Platform, device};

/// A driver layer that passes every call to the driver below it. Before each wait it has a turn point, at which a test can run
/// code of its own.
#[derive(Debug)]
struct PointBeforeWait(HostDriver);

const WAITING: &str = "the driver is about to wait";

// SAFETY: every call is passed to the driver below, which implements the contract.
unsafe impl Layer for PointBeforeWait {
    fn below(&self) -> &dyn Driver {
        &self.0
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        crate::turns::point(WAITING);
        // SAFETY: the caller keeps the contract of this function, and the driver below has the same one.
        unsafe { self.0.wait_event(stream, event) }
    }
}

struct Bench {
    driver: Arc<PointBeforeWait>,
    platform: Platform,
    /// The stream that writes the message.
    writer: CudaStream,
    sender: CudaStream,
    receiver: CudaStream,
}

fn bench() -> Bench {
    let driver = HostDriver::builder().policy(Policy::Lazy).trace(true).build();
    let driver = Arc::new(PointBeforeWait(driver));
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = |name: &'static str| pool.allocate(name).unwrap();
    let (writer, sender, receiver) = (stream("writer"), stream("sender"), stream("receiver"));
    Bench { driver, platform, writer, sender, receiver }
}

impl Bench {
    /// Writes a message on the stream `writer` and emits it on the stream `sender`.
    fn emit(&self, outlet: &mut Outlet<Buffer<u8>>) {
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
        outlet.emit(data, Metadata::default(), Some(&self.sender), &cx).unwrap();
    }

    /// Writes a message, emits it, and returns it with the point at which its data is ready.
    fn send(&self) -> Envelope<Buffer<u8>> {
        let mut outlet = Outlet::new("out");
        self.emit(&mut outlet);
        outlet.take_pending().unwrap()
    }

    /// Returns whether a stream that waits for the message comes after the write of its data. Under the lazy policy the simulator
    /// executes the write only if the wait needs it.
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

/// Another thread records the sender's stream before that stream has waited for the write of the data. The record does not cover
/// the message, so the message must get a later point.
#[test]
fn a_record_from_before_a_message_was_ordered_does_not_cover_it() {
    let bench = bench();
    let again = CudaStream::adopted(bench.platform.streams(), bench.sender.timeline().open_point());
    hooks::at(WAITING, move || assert!(again.record().is_ok()));
    let message = bench.send();
    assert!(hooks::are_done() && bench.is_written_before(&message));
}

/// A wait for the message that one of several consumers has received comes after the write of the data.
#[test]
fn each_consumer_gets_the_point_at_which_its_message_is_ready() {
    for consumers in 1..=3 {
        for looks in 0..consumers {
            let bench = bench();
            let mut outlet = Outlet::new("out");
            let mut inlets: Vec<_> = (0..consumers).map(|_| Inlet::new(&"in")).collect();
            for inlet in &mut inlets {
                outlet.connect(inlet.connect(EdgeOptions::plain("edge")), None);
            }
            bench.emit(&mut outlet);
            assert!(outlet.publish());
            inlets[looks].receive();
            let message = inlets[looks].only().unwrap();
            assert!(bench.is_written_before(message), "{looks} of {consumers}");
        }
    }
}
