//! The visits of a tick to each port of a node.
//!
//! A closure is compiled for each type that the function around it depends on. So these closures are not written at
//! their place of use, in code that is compiled for each type of operator.

use crate::message::{Handled, InputState};
use crate::port::{ReceivingEnd, SendingEnd};

/// Finds out whether all outputs have room.
#[inline(always)]
pub(super) fn room(room: &mut bool) -> impl FnMut(&mut dyn SendingEnd) {
    move |output| *room &= output.has_room()
}

/// Finds the greatest state of the inputs.
#[inline(always)]
pub(super) fn state(state: &mut InputState) -> impl FnMut(&mut dyn ReceivingEnd) {
    move |input| *state = (*state).max(input.state())
}

/// Ends a tick of the inputs.
#[inline(always)]
pub(super) fn finish(handled: &mut Handled) -> impl FnMut(&mut dyn ReceivingEnd) {
    move |input| *handled = (*handled).max(input.finish())
}

/// Pushes the emitted messages to the edges.
#[inline(always)]
pub(super) fn publish(emitted: &mut bool) -> impl FnMut(&mut dyn SendingEnd) {
    move |output| *emitted |= output.publish()
}
