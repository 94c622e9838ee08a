//! The choice of the messages that the next tick receives.

use super::{Handled, Inlet};
use crate::message::{Mark, Receiver};
use crate::stream::Point;

/// The messages that [`Inlet::receive`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A message of each edge, chosen when the tick receives.
    One,
    /// The held messages of the edges: the next tick will receive them, and they don't belong to the current tick.
    Staged,
    /// All waiting messages, in the first tick of `flush`.
    All,
    /// No message, in a later tick of `flush`.
    Nothing,
}

impl<T> Inlet<T> {
    /// Decides which messages the next tick receives: one of each edge. A condition waits only for these; messages that
    /// arrive meanwhile are for a later tick. Visits the point at which the device data of each message is ready.
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

    /// Decides which messages the next tick receives, as [`stage`](Self::stage) does, and visits the mark of the
    /// message of each edge; `None` for an edge without a message. Feedback edges are left out, because their messages
    /// come from an earlier tick.
    pub(crate) fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>)) {
        self.hold();
        let edges = self.own().filter(|edge| !edge.is_feedback());
        edges.for_each(|edge| visit(edge.message().map(|envelope| *envelope.metadata.mark())));
    }

    /// Drops the [heads](Self::heads) with a smaller number than `than`: no partner will come for them. Called again if
    /// the drop of a message has panicked.
    pub(crate) fn drop_older(&mut self, than: u64) {
        for edge in self.edges.iter_mut().filter(|edge| !edge.is_place() && !edge.is_feedback()) {
            if edge.message().is_some_and(|head| head.metadata.mark().sequence() < than) {
                self.has_gap = true;
                edge.drop_held();
            }
        }
    }

    /// Prepares for a tick of `flush`: [`receive`](Self::receive) takes all messages that are left in the first tick,
    /// and none in later ticks.
    pub(crate) fn begin_flush(&mut self, is_first: bool) {
        self.unstage();
        self.handled = Handled::Left;
        self.stage = if is_first { Stage::All } else { Stage::Nothing };
    }

    /// Puts the held messages back: they wait like all others.
    pub(super) fn unstage(&mut self) {
        if std::mem::replace(&mut self.stage, Stage::One) == Stage::Staged {
            self.own_mut().for_each(Receiver::put_back);
        }
    }
}
