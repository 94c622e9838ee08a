//! Staging: the choice of the messages that the next tick receives, before that tick runs.

use super::{Handled, Inlet};
use crate::message::{Mark, Receiver};
use crate::stream::Point;

/// The choice of the messages that [`Inlet::receive`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The first waiting message of each edge at the time when the tick receives.
    One,
    /// The staged messages: one of each edge, which [`Inlet::stage`] has chosen before the tick that receives them.
    Staged,
    /// All waiting messages, in the first tick of `flush`.
    All,
    /// No message, in a later tick of `flush`.
    Nothing,
}

impl<T> Inlet<T> {
    /// Chooses the messages that the next tick receives: one of each edge. A condition waits only for the data of these
    /// messages; messages that arrive later are for a later tick. Visits the point at which the device data of each chosen
    /// message is ready.
    pub(crate) fn stage(&mut self, visit: &mut dyn FnMut(Point)) {
        self.hold();
        self.batch().filter_map(|envelope| envelope.sent).for_each(visit);
    }

    fn hold(&mut self) {
        if self.stage != Stage::Staged {
            self.own_mut().for_each(Receiver::hold);
            self.stage = if self.has_message() { Stage::Staged } else { Stage::One };
            self.has_gap = false;
        } else if self.has_gap {
            self.own_mut().filter(|edge| edge.message().is_none()).for_each(Receiver::hold);
            let has_gap = self.own().any(|edge| edge.message().is_none());
            self.has_gap = has_gap;
        }
    }

    /// Chooses the messages that the next tick receives, as [`stage`](Self::stage) does, and visits the origin and sequence
    /// number of each edge's message; `None` for an edge without a message. Feedback edges are left out, because their
    /// messages come from an earlier tick.
    pub(crate) fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>)) {
        self.hold();
        let edges = self.own().filter(|edge| !edge.is_feedback());
        edges.for_each(|edge| visit(edge.message().map(|envelope| *envelope.metadata.mark())));
    }

    /// Drops the [heads](Self::heads) with a smaller sequence number than `than`, because no partner will come for them. The
    /// caller calls this again if the drop of a message has panicked.
    pub(crate) fn drop_older(&mut self, than: u64) {
        for edge in self.edges.iter_mut().filter(|edge| !edge.is_place() && !edge.is_feedback()) {
            if edge.message().is_some_and(|head| head.metadata.mark().sequence() < than) {
                self.has_gap = true;
                edge.drop_held();
            }
        }
    }

    /// Prepares for a tick of `flush`. In the first such tick, [`receive`](Self::receive) takes all waiting messages; in later
    /// ones it takes none.
    pub(crate) fn begin_flush(&mut self, is_first: bool) {
        self.unstage();
        self.handled = Handled::Left;
        self.stage = if is_first { Stage::All } else { Stage::Nothing };
    }

    /// Puts the staged messages back to the front of their queues, so that they wait like all other messages.
    pub(super) fn unstage(&mut self) {
        if std::mem::replace(&mut self.stage, Stage::One) == Stage::Staged {
            self.own_mut().for_each(Receiver::put_back);
        }
    }
}
