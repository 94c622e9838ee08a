//! Ports as a node sees them, independent of the types of their messages.

use crate::error::{Error, Result};
use crate::message::{EdgeStatus, Handled, InputState, Mark};
use crate::platform::Platform;
use crate::stream::Point;
use crate::time::Timestamp;

/// An input without the type of its message, for the code that runs a node. [`Input`](super::Input) implements it.
pub trait ReceivingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// The messages that wait for the next tick.
    fn state(&self) -> InputState;
    /// How many messages wait.
    fn waiting(&self) -> usize;
    /// The acquisition time of the oldest waiting message, if there is one: the earliest possible moment, if the
    /// message has no time.
    fn oldest(&self) -> Option<Timestamp>;
    /// Whether the operator may run without a message here.
    fn is_optional(&self) -> bool;
    /// The edges that lead here.
    fn edges(&self) -> Vec<EdgeStatus>;
    /// Makes the edges with these numbers drop messages for which they have no room, until the run has ended: their
    /// producers then need not wait.
    fn give_way(&self, edges: &[usize]);
    /// Makes the edges with these numbers keep their messages: `flush` gets none of them.
    fn keep(&self, edges: &[usize]);
    /// Sets whether the messages are compared with those of other edges, in all runs from now on.
    fn compare(&mut self, compares: bool);
    /// Begins a run: resets the counts of messages.
    fn begin_run(&mut self);
    /// Starts the input with its node. `carries` says whether the node needs the metadata of its messages. Each
    /// feedback edge must carry a message into a run.
    ///
    /// # Errors
    /// [`Error::FeedbackLost`].
    fn start(&mut self, carries: bool) -> Result<()>;
    /// Decides which messages the next tick receives, and visits the point at which the device data of each is ready.
    fn stage(&mut self, visit: &mut dyn FnMut(Point));
    /// The point at which a download in the [staged](Self::stage) messages is complete, for the first one that is not.
    ///
    /// # Errors
    /// Errors of the driver, when it queries the downloads; [`Error::ForeignPlatform`].
    fn incomplete_download(&self, platform: &Platform) -> Result<Option<Point>>;
    /// Stages messages as [`stage`](Self::stage) does, and visits the mark of each edge's message; `None` for an edge
    /// without a message.
    fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>));
    /// Drops the [heads](Self::heads) with smaller numbers. Called again after a panic of a message.
    fn drop_older(&mut self, than: u64);
    /// Begins a tick: the input counts as untouched.
    fn begin_tick(&mut self);
    /// Ends a tick: drops the received messages. Returns how the tick has handled the input. An optional input need not
    /// be touched.
    fn finish(&mut self) -> Handled;
    /// [`Error::BatchTooLarge`], if the tick asked for more messages than the edge holds.
    fn oversized(&self) -> Option<Error>;
    /// Drops the messages that a failed tick would have received here, had it touched the input. Sets `any` if there
    /// are such messages.
    fn drop_untaken(&mut self, any: &mut bool);
    /// Drops all messages, except those of feedback edges: these are for the next run.
    fn clear(&mut self);
}

/// An output without the type of its message, for the code that runs a node. [`Output`](super::Output) implements it.
pub trait SendingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Whether each edge has room for a message, or a policy for the case of no room.
    fn has_room(&self) -> bool;
    /// Whether an edge has no room, whatever its policy.
    fn is_full(&self) -> bool;
    /// The edges that begin here.
    fn edges(&self) -> Vec<EdgeStatus>;
    /// Whether an edge may refuse a message.
    fn may_fault(&self) -> bool;
    /// [`Error::QueueFull`] for the first edge with the policy `fault` that has no room for the emitted message, if
    /// there is one.
    fn full(&self) -> Option<Error>;
    /// Pushes the emitted message to the queues of the edges. Returns whether there was one.
    fn publish(&mut self) -> bool;
    /// Drops the emitted message.
    fn cancel(&mut self);
    /// Begins a run: no message counts as emitted yet.
    fn begin_run(&mut self);
    /// Whether a tick of this run has emitted a message.
    fn has_emitted(&self) -> bool;
    /// Blocks until all work on the streams of edges to other devices is complete.
    ///
    /// # Errors
    /// Errors of the driver, also for a copy that its consumer has not received.
    fn synchronize_blocking(&self) -> Result<()>;
}

/// All ports of an operator. `#[operator]` implements it.
pub trait Ports: Send + 'static {
    /// Visits the inputs in order of declaration.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn ReceivingEnd));
    /// Visits the outputs in order of declaration.
    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn SendingEnd));
}
