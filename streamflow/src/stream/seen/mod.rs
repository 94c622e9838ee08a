//! What a stream, or the host, knows about the records of other streams. A stream learns from the waits that the driver has
//! accepted for it, and the host learns from its queries. [`order`](super::order) has the rules.
//!
//! | knowledge | reader | where |
//! |---|---|---|
//! | records that the reader waited for, and what those records cover | a stream | `clock.rs`: 8 words, read at each use |
//! | the latest waits, because the clock may have forgotten them | a stream | `latest.rs`: 7 words, read before a driver call |
//! | records that are complete | the host | `complete.rs`: a word in each stream |
//!
//! Two more values allow skipping a wait. They are stored with the memory, because they are dropped together with a use of it.
//! `memory::last_write` has a copy of the only write in a block's claims, which is compared with the stream's clock. A mark
//! (`memory::points`) says that a stream has waited for a use.

mod clock;
mod complete;
mod latest;

use clock::Clock;
pub(super) use complete::{Complete, found_complete};
use latest::LatestWaits;

use super::record::{Entry, Record, Snapshot};

/// The records of other streams that a stream has waited for, in a fixed space, so some waits are forgotten.
#[derive(Debug)]
pub(super) struct Seen {
    clock: Clock,
    latest: LatestWaits,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self { clock: Clock::new(), latest: LatestWaits::new() }
    }

    /// Whether work queued now comes after record `record` of `stream`, another stream, by the clock (rule 4).
    #[inline]
    pub(super) fn has(&self, stream: u32, record: u64) -> bool {
        self.clock.get(stream) >= record
    }

    /// Does the same as [`has`](Self::has) for a wait that the clock has forgotten (rule 4). Puts such a wait back into the
    /// clock.
    #[inline]
    pub(super) fn has_waited(&self, stream: u32, record: u64) -> bool {
        let has_waited = self.has_latest(stream, record);
        if has_waited {
            self.clock.raise(stream, record);
        }
        has_waited
    }

    /// Whether one of the latest waits was for this record of another stream, or for a later one.
    #[inline]
    pub(super) fn has_latest(&self, stream: u32, record: u64) -> bool {
        self.latest.has(stream, record)
    }

    /// Makes the stream `own` wait for a record of `stream` by calling `call`. Notes that `own` then comes after this record and
    /// after the records that it covers.
    #[inline]
    pub(super) fn wait<E>(
        &self,
        own: u32,
        stream: u32,
        record: &mut Record,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        // By rule 3, the clock is raised only after the driver has accepted the wait.
        call()?;
        let made = Entry::new(stream, record.number);
        self.latest.note(made);
        self.clock.merge(made, &mut record.covered, own);
        Ok(())
    }

    /// Notes that a record was found complete, so that this stream makes no wait for it.
    #[inline]
    pub(super) fn mark_complete(&self, stream: u32, record: u64) {
        self.clock.raise(stream, record);
    }

    /// Writes to `to` the entries that a record of this stream would cover if it were made now.
    #[inline]
    pub(super) fn snapshot(&self, to: &mut Snapshot) {
        self.clock.snapshot(to);
    }
}
