//! Operators that pass numbers on, and fail as a plan says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::prelude::*;
use streamflow::schedule::{DropReason, Report};
use streamflow::time::Timestamp;
use streamflow_tests::{Failed, check};

/// At which point and how a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The hook fails before the inputs are received.
    Early,
    /// The hook fails after the inputs are received and the output is emitted.
    Late,
    /// The hook panics after the inputs are received and the output is emitted.
    Panic,
    /// The hook fails after it has left the input's message in the queue.
    Leaves,
}

/// The work of the operators of a node, and the part that was done.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The ticks in which `compute` fails, and how.
    pub(crate) faults: Vec<(u64, Fault)>,
    /// How many calls of the constructor fail, after the first.
    pub(crate) failing_constructors: usize,
    /// How many calls of `start` fail, after the first.
    pub(crate) failing_starts: usize,
    /// Whether `stop` fails.
    pub(crate) fails_in_stop: bool,
    /// Whether dropping an operator panics.
    pub(crate) panics_on_drop: bool,
    pub(crate) made: usize,
    pub(crate) started: usize,
    pub(crate) stopped: usize,
    pub(crate) dropped: usize,
    /// For each tick that succeeded: the tick, the number received, and how many ticks this operator value had done
    /// before.
    pub(crate) done: Vec<(u64, u64, u64)>,
    /// When each operator was started.
    pub(crate) starts: Vec<Timestamp>,
    /// When `compute` was called.
    pub(crate) ticks: Vec<Timestamp>,
}

/// A log that a test and the operators of a node share.
pub(crate) type Shared = Arc<Mutex<Log>>;

pub(crate) fn log(faults: &[(u64, Fault)]) -> Shared {
    Arc::new(Mutex::new(Log { faults: faults.to_vec(), ..Log::default() }))
}

pub(crate) fn locked(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a planned failure, with its tick.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Planned(pub(crate) u64);

impl std::fmt::Display for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "planned for tick {}", self.0)
    }
}

impl std::error::Error for Planned {}

/// Emits its tick.
#[operator]
pub(crate) struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

/// Emits its tick, and fails as its log says.
#[operator(no_new)]
pub(crate) struct Camera {
    #[output]
    number: u64,
    ticks: u64,
    log: Shared,
}

impl Camera {
    pub(crate) fn new(log: Shared) -> Self {
        locked(&log).made += 1;
        Self { ticks: 0, log }
    }
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let tick = cx.tick();
        let mut log = locked(&self.log);
        log.ticks.push(cx.now());
        let fault = log.faults.iter().find(|(at, _)| *at == tick);
        io.number.emit(tick)?;
        if fault.is_some() {
            return Err(Planned(tick).into());
        }
        log.done.push((tick, tick, self.ticks));
        self.ticks += 1;
        Ok(())
    }
}

/// Passes numbers on, and fails as its log says.
#[operator(no_new)]
pub(crate) struct Filter {
    #[input]
    number: &u64,
    #[input]
    other: &u64,
    #[output]
    out: u64,
    ticks: u64,
    log: Shared,
}

impl Filter {
    pub(crate) fn new(log: Shared) -> Result<Self, Planned> {
        {
            let mut log = locked(&log);
            log.made += 1;
            if log.made > 1 && log.failing_constructors > 0 {
                log.failing_constructors -= 1;
                return Err(Planned(0));
            }
        }
        Ok(Self { ticks: 0, log })
    }
}

impl Drop for Filter {
    #[allow(clippy::panic, reason = "the test is about panics")]
    fn drop(&mut self) {
        let mut log = locked(&self.log);
        log.dropped += 1;
        if std::mem::take(&mut log.panics_on_drop) {
            drop(log);
            panic!("dropped");
        }
    }
}

impl Compute for Filter {
    fn start(&mut self, _: FilterStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let mut log = locked(&self.log);
        log.started += 1;
        log.starts.push(cx.now());
        if log.started > 1 && log.failing_starts > 0 {
            log.failing_starts -= 1;
            return Err(Failure::msg("no licence"));
        }
        Ok(())
    }

    #[allow(clippy::panic, reason = "the test is about panics")]
    fn compute(&mut self, io: FilterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let tick = cx.tick();
        let mut log = locked(&self.log);
        log.ticks.push(cx.now());
        let fault = log.faults.iter().find(|(at, _)| *at == tick).map(|(_, fault)| *fault);
        if fault == Some(Fault::Leaves) {
            io.number.leave();
            io.other.leave();
            return Err(Planned(tick).into());
        }
        let number = *io.number.receive().into_data();
        if fault == Some(Fault::Early) {
            // The hook returns before it receives the input `other`.
            return Err(Planned(tick).into());
        }
        let other = *io.other.receive().into_data();
        io.out.emit(number)?;
        match fault {
            Some(Fault::Panic) => {
                drop(log);
                panic!("planned for tick {tick}")
            }
            Some(_) => return Err(Planned(tick).into()),
            None => {}
        }
        if number != other {
            cx.stop_graph();
            return Err(Failure::msg(format!("{number} came with {other}")));
        }
        log.done.push((tick, number, self.ticks));
        self.ticks += 1;
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        let mut log = locked(&self.log);
        log.stopped += 1;
        if log.fails_in_stop { Err(Failure::msg("it does not stop")) } else { Ok(()) }
    }
}

/// Keeps the numbers that it receives.
#[operator]
pub(crate) struct Keep {
    #[input]
    number: u64,
    pub(crate) seen: Vec<u64>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.seen.push(io.number.receive().into_data());
        Ok(())
    }
}

/// Returns the numbers `0..count` without those of the failed ticks.
pub(crate) fn without(count: u64, faults: &[(u64, Fault)]) -> Vec<u64> {
    (0..count).filter(|tick| faults.iter().all(|(at, _)| at != tick)).collect()
}

/// Checks how many operators were made, started, stopped and dropped.
pub(crate) fn check_operators(log: &Shared, expected: [usize; 4]) -> Result<(), Failed> {
    let Log { made, started, stopped, dropped, .. } = &*locked(log);
    let found = [*made, *started, *stopped, *dropped];
    check(found == expected, || {
        format!("made, started, stopped, dropped: {found:?}, not {expected:?}")
    })
}

/// Returns the edges whose messages were dropped because a failed tick had not taken them, and how many were dropped.
pub(crate) fn lost(report: &Report) -> Vec<(&'static str, u64)> {
    let dropped = report.dropped.iter().filter(|of| of.reason == DropReason::TickFailed);
    dropped.map(|of| (of.edge, of.messages)).collect()
}
