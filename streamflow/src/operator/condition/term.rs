//! The trait of all kinds of conditions.

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

/// A condition of a node.
pub(super) trait Term: Send + fmt::Debug {
    /// Finds the condition's ports and checks its values, when all edges are connected.
    ///
    /// # Errors
    /// The text why the condition can never hold, and what to do.
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        let _ = ports;
        Ok(())
    }

    /// Whether the condition reads the clock.
    fn needs_time(&self) -> bool {
        false
    }

    /// Whether the condition says when a node runs without a message.
    fn runs_without_messages(&self) -> bool {
        false
    }

    /// Whether the condition waits for messages at this input.
    fn awaits(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// Whether the node may come to wait for messages of the inputs that the condition names, even if these are
    /// optional. `is_one_of_several`: the condition is in `any(…)`, and may be the only one that can still hold.
    fn may_await(&self, is_one_of_several: bool) -> bool {
        let _ = is_one_of_several;
        false
    }

    /// Whether the condition drops messages at this input that have no partner at another input.
    fn pairs(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// A run was made, on the thread that asked for it. [`start`](Self::start) follows on the thread of the run.
    fn announced(&mut self) {}

    /// Begins a run.
    fn start(&mut self, waker: &Waker) -> Result<()> {
        let _ = waker;
        Ok(())
    }

    /// Checks whether the condition holds. If it waits for an event outside of the graph, adds the event to the waits.
    ///
    /// # Errors
    /// Errors of the driver, and panics of the user's code.
    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict>;

    /// Takes the permission for this one tick, when all conditions hold. Returns `false` if another node has taken it first.
    fn claim(&mut self) -> bool {
        true
    }

    /// Whether each tick uses the condition up: then it says how often the node runs.
    fn is_used_up(&self) -> bool {
        false
    }

    /// Whether the condition never ends by itself, and so keeps no run alive.
    fn is_endless(&self) -> bool {
        false
    }

    /// The lateness of a tick that begins at `now`, if the condition sets a moment for the tick.
    fn late(&self, now: Timestamp) -> Option<Duration> {
        let _ = now;
        None
    }

    /// The number of moments of this run without a tick, since a late tick has taken their place.
    fn missed(&self) -> u64 {
        0
    }

    /// Gives back the permission that [`claim`](Self::claim) took: there will be no tick now.
    fn unclaim(&mut self) {}

    /// Called after a tick of the node. The condition held at its check, at the moment `now`.
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

    /// The missing part, if the condition does not hold. The call changes nothing.
    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack>;

    /// The reason why the condition will never hold again. Called after `check` has returned [`Verdict::Never`].
    fn ends(&self) -> Ends {
        Ends { reason: "it can't hold again".into(), is_abandoned: false }
    }
}

/// A node while its conditions are checked.
pub(in crate::operator) struct Situation<'a> {
    pub(in crate::operator) ports: &'a mut dyn Ports,
    pub(in crate::operator) platform: &'a Platform,
    pub(in crate::operator) now: Timestamp,
    /// The number of ticks that the node has done.
    pub(in crate::operator) tick: u64,
    /// Collects the events for which the conditions wait.
    pub(in crate::operator) waits: &'a mut Waits,
    /// Whether all conditions must hold: then waiting for one point at a time is enough.
    pub(in crate::operator) needs_all: bool,
    /// Whether a condition has dropped messages: there is room for others.
    pub(in crate::operator) has_dropped: bool,
    /// The reason why the tick fails that the conditions permit.
    pub(in crate::operator) failure: Option<Failure>,
}

impl Situation<'_> {
    /// Visits one input.
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

    /// Visits one output.
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

/// The ports of a node at one moment.
#[derive(Clone, Copy)]
pub(in crate::operator) struct NodePorts<'a> {
    pub(in crate::operator) inputs: &'a [PortStatus],
    pub(in crate::operator) outputs: &'a [PortStatus],
    pub(in crate::operator) tick: u64,
}

/// The number of a port, by its name. `graph!` has checked that the port exists.
pub(super) fn find(ports: &[PortStatus], name: &str) -> Result<usize, String> {
    let found = ports.iter().position(|port| port.name == name);
    found.ok_or_else(|| format!("the operator has no port `{name}` of this direction"))
}

/// The missing part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    /// The text, as the object of "waits for".
    pub(super) text: String,
    /// The numbers of the edges without the needed messages or room.
    pub(super) edges: Vec<usize>,
    pub(super) is_room: bool,
    /// Whether some of the messages are there. These may be left over at the end of a run.
    pub(super) has_some: bool,
}

impl Lack {
    /// Creates a lack of something outside of the graph.
    pub(super) fn outside(text: String) -> Self {
        Self { text, edges: Vec::new(), is_room: false, has_some: false }
    }
}

/// The reason why a condition will never hold again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) reason: String,
    /// Whether this was nobody's decision: all handles were dropped.
    pub(super) is_abandoned: bool,
}
