//! Ports as what runs an operator sees them, whatever their messages.

use crate::error::{Error, Result};
use crate::message::{Handled, InputState};
use crate::stream::Point;

/// What a node sees of an input.
pub trait ReceivingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// What waits for the next tick.
    fn state(&self) -> InputState;
    /// Whether a message waits that is lost when the run ends.
    fn would_lose(&self) -> bool;
    /// Whether a run can begin: each feedback edge carries a message into it.
    ///
    /// # Errors
    /// [`Error::FeedbackLost`].
    fn check_start(&self) -> Result<()>;
    /// Decides which messages the next tick receives, and shows when the device data of each is ready.
    fn stage(&mut self, visit: &mut dyn FnMut(Point));
    /// Ends a tick: drops what it received. What the tick did with the port; one that is optional need not be
    /// touched.
    fn finish(&mut self) -> Handled;
    /// Drops all messages, but those that a feedback edge carries into the next run.
    fn clear(&mut self);
}

/// What a node sees of an output.
pub trait SendingEnd {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Whether all edges have room for one message, or a policy for when they have none.
    fn has_room(&self) -> bool;
    /// Whether an edge may refuse a message.
    fn may_fault(&self) -> bool;
    /// The error about the edge that has no room for what the tick emitted, if it did and one has:
    /// [`Error::QueueFull`].
    fn full(&self) -> Option<Error>;
    /// Hands what the tick emitted to the edges. Whether it emitted anything.
    fn publish(&mut self) -> bool;
    /// Forgets what the tick emitted.
    fn cancel(&mut self);
    /// Blocks until the streams of edges to other devices have done all their work.
    ///
    /// # Errors
    /// The driver's; an error of a copy that nobody received is reported here.
    fn synchronize_blocking(&self) -> Result<()>;
}

/// All ports of an operator. Made by `#[operator]`.
pub trait Ports: Send + 'static {
    /// Visits the inputs in order of declaration.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn ReceivingEnd));
    /// Visits the outputs in order of declaration.
    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn SendingEnd));
}
