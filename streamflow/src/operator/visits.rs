//! The closures by which a tick visits each port of a node.
//!
//! The compiler makes a copy of a closure for each type on which the surrounding function depends. These closures are in
//! functions of this module, and not in code for each type of operator, so that they are compiled once.

use crate::message::{Handled, InputState};
use crate::port::{ReceivingEnd, SendingEnd};

/// Returns a closure that sets `room` to `false` if an output that it visits has no room.
#[inline(always)]
pub(super) fn room(room: &mut bool) -> impl FnMut(&mut dyn SendingEnd) {
    move |output| *room &= output.has_room()
}

/// Returns a closure that sets `state` to the greatest state of the inputs that it visits.
#[inline(always)]
pub(super) fn state(state: &mut InputState) -> impl FnMut(&mut dyn ReceivingEnd) {
    move |input| *state = (*state).max(input.state())
}

/// Returns a closure that ends the tick of each input that it visits, and sets `handled` to the greatest value of `Handled`.
#[inline(always)]
pub(super) fn finish(handled: &mut Handled) -> impl FnMut(&mut dyn ReceivingEnd) {
    move |input| *handled = (*handled).max(input.finish())
}

/// Returns a closure that pushes the emitted message of each output that it visits to its edges, and sets `emitted` if there was
/// one.
#[inline(always)]
pub(super) fn publish(emitted: &mut bool) -> impl FnMut(&mut dyn SendingEnd) {
    move |output| *emitted |= output.publish()
}
