//! The acquisition times of messages.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::time::Clock;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::{Failed, check_equal};

const WAIT: Duration = Duration::from_millis(100);

/// How an operator waits for its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    BeforeItEmits,
    AfterItEmits,
    /// The operator gives the acquisition time itself, which is the time before it waited.
    WithATimeOfItsOwn,
}

/// An operator that waits for its device in each tick, and sends two messages.
#[operator]
struct Device {
    #[output]
    first: u64,
    #[output]
    second: u64,
    wait: Wait,
}

impl Compute for Device {
    fn compute(&mut self, io: DeviceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (clock, began) = (cx.platform().clock(), cx.now());
        if self.wait != Wait::AfterItEmits {
            clock.advance(WAIT);
        }
        match self.wait {
            Wait::WithATimeOfItsOwn => io.first.acquired(began).emit(cx.tick())?,
            Wait::BeforeItEmits | Wait::AfterItEmits => io.first.emit(cx.tick())?,
        }
        if self.wait == Wait::AfterItEmits {
            clock.advance(WAIT);
        }
        io.second.emit(cx.tick())
    }
}

/// An operator that notes the ages of its messages.
#[operator]
struct Ages {
    #[input]
    first: u64,
    #[input]
    second: u64,
    seen: Seen<[Option<Duration>; 2]>,
}

impl Compute for Ages {
    fn compute(&mut self, io: AgesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (first, second) = (io.first.receive(), io.second.receive());
        let acquired = [first.metadata(), second.metadata()].map(|found| found?.acquired());
        let ages = acquired.map(|at| at.map(|at| cx.now().since(at)));
        push_seen(&self.seen, ages);
        first.into_data();
        second.into_data();
        Ok(())
    }
}

graph! {
    struct Aged(wait: Wait, seen: Seen<[Option<Duration>; 2]>) {
        #[when(count(3))] let device: Device = Device::new(wait);
        let ages: Ages = Ages::new(seen);
        device.first >> ages.first;
        device.second >> ages.second;
    }
}

/// Checks that the age of a message counts from the first `emit` of its tick, and not from the beginning of the
/// tick.
pub(crate) fn first_emit(seed: u64) -> Result<(), Failed> {
    let cases = [
        (Wait::BeforeItEmits, [Duration::ZERO; 2]),
        (Wait::AfterItEmits, [WAIT; 2]),
        (Wait::WithATimeOfItsOwn, [WAIT, Duration::ZERO]),
    ];
    for (wait, ages) in cases {
        let platform = Platform::host().seed(seed).clock(&Clock::simulated()).build()?;
        let seen = Seen::default();
        Aged::new(&platform, wait, seen.clone())?.run()?;
        check_equal(all(&seen), vec![ages.map(Some); 3])?;
    }
    Ok(())
}
