//! The control of a run: the commands that end or pause it, the signal that wakes its scheduler, and the activities of its nodes.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::activity::NodeCell;
use crate::driver::Signal;
use crate::lock::locked;
use crate::time::{Clock, Timestamp};

const RUNS: u8 = 0;
const PAUSED: u8 = 1;
const STOPPED_BY_NODE: u8 = 2;
const STOPPED_BY_HANDLE: u8 = 3;
const STOPPED_BY_CTRL_C: u8 = 4;
const STOPPED_BY_TERMINATE: u8 = 5;
const STOPPED_BY_HANG_UP: u8 = 6;
const OVER: u8 = 7;

/// A bit beside the state: a report was requested from the scheduler.
const REPORT: u8 = 1 << 7;

/// The state that the threads of a run share: whether the run goes on, how its scheduler is woken, and the activities of
/// its nodes.
#[derive(Debug, Default)]
pub struct RunControl {
    /// The state. Only [`change`](Self::change) and the requests of reports change it.
    state: AtomicU8,
    signal: Arc<Signal>,
    nodes: Box<[Arc<NodeCell>]>,
    /// How often nodes have ended, all nodes together. A node with a `flush` ends twice: with its operator, and after the
    /// flush.
    ended: AtomicU32,
    /// How many calls of `AnyNode::step` have dropped messages without a tick.
    dropped: AtomicU32,
    /// The moment at which the `start` hooks had returned.
    begun: OnceLock<Timestamp>,
    /// The moment at which the time of the run is over, if it has a limit of time.
    deadline: OnceLock<Timestamp>,
    /// The way in which hooks sleep while workers run the nodes.
    sleeper: Mutex<Option<Arc<dyn Sleeper>>>,
}

/// The part of a run with workers that a hook needs to sleep.
pub(crate) trait Sleeper: fmt::Debug + Send + Sync {
    /// Lets simulated time pass. Returns when the clock has reached this moment, or the run ends.
    fn sleep(&self, until: Timestamp);
    /// Whether the run ends, by a command or without one: another node has failed, or the time of the run is over. The
    /// run's signal is raised or nudged when that happens.
    fn is_over(&self) -> bool;
}

/// The command to a scheduler: its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Run the nodes.
    Run,
    /// Make a report, then ask for the next command.
    Report,
    /// Run no node until the command changes.
    Pause,
    /// End the run.
    Stop(StopSource),
}

/// The source of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "ctrlc"), allow(dead_code, reason = "made by signals alone"))]
pub(crate) enum StopSource {
    Node,
    Handle,
    CtrlC,
    /// SIGTERM.
    Terminate,
    /// SIGHUP.
    HangUp,
}

/// The phase of a run, for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunPhase {
    /// The run goes on, or sleeps until a node can run.
    Active,
    /// The run was asked to pause: no node begins a tick.
    Paused,
    /// The run was asked to stop: the tick that runs finishes, then the `stop` hooks are called.
    Stopping,
    /// The run has ended.
    Over,
}

impl RunControl {
    /// Creates the control of a run of these nodes, in their static order.
    pub(crate) fn new(nodes: Box<[Arc<NodeCell>]>) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// Records the moment at which the `start` hooks had returned.
    pub(crate) fn set_begun(&self, at: Timestamp) {
        // A run begins once.
        let _again = self.begun.set(at);
    }

    /// The time since the `start` hooks have returned.
    pub(crate) fn elapsed(&self, clock: &Clock) -> Duration {
        self.begun.get().map_or(Duration::ZERO, |begun| clock.now().since(*begun))
    }

    /// Sets the moment at which the time of the run is over: no hook sleeps longer.
    pub(crate) fn set_deadline(&self, at: Timestamp) {
        // A run has one limit.
        let _again = self.deadline.set(at);
    }

    /// The nodes, in their static order.
    #[inline]
    pub(crate) fn nodes(&self) -> &[Arc<NodeCell>] {
        &self.nodes
    }

    /// Counts a node that has ended.
    #[cold]
    pub(crate) fn count_end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// How often nodes have ended, all nodes together.
    #[inline]
    pub(crate) fn ended(&self) -> u32 {
        self.ended.load(Ordering::Relaxed)
    }

    /// Counts a call of `AnyNode::step` that has dropped messages without a tick.
    pub(crate) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of calls of `AnyNode::step` that have dropped messages without a tick. The number wraps around.
    pub(crate) fn dropped(&self) -> u32 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The command. Read once in each pass.
    #[inline]
    pub(crate) fn command(&self) -> Command {
        match self.state.load(Ordering::Acquire) {
            RUNS => Command::Run,
            state if state & REPORT != 0 => Command::Report,
            PAUSED => Command::Pause,
            STOPPED_BY_NODE => Command::Stop(StopSource::Node),
            STOPPED_BY_CTRL_C => Command::Stop(StopSource::CtrlC),
            STOPPED_BY_TERMINATE => Command::Stop(StopSource::Terminate),
            STOPPED_BY_HANG_UP => Command::Stop(StopSource::HangUp),
            _ => Command::Stop(StopSource::Handle),
        }
    }

    /// Whether nodes may begin a tick. Read before each tick.
    #[inline]
    pub(crate) fn permits_ticks(&self) -> bool {
        self.state.load(Ordering::Relaxed) & !REPORT == RUNS
    }

