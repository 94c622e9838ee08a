//! Tests of the order at the end of a tick: the work is recorded before the messages are sent.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod each_kind;
mod failed_ticks;
mod hooks;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::driver::host::HostDriver;
use crate::driver::{Driver, DriverError, DriverResult, Layer, RawEvent, RawStream};
use crate::prelude::*;

/// A driver layer over the simulator. While `refuses` is set, each call that would record an event fails.
#[derive(Debug)]
struct Refuses {
    below: HostDriver,
    refuses: AtomicBool,
}

// SAFETY: a refused call has no effect, and returns an error. All other calls are passed to the simulator.
unsafe impl Layer for Refuses {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        if self.refuses.load(Ordering::Relaxed) {
            return Err(DriverError::OutOfMemory { device: stream.device(), requested: 0 });
        }
        // SAFETY: the caller keeps the contract of this function, and the driver below has the same one.
        unsafe { self.below.record_event(event, stream) }
    }
}

/// Queues work on two streams, and sends the number of its tick. In tick 1 the driver refuses to record that work.
#[operator(streams(one, two))]
struct Works {
    #[output]
    number: u64,
    driver: Arc<Refuses>,
}

impl Compute for Works {
    fn compute(&mut self, io: WorksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        for stream in [io.one, io.two] {
            let stream = cx.allocate_cuda_stream(stream)?;
            stream.fill_bytes(&mut cx.buffer::<u8>(8, &stream)?, 1)?;
        }
        self.driver.refuses.store(cx.tick() == 1, Ordering::Relaxed);
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Keeps {
    #[input]
    number: u64,
    numbers: Arc<Mutex<Vec<u64>>>,
}

impl Compute for Keeps {
    fn compute(&mut self, io: KeepsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.numbers.lock().unwrap().push(io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Recorded(driver: Arc<Refuses>, numbers: Arc<Mutex<Vec<u64>>>) {
        #[when(count(3))]
        #[on_failure(skip)]
        let works: Works = Works::new(driver);
        let keeps: Keeps = Keeps::new(numbers);
        works.number >> keeps.number;
    }
}

/// Law 8: the work of a tick is recorded before its messages are sent. If recording fails, as in tick 1, nothing is sent.
#[test]
fn a_message_is_sent_after_the_record_of_its_tick() {
    for check in [true, false] {
        let below = HostDriver::builder().build();
        let driver = Arc::new(Refuses { below, refuses: AtomicBool::new(false) });
        let platform = Platform::builder().race_check(check).driver(driver.clone()).unwrap();
        let numbers = Arc::new(Mutex::new(Vec::new()));
        let report = Recorded::new(&platform, driver, numbers.clone()).unwrap().run().unwrap();
        assert_eq!(*numbers.lock().unwrap(), [0, 2], "{report}");
    }
}
