//! The behaviour of each kind of condition.

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

/// One condition of a node.
pub(super) trait Term: Send + fmt::Debug {
    /// Finds its ports and checks its values, when all edges are connected.
    ///
    /// # Errors
    /// Why it can never hold, and what to do.
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        let _ = ports;
        Ok(())
    }

    /// Whether it reads the clock.
    fn needs_time(&self) -> bool {
        false
    }

    /// Whether it says when a node runs that has no message.
    fn runs_without_messages(&self) -> bool {
        false
    }

    /// Whether it waits for messages at this input.
    fn awaits(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// Whether the node may come to wait for messages of the inputs that this names, also if these are optional. As one of several
    /// conditions, this may be the only one that can still hold.
    fn may_await(&self, is_one_of_several: bool) -> bool {
        let _ = is_one_of_several;
        false
    }

    /// Whether it drops messages at this input that have no partner at another one.
    fn pairs(&self, input: usize) -> bool {
        let _ = input;
        false
    }

    /// A run was made, on the thread that asked for it. [`start`](Self::start) follows on the thread of the run.
    fn announced(&mut self) {}

    /// A run begins.
    fn start(&mut self, waker: &Waker) -> Result<()> {
        let _ = waker;
        Ok(())
    }

    /// Whether it holds. One that waits for something outside of the graph adds that to the waits.
    ///
    /// # Errors
    /// The driver's, and panics of the user's code.
    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict>;

    /// Takes what permits one tick alone, when all conditions hold. `false` if another node was faster.
    fn claim(&mut self) -> bool {
        true
    }

    /// Whether each tick uses it up, so that it says how often the node runs.
    fn is_used_up(&self) -> bool {
        false
    }

    /// Whether it never ends by itself, and so keeps no run alive.
    fn is_endless(&self) -> bool {
        false
    }

    /// By how much a tick that begins at `now` is late, if the condition has a moment for it.
    fn late(&self, now: Timestamp) -> Option<Duration> {
        let _ = now;
        None
    }

    /// How many moments of this run have passed without a tick of theirs, since a later tick has taken their place.
    fn missed(&self) -> u64 {
        0
    }

    /// Gives back what [`claim`](Self::claim) took: there will be no tick now.
    fn unclaim(&mut self) {}

    /// The node has done a tick. The condition held when it was checked, at `now`.
    ///
    /// # Errors
    /// Panics of the user's code.
    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        let _ = now;
        Ok(())
    }

    /// The run has ended.
    ///
    /// # Errors
    /// Panics of the user's code.
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    /// The missing part, if the condition does not hold. The call changes nothing.
    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack>;

    /// Why it will never hold again. It is called after that was the answer.
    fn ends(&self) -> Ends {
        Ends { reason: "it can't hold again".into(), is_abandoned: false }
    }
}

/// A node while its conditions are checked.
pub(in crate::operator) struct Situation<'a> {
    pub(in crate::operator) ports: &'a mut dyn Ports,
    pub(in crate::operator) platform: &'a Platform,
    pub(in crate::operator) now: Timestamp,
    /// How many ticks the node has done.
    pub(in crate::operator) tick: u64,
    /// The events for which the conditions wait.
    pub(in crate::operator) waits: &'a mut Waits,
    /// Whether all conditions must hold: then a wait for one point is enough.
    pub(in crate::operator) needs_all: bool,
    /// Whether a condition has dropped messages: there is room for others.
    pub(in crate::operator) has_dropped: bool,
    /// Why the tick fails for which all conditions hold.
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

/// The number of a port, by its name. `graph!` has checked that there is one.
pub(super) fn find(ports: &[PortStatus], name: &str) -> Result<usize, String> {
    let found = ports.iter().position(|port| port.name == name);
    found.ok_or_else(|| format!("the operator has no port `{name}` of this direction"))
}

/// The missing part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    /// As the object of "waits for".
    pub(super) text: String,
    /// The numbers of the edges at which it lacks messages, or room.
    pub(super) edges: Vec<usize>,
    pub(super) is_room: bool,
    /// Whether it has some of the messages, which may be left over at the end of a run.
    pub(super) has_some: bool,
}

impl Lack {
    /// Something that is not in the graph.
    pub(super) fn outside(text: String) -> Self {
        Self { text, edges: Vec::new(), is_room: false, has_some: false }
    }
}

/// Why a condition will never hold again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) reason: String,
    /// Nobody decided that: all handles were dropped.
    pub(super) is_abandoned: bool,
}
