//! What a tick does with each port of a node.
//!
//! A closure is compiled for each type that the function around it depends on. So these are not written where they are
//! used, in code for each type of operator.

use super::join::Joins;
use crate::message::{Handled, InputState, Mark};
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

/// Finds out whether the messages that the required inputs have received may be a mixed tick. The marks of inputs that
/// received none in this tick are old, so the answer may be wrong; [`Mixed::note`](super::join::Mixed::note) has the right one.
#[inline(always)]
pub(super) fn compare(joins: Joins, is_mixed: &mut bool) -> impl FnMut(&mut dyn ReceivingEnd) {
    let mut first: Option<Mark> = None;
    move |input| {
        if input.is_optional() {
            return;
        }
        let mark = input.mark();
        match first {
            None => first = Some(mark),
            Some(first) if first.origin() == mark.origin() => {
                *is_mixed |= first.sequence() != mark.sequence();
            }
            // The third may have the origin of the second.
            Some(_) => *is_mixed |= joins == Joins::Several,
        }
    }
}

/// Pushes the emitted messages to the edges.
#[inline(always)]
pub(super) fn publish(emitted: &mut bool) -> impl FnMut(&mut dyn SendingEnd) {
    move |output| *emitted |= output.publish()
}
