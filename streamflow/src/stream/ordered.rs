//! What comes after what, as far as a stream's own notes say: the part of [`order`](super::order) that calls no driver.

use super::Point;
use super::clock::{Clock, Entry};
use super::latest::LatestWaits;
use super::ring::Record;

/// A stream whose notes say which points its work comes after.
pub(crate) trait Ordered {
    /// The stream's number within its platform.
    fn id(&self) -> u32;

    /// Whether work queued here now is already ordered after that record of a stream.
    fn comes_after(&self, stream: u32, record: u64) -> bool;

    /// The point that covers all work queued before this call. By rule 1, to be taken *after* the work was queued.
    fn open_point(&self) -> Point;

    /// Whether work queued here now is already ordered after `point`, which is of this platform.
    #[inline]
    fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.record)
    }
}

/// What a stream has waited for, with the stream's number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) id: u32,
    pub(super) clock: &'a Clock,
    pub(super) latest: &'a LatestWaits,
}

impl Seen<'_> {
    /// Whether work queued now comes after that record of a stream (rule 5).
    #[inline]
    pub(super) fn comes_after(self, stream: u32, record: u64) -> bool {
        stream == self.id || self.clock.get(stream) >= record
    }

    /// As [`comes_after`](Self::comes_after) where the clock has forgotten a wait (rule 5). The clock then has it again.
    #[inline]
    pub(super) fn has_waited(self, stream: u32, record: u64) -> bool {
        let has_waited = self.latest.has(stream, record);
        if has_waited {
            self.clock.raise(stream, record);
        }
        has_waited
    }

    /// Waits for a record of `stream`, and notes what the stream comes after from then on. `call` queues the driver's
    /// wait.
    #[inline]
    pub(super) fn wait<E>(
        self,
        stream: u32,
        record: &mut Record,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        // By rule 4, before the clock is raised.
        call()?;
        let made = Entry::new(stream, record.number);
        self.latest.note(made);
        self.clock.merge(made, &mut record.covered, self.id);
        Ok(())
    }
}