    /// The phase of the run.
    pub(crate) fn phase(&self) -> RunPhase {
        match self.state.load(Ordering::Acquire) & !REPORT {
            RUNS => RunPhase::Active,
            PAUSED => RunPhase::Paused,
            OVER => RunPhase::Over,
            _ => RunPhase::Stopping,
        }
    }

    /// Ends the run after the tick that runs now. Returns whether nothing had ended it before.
    pub(crate) fn stop(&self, source: StopSource) -> bool {
        let stopped = match source {
            StopSource::Node => STOPPED_BY_NODE,
            StopSource::Handle => STOPPED_BY_HANDLE,
            StopSource::CtrlC => STOPPED_BY_CTRL_C,
            StopSource::Terminate => STOPPED_BY_TERMINATE,
            StopSource::HangUp => STOPPED_BY_HANG_UP,
        };
        self.change(|state| (state <= PAUSED).then_some(stopped))
    }

    /// Keeps nodes from beginning a tick. Returns whether the run goes on.
    pub(crate) fn pause(&self) -> bool {
        self.change(|state| (state <= PAUSED).then_some(PAUSED))
    }

    /// Ends a pause. Returns whether the run goes on.
    pub(crate) fn resume(&self) -> bool {
        self.change(|state| (state <= PAUSED).then_some(RUNS))
    }

    /// Ends the run: from now on no command has an effect.
    pub(crate) fn end(&self) {
        self.change(|_| Some(OVER));
    }

    /// Asks the scheduler for a report.
    pub(crate) fn request_report(&self) {
        self.state.fetch_or(REPORT, Ordering::AcqRel);
        self.signal.raise();
    }

    /// Takes the request for a report: the scheduler begins to make it.
    pub(crate) fn begin_report(&self) {
        self.state.fetch_and(!REPORT, Ordering::AcqRel);
    }

    /// Changes the state, unless `next` refuses, and wakes the scheduler. Returns whether the state was changed.
    fn change(&self, next: impl Fn(u8) -> Option<u8>) -> bool {
        let next = |bits: u8| next(bits & !REPORT).map(|state| state | bits & REPORT);
        let changed = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        if changed.is_ok() {
            self.signal.raise();
        }
        changed.is_ok()
    }

    /// Sets the way in which hooks sleep from now on. A run that goes on after an edge has given way has new workers,
    /// and calls this again.
    pub(crate) fn set_sleeper(&self, sleeper: Arc<dyn Sleeper>) {
        let before = locked(&self.sleeper).replace(sleeper);
        drop(before);
    }

    /// Lets time pass, by this clock. Returns early when the run ends or is stopped, and at the deadline of the run.
    pub(crate) fn sleep(&self, clock: &Clock, time: Duration) {
        let until = clock.now() + time;
        let until = self.deadline.get().map_or(until, |end| until.min(*end));
        let sleeper = locked(&self.sleeper).clone();
        let goes_on = || {
            matches!(self.command(), Command::Run | Command::Pause | Command::Report)
                && !sleeper.as_ref().is_some_and(|sleeper| sleeper.is_over())
        };
        if clock.is_simulated() {
            match &sleeper {
                _ if !goes_on() => {}
                Some(sleeper) => sleeper.sleep(until),
                // Without workers nothing but this hook runs, so the hook moves a simulated clock itself.
                None => _ = clock.advance_to(until),
            }
            return;
        }
        loop {
            let (seen, now) = (self.signal.raised(), clock.now());
            if !goes_on() || now >= until || !self.signal.sleep(seen, until.since(now)) {
                return;
            }
        }
    }

    /// The signal that wakes the scheduler.
    pub fn waker(&self) -> Waker {
        Waker(self.signal.clone())
    }

    /// The signal that the scheduler sleeps on.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }
}

/// Wakes the scheduler of a run to check the conditions of its nodes again. Clones wake the same scheduler.
#[derive(Debug, Clone)]
pub struct Waker(Arc<Signal>);

impl Waker {
    /// Wakes the scheduler. Change the state that the condition depends on *before* this call.
    pub fn wake(&self) {
        self.0.raise();
    }

    /// The signal that the waker raises.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stop_counts_and_nothing_undoes_it() {
        let run = RunControl::default();
        assert!(run.permits_ticks() && run.pause() && run.pause());
        assert_eq!((run.command(), run.phase()), (Command::Pause, RunPhase::Paused));
        assert!(!run.permits_ticks() && run.resume() && run.resume() && run.permits_ticks());
        assert!(run.pause() && run.stop(StopSource::CtrlC));
        assert!(!run.stop(StopSource::Node) && !run.pause() && !run.resume());
        assert_eq!(run.command(), Command::Stop(StopSource::CtrlC));
        assert_eq!(run.phase(), RunPhase::Stopping);
        run.end();
        assert_eq!(run.phase(), RunPhase::Over);
        assert!(!run.stop(StopSource::Handle) && !run.pause() && !run.resume());
    }

    #[test]
    fn a_report_is_asked_for_beside_every_state() {
        let prepare: [fn(&RunControl) -> bool; 3] =
            [|_| true, RunControl::pause, |run| run.stop(StopSource::Node)];
        for prepare in prepare {
            let run = RunControl::default();
            assert!(prepare(&run));
            let (before, phase, permits) = (run.command(), run.phase(), run.permits_ticks());
            run.request_report();
            assert_eq!(run.command(), Command::Report);
            assert_eq!((run.phase(), run.permits_ticks()), (phase, permits));
            run.begin_report();
            assert_eq!(run.command(), before);
        }
    }
}
