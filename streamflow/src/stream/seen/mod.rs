//! The knowledge of the readers of a stream. A stream has it from the waits that the driver has taken for it, the host from
//! the answers to its queries. [`order`](super::order) has the rules.
//!
//! | knowledge | reader | where |
//! |---|---|---|
//! | records that the reader waited for, and what those records cover | a stream | `clock.rs`: 8 words, read at each use |
//! | the latest waits, which the clock may have forgotten | a stream | `latest.rs`: 7 words, read where the driver would be called otherwise |
//! | records that are complete | the host | `complete.rs`: a word in each stream |
//!
//! Two more notes skip a wait, and are kept with the memory, since they end with a use of it. `memory::last_write` is a
//! copy of the only write in a block's claims: a fact about the block, which is compared with the knowledge of a stream. A
//! mark (`memory::points`) says that a stream has waited for a use: it permits to forget the use, and goes with it.

mod clock;
mod complete;
mod latest;

use clock::Clock;
pub(super) use complete::{Complete, found_complete};
use latest::LatestWaits;

use super::record::{Entry, Record, Snapshot};

/// The records of other streams that a stream comes after, as far as a fixed space holds them.
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
