//! `Term`: the trait of all kinds of conditions.

use std::fmt;
use std::time::Duration;

use super::answers::Verdict;
use crate::context::Waker;
use crate::error::{Failure, Result};
use crate::operator::status::PortStatus;
use crate::operator::waits::Waits;
use crate::platform::Platform;
use crate::port::{Ports, ReceivingEnd, SendingEnd};
use crate::time::Timestamp;

/// A condition of a node. The list of the node's conditions calls these functions.
pub(super) trait Term: Send + fmt::Debug {
    /// Finds the condition's ports by their names and checks its values, after all edges were connected.
    ///
    /// # Errors
    /// The text of the error: why the condition can never hold, and what the user can do.
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        let _ = ports;
        Ok(())
    }

    /// Returns whether the condition needs the time of the clock.
    fn needs_time(&self) -> bool {
        false
    }

    /// Returns whether a node with this condition runs without a message, as `periodic` lets a source run.
    fn runs_without_messages(&self) -> bool {
        false
    }

    /// Returns whether the condition waits for messages at this input.
    fn awaits(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// Returns whether the node may have to wait for messages of the inputs that the condition names, even if these are optional.
    /// `is_one_of_several` says that the condition is in `any(…)`, where it may become the only one that can hold.
    fn may_await(&self, is_one_of_several: bool) -> bool {
        let _ = is_one_of_several;
        false
    }

    /// Returns whether the condition drops messages at this input that have no partner at another input.
    fn pairs(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// Called on the thread that asked for a run, when the run was made. [`start`](Self::start) is called later on the thread of
    /// the run.
    fn announced(&mut self) {}

    /// Begins a run. `waker` wakes the scheduler of the run.
    fn start(&mut self, waker: &Waker) -> Result<()> {
        let _ = waker;
        Ok(())
    }

    /// Checks whether the condition holds. If it waits for an event outside of the graph, adds the event to `at.waits`.
    ///
    /// # Errors
    /// Errors of the driver, and panics of the user's code.
    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict>;

    /// Claims the permission for one tick, after all conditions held, as a notice. Returns `false` if another node claimed it
    /// first.
    fn claim(&mut self) -> bool {
        true
    }

    /// Returns whether each tick uses the condition up, so that the condition limits how often the node runs.
    fn is_used_up(&self) -> bool {
        false
    }

    /// Returns whether the condition never ends by itself, as `periodic`. Such a condition is no reason to keep a run alive.
    fn is_endless(&self) -> bool {
        false
    }

    /// Returns how late a tick is that begins at `now`; `None` if the condition sets no moment for the tick.
    fn late(&self, now: Timestamp) -> Option<Duration> {
        let _ = now;
        None
    }

    /// Returns the number of due moments of this run that had no tick, because an earlier tick was late.
    fn missed(&self) -> u64 {
        0
    }

    /// Gives back the permission that [`claim`](Self::claim) has claimed, since the tick does not take place.
    fn unclaim(&mut self) {}

    /// Called after a tick of the node. `now` is the moment of the check at which the condition held.
    ///
    /// # Errors
    /// Panics of the user's code.
    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        let _ = now;
        Ok(())
    }

    /// Ends a run.
    ///
    /// # Errors
    /// Panics of the user's code.
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns what the condition lacks, if it does not hold. The call changes nothing.
    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack>;

    /// Returns the reason why the condition will not hold again. Called after `check` has returned [`Verdict::Never`].
    fn ends(&self) -> Ends {
        Ends { reason: "it can't hold again".into(), is_abandoned: false }
    }
}

/// The node whose conditions are checked, and the results of the check.
pub(in crate::operator) struct Situation<'a> {
    pub(in crate::operator) ports: &'a mut dyn Ports,
    pub(in crate::operator) platform: &'a Platform,
    pub(in crate::operator) now: Timestamp,
    /// The number of ticks that the node has done in this run.
    pub(in crate::operator) tick: u64,
    /// The events for which the conditions wait. Each condition adds its own.
    pub(in crate::operator) waits: &'a mut Waits,
    /// Whether all conditions must hold. If so, the scheduler needs to wait for only one point at a time.
    pub(in crate::operator) needs_all: bool,
    /// Whether a condition has dropped messages, so that edges have room for further ones.
    pub(in crate::operator) has_dropped: bool,
    /// The error with which the permitted tick must fail, if a condition has found one.
    pub(in crate::operator) failure: Option<Failure>,
}

impl Situation<'_> {
    /// Calls `visit` with the input that has the number `index`.
    pub(super) fn input(&mut self, index: usize, visit: impl FnOnce(&mut dyn ReceivingEnd)) {
        let (mut at, mut visit) = (0, Some(visit));
        self.ports.inputs(&mut |input| {
            if at == index
                && let Some(visit) = visit.take()
            {
                visit(input);
            }
            at += 1;
        });
    }

    /// Calls `visit` with the output that has the number `index`.
    pub(super) fn output(&mut self, index: usize, visit: impl FnOnce(&mut dyn SendingEnd)) {
        let (mut at, mut visit) = (0, Some(visit));
        self.ports.outputs(&mut |output| {
            if at == index
                && let Some(visit) = visit.take()
            {
                visit(output);
            }
            at += 1;
        });
    }
}

/// A snapshot of a node's ports, and the number of its ticks.
#[derive(Clone, Copy)]
pub(in crate::operator) struct NodePorts<'a> {
    pub(in crate::operator) inputs: &'a [PortStatus],
    pub(in crate::operator) outputs: &'a [PortStatus],
    pub(in crate::operator) tick: u64,
}

/// Returns the index of the port with this name. `graph!` has checked that the operator has such a port.
pub(super) fn find(ports: &[PortStatus], name: &str) -> Result<usize, String> {
    let found = ports.iter().position(|port| port.name == name);
    found.ok_or_else(|| format!("the operator has no port `{name}` of this direction"))
}

/// What a condition lacks: the messages, the room or the event for which it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    /// The text for reports, as the object of the words "waits for".
    pub(super) text: String,
    /// The numbers of the edges that lack a message or room.
    pub(super) edges: Vec<usize>,
    pub(super) is_room: bool,
    /// Whether some of the needed messages have arrived. They may be left in their queues at the end of a run.
    pub(super) has_some: bool,
}

impl Lack {
    /// Creates the lack of something outside of the graph, as a notice. No edge lacks anything.
    pub(super) fn outside(text: String) -> Self {
        Self { text, edges: Vec::new(), is_room: false, has_some: false }
    }
}

/// The reason why a condition will not hold again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) reason: String,
    /// Whether the condition ended because all handles were dropped, and not because a program closed them.
    pub(super) is_abandoned: bool,
}
