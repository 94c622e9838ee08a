//! Traits by which the runtime uses the ports of a node, whatever the types of their messages are.

use crate::error::{Error, Result};
use crate::message::{EdgeStatus, Handled, InputState, Mark};
use crate::platform::Platform;
use crate::stream::Point;
use crate::time::Timestamp;

/// An input without the type of its message, for the code that runs a node. [`Input`](super::Input) implements this trait.
pub trait ReceivingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Returns the state of the input: whether the messages that the next tick needs here have arrived.
    fn state(&self) -> InputState;
    /// Returns how many messages wait in the queues of the input.
    fn waiting(&self) -> usize;
    /// Returns the acquisition time of the oldest waiting message, or `None` if no message waits. A message without an
    /// acquisition time counts as acquired at the earliest possible moment.
    fn oldest(&self) -> Option<Timestamp>;
    /// Returns whether the operator may run without a message at this input.
    fn is_optional(&self) -> bool;
    /// Returns the status of each edge that leads to this input.
    fn edges(&self) -> Vec<EdgeStatus>;
    /// Makes the edges with these numbers give way until the end of the run: each drops the messages for which it has no room, so
    /// its producer need not wait for room.
    fn give_way(&self, edges: &[usize]);
    /// Makes the edges with these numbers keep their messages in the queue: a tick of `flush` receives none of them.
    fn keep(&self, edges: &[usize]);
    /// Sets whether ticks compare the sequence numbers of this input's messages with those of other inputs, in all later runs.
    fn compare(&mut self, compares: bool);
    /// Begins a run: resets the input's counts of messages.
    fn begin_run(&mut self);
    /// Prepares the input for a run, before the node's `start`. `carries` says whether the node needs the metadata of received
    /// messages. Each feedback edge must hold a message when a run begins.
    ///
    /// # Errors
    /// [`Error::FeedbackLost`] if a feedback edge holds no message.
    fn start(&mut self, carries: bool) -> Result<()>;
    /// Decides which messages the next tick receives. Calls `visit` with the point at which the device data of each is ready.
    fn stage(&mut self, visit: &mut dyn FnMut(Point));
    /// Returns the completion point of the first download in the [staged](Self::stage) messages that is not complete; `None` if
    /// all are complete.
    ///
    /// # Errors
    /// Errors of the driver, when it queries the downloads; [`Error::ForeignPlatform`].
    fn incomplete_download(&self, platform: &Platform) -> Result<Option<Point>>;
    /// Stages messages as [`stage`](Self::stage) does. For each edge, calls `visit` with the mark of the edge's staged message
    /// (its origin and sequence number), or with `None` if the edge has no message.
    fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>));
    /// Drops the [heads](Self::heads) with sequence numbers smaller than `than`. If a message's `Drop` panics, the runtime calls
    /// this method again for the remaining messages.
    fn drop_older(&mut self, than: u64);
    /// Begins a tick: sets that the tick has not yet received, left or discarded a message of this input.
    fn begin_tick(&mut self);
    /// Ends a tick: drops the messages that the tick has received and not moved out. Returns what the tick did with the input. A tick need not use an
    /// optional input.
    fn finish(&mut self) -> Handled;
    /// Returns [`Error::BatchTooLarge`] if the tick asked `receive_batch` for more messages than the edge can hold.
    fn oversized(&self) -> Option<Error>;
    /// Called after a failed tick that did not use this input: drops the messages that the tick would have received here. Sets
    /// `any` to `true` if there were such messages.
    fn drop_untaken(&mut self, any: &mut bool);
    /// Drops all messages, except those of feedback edges: the next run receives them.
    fn clear(&mut self);
}

/// An output without the type of its message, for the code that runs a node. [`Output`](super::Output) implements this trait.
pub trait SendingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Returns whether a tick sends on at most one of this output and the operator's other branches.
    fn is_branch(&self) -> bool;
    /// Returns whether each edge has room for a message, or a policy that says what happens to a message without room.
    fn has_room(&self) -> bool;
    /// Returns whether at least one edge has no room for a message, whatever the edge's policy is.
    fn is_full(&self) -> bool;
    /// Returns the status of each edge that begins at this output.
    fn edges(&self) -> Vec<EdgeStatus>;
    /// Returns whether an edge of this output may fail the tick because it has no room: the policy `fault`.
    fn may_fault(&self) -> bool;
    /// Returns [`Error::QueueFull`] for the first edge with the policy `fault` that has no room for the emitted message; `None`
    /// if no such edge exists or nothing was emitted.
    fn full(&self) -> Option<Error>;
    /// Pushes the emitted message to the queues of the edges. Returns whether the tick had emitted a message.
    fn publish(&mut self) -> bool;
    /// Drops the emitted message instead of sending it.
    fn cancel(&mut self);
    /// Begins a run: `has_emitted` returns `false` until a tick emits a message.
    fn begin_run(&mut self);
    /// Returns whether a tick of this run has emitted a message at this output.
    fn has_emitted(&self) -> bool;
    /// Blocks the host until all copies on the streams of `#[transfer]` edges are complete.
    ///
    /// # Errors
    /// Errors of the driver. They include the error of a copy that the consumer has not received.
    fn synchronize_blocking(&self) -> Result<()>;
}

/// All ports of an operator. `#[operator]` implements this trait.
pub trait Ports: Send + 'static {
    /// Visits the operator's inputs in order of declaration.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn ReceivingEnd));
    /// Visits the operator's outputs in order of declaration.
    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn SendingEnd));
}
