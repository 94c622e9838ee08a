//! The knowledge of one stream about others: the waits that the driver has taken for it, and their consequences.

use super::clock::{Clock, Entry, Snapshot};
use super::latest::LatestWaits;
use super::ring::Record;

/// The records of other streams that a stream comes after, as far as a fixed space holds them. The clock has what waits
/// imply, and is read at each use; the latest waits are read where the driver would be called otherwise.
#[derive(Debug)]
pub(super) struct Seen {
    clock: Clock,
    latest: LatestWaits,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self { clock: Clock::new(), latest: LatestWaits::new() }
    }

    /// Whether work queued now comes after that record of another stream (rule 4).
    #[inline]
    pub(super) fn has(&self, stream: u32, record: u64) -> bool {
        self.clock.get(stream) >= record
    }

    /// As [`has`](Self::has) where the clock has forgotten a wait (rule 4). The clock then has it again.
    #[inline]
    pub(super) fn has_waited(&self, stream: u32, record: u64) -> bool {
        let has_waited = self.has_latest(stream, record);
        if has_waited {
            self.clock.raise(stream, record);
        }
        has_waited
    }

    /// Whether one of the latest waits was for that record of another stream, or for a later one.
    #[inline]
    pub(super) fn has_latest(&self, stream: u32, record: u64) -> bool {
        self.latest.has(stream, record)
    }

    /// Waits for a record of `stream`, and notes what the stream `own` comes after from then on. `call` queues the driver's
    /// wait.
    #[inline]
    pub(super) fn wait<E>(
        &self,
        own: u32,
        stream: u32,
        record: &mut Record,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        // By rule 3, before the clock is raised.
        call()?;
        let made = Entry::new(stream, record.number);
        self.latest.note(made);
        self.clock.merge(made, &mut record.covered, own);
        Ok(())
    }

    /// Notes a record that was found complete: no wait is needed.
    #[inline]
    pub(super) fn note_complete(&self, stream: u32, record: u64) {
        self.clock.raise(stream, record);
    }

    /// Writes what a record that is made now covers.
    #[inline]
    pub(super) fn snapshot(&self, to: &mut Snapshot) {
        self.clock.snapshot(to);
    }
}
