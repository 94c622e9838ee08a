//! `RunControl`: the commands that end or pause a run, the signal that wakes its scheduler, and the activities of its nodes.

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

/// A bit that is set in the state, in addition to one of the values above, while a report is requested from the scheduler.
const REPORT: u8 = 1 << 7;

/// The state that the threads of a run share: whether the run goes on, the signal that wakes its scheduler, and the activities of
/// its nodes.
#[derive(Debug, Default)]
pub struct RunControl {
    /// The state, as one of the constants above and the bit `REPORT`. Only [`change`](Self::change) and the functions for reports
    /// write it.
    state: AtomicU8,
    signal: Arc<Signal>,
    nodes: Box<[Arc<NodeCell>]>,
    /// How often nodes have ended, counted over all nodes. A node with a `flush` ends twice: when its operator is done, and after
    /// the flush.
    ended: AtomicU32,
    /// How many calls of `AnyNode::step` have dropped messages instead of running a tick.
    dropped: AtomicU32,
    /// The moment at which all `start` hooks had returned.
    begun: OnceLock<Timestamp>,
    /// The moment at which the time of the run is over, if the run has a limit of time.
    deadline: OnceLock<Timestamp>,
    /// How hooks sleep while workers run the nodes; `None` in a run without workers.
    sleeper: Mutex<Option<Arc<dyn Sleeper>>>,
}

/// The part of a run with workers that a sleeping hook needs.
pub(crate) trait Sleeper: fmt::Debug + Send + Sync {
    /// Lets simulated time pass. Returns when the clock has reached `until`, or when the run ends.
    fn sleep(&self, until: Timestamp);
    /// Returns whether the run is ending, by a command, by a failure of another node, or because its time is over. When this
    /// changes, the run's signal is raised or nudged.
    fn is_over(&self) -> bool;
}

/// What the scheduler must do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Run the nodes that are ready.
    Run,
    /// Make a report, and then read the command again.
    Report,
    /// Run no node until the command is another one.
    Pause,
    /// End the run.
    Stop(StopSource),
}

/// Who or what has stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "ctrlc"), allow(dead_code, reason = "made by signals alone"))]
pub(crate) enum StopSource {
    Node,
    Handle,
    CtrlC,
    /// The signal SIGTERM.
    Terminate,
    /// The signal SIGHUP.
    HangUp,
}

/// The phase of a run, as the user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunPhase {
    /// The run is in progress: it runs nodes, or sleeps until a node can run.
    Active,
    /// The run was asked to pause: no node begins a tick.
    Paused,
    /// The run was asked to stop: ticks that are running are completed, and then the `stop` hooks are called.
    Stopping,
    /// The run has ended.
    Over,
}

impl RunControl {
    /// Creates the control of a run of these nodes, in their static order.
    pub(crate) fn new(nodes: Box<[Arc<NodeCell>]>) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// Records the moment at which all `start` hooks had returned.
    pub(crate) fn set_begun(&self, at: Timestamp) {
        // A run begins only once, so the result is ignored.
        let _again = self.begun.set(at);
    }

    /// Returns the time since all `start` hooks had returned.
    pub(crate) fn elapsed(&self, clock: &Clock) -> Duration {
        self.begun.get().map_or(Duration::ZERO, |begun| clock.now().since(*begun))
    }

    /// Sets the moment at which the time of the run is over. No hook sleeps longer than until then.
    pub(crate) fn set_deadline(&self, at: Timestamp) {
        // A run has only one limit of time, so the result is ignored.
        let _again = self.deadline.set(at);
    }

    /// Returns the nodes, in their static order.
    #[inline]
    pub(crate) fn nodes(&self) -> &[Arc<NodeCell>] {
        &self.nodes
    }

    /// Counts the end of a node.
    #[cold]
    pub(crate) fn count_end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how often nodes have ended, counted over all nodes.
    #[inline]
    pub(crate) fn ended(&self) -> u32 {
        self.ended.load(Ordering::Relaxed)
    }

    /// Counts a call of `AnyNode::step` that has dropped messages instead of running a tick.
    pub(crate) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many calls of `AnyNode::step` have dropped messages instead of running a tick. The number wraps around.
    pub(crate) fn dropped(&self) -> u32 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Returns the current command. The scheduler reads it once in each pass over the nodes.
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

    /// Returns whether nodes may begin a tick. Each node reads this before its tick.
    #[inline]
    pub(crate) fn permits_ticks(&self) -> bool {
        self.state.load(Ordering::Relaxed) & !REPORT == RUNS
    }

    /// Returns the phase of the run.
    pub(crate) fn phase(&self) -> RunPhase {
        match self.state.load(Ordering::Acquire) & !REPORT {
            RUNS => RunPhase::Active,
            PAUSED => RunPhase::Paused,
            OVER => RunPhase::Over,
            _ => RunPhase::Stopping,
        }
    }

    /// Ends the run after the ticks that are running now. Returns `false` if the run was stopped or over already.
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

    /// Pauses the run: no node begins a tick. Returns `false` if the run was stopped or is over.
    pub(crate) fn pause(&self) -> bool {
        self.change(|state| (state <= PAUSED).then_some(PAUSED))
    }

    /// Ends a pause. Returns `false` if the run was stopped or is over.
    pub(crate) fn resume(&self) -> bool {
        self.change(|state| (state <= PAUSED).then_some(RUNS))
    }

    /// Marks the run as over. Later commands have no effect.
    pub(crate) fn end(&self) {
        self.change(|_| Some(OVER));
    }

    /// Requests a report, and wakes the scheduler to make it.
    pub(crate) fn request_report(&self) {
        self.state.fetch_or(REPORT, Ordering::AcqRel);
        self.signal.raise();
    }

    /// Removes the request for a report, when the scheduler begins to make the report.
    pub(crate) fn begin_report(&self) {
        self.state.fetch_and(!REPORT, Ordering::AcqRel);
    }

    /// Changes the state to `next(state)`, unless that is `None`, and wakes the scheduler. Returns whether the state was changed.
    fn change(&self, next: impl Fn(u8) -> Option<u8>) -> bool {
        let next = |bits: u8| next(bits & !REPORT).map(|state| state | bits & REPORT);
        let changed = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        if changed.is_ok() {
            self.signal.raise();
        }
        changed.is_ok()
    }

    /// Sets how hooks sleep from now on. If an edge has given way, the run goes on with new workers, and calls this function
    /// again.
    pub(crate) fn set_sleeper(&self, sleeper: Arc<dyn Sleeper>) {
        let before = locked(&self.sleeper).replace(sleeper);
        drop(before);
    }

    /// Lets this much time pass, by the clock. Returns early when the run ends or is stopped, and at the latest at the run's
    /// deadline.
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
                // Without workers this hook is the only code that runs, so it advances the simulated clock itself.
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

    /// Returns a waker that wakes the scheduler of this run.
    pub fn waker(&self) -> Waker {
        Waker(self.signal.clone())
    }

    /// Returns the signal for which the sleeping scheduler waits.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }
}

/// Wakes the scheduler of a run, so that it checks the conditions of its nodes again. Clones wake the same scheduler.
#[derive(Debug, Clone)]
pub struct Waker(Arc<Signal>);

impl Waker {
    /// Wakes the scheduler. Change the state on which the condition depends *before* this call.
    pub fn wake(&self) {
        self.0.raise();
    }

    /// Returns the signal that the waker raises.
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
