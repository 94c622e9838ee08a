//! Law 7: Order is carried by data.
//!
//! All waits between streams are made in this file, which also has the rules for when a wait may be skipped.
//!
//! [`Timeline::wait`] makes the work of a stream come after a [`Point`]. It does not call the driver if the stream comes after
//! that point already. Its callers are: each use of memory and each message that is sent (`memory::block`); memory that passes to
//! a new owner (`memory::{pool, pinned}`); the receiving of a message's stream and `synchronize_streams` (`context`); the stream
//! that watches points for the host (`stream::wakeup`); and [`CudaStream::wait`](super::CudaStream::wait). Other files make no
//! wait for a point. `memory::{claims, last_write, reuse}` skip a wait only if [`Timeline::comes_after`] or a mark at the use
//! (rule 4) says so, and `context::stream_ref` only checks that waits were made. No wait is deferred: when `wait` returns, the
//! driver has accepted the wait. Two functions make other waits, which are never skipped: `Timeline::reattach`, and
//! `Timeline::wait_borrowed` for an event of other code.
//!
//! [`seen`](super::seen), [`ordered`](super::ordered) and [`records`](super::records) call no driver. `tests/models` executes
//! these files in every interleaving of two threads, and once more for each rule with an edit that breaks the rule.
//!
//! # The rules
//!
//! A point `(stream, n)` covers all work that was queued on the stream before the stream's record `n`. Below each rule are the
//! names of the tests that fail if the rule is broken.
//!
//! 1. **A use is noted after its work was queued**, with a point that is taken after that. It is noted also if queuing the
//!    work failed or unwound, since a part may have been queued. Until the call returns, Rust's borrows keep all conflicting
//!    uses away from the memory, so no other use needs the note earlier.
//!    `memory::tests::access::a_use_is_noted_with_a_point_from_after_its_work`
//! 2. **A record covers the work that was queued before the record began.** A point that is taken after its beginning gets a
//!    higher number, and so relies on a later record: the number of records is raised before the driver records. The driver
//!    accepts the calls for a stream one after the other, as under a lock (a promise of
//!    [`Driver`](crate::driver::Driver)). So either the work was queued before the record, or the thread that queued it sees
//!    the raised number when it takes its point, on every processor. A thread that records another thread's stream must have a
//!    fence between raising the number and the call; the promise requires this. A wait that another thread queues during the
//!    record is not covered, since the clock is copied before the driver records.
//!    `stream::tests::order::a_record_that_is_under_way_does_not_count`,
//!    `stream::tests::order::a_wait_that_is_queued_during_a_record_is_not_covered`
//! 3. **Only a call that the driver has accepted counts.** After the driver has accepted a wait for a record, the waiting
//!    stream's clock gets that record and the records that it covers. A record that was found complete is also put into the
//!    clock, without a wait. If the event meanwhile holds a later record, the wait gets longer, never shorter. A record that
//!    failed covers nothing, and a later record that succeeded replaces it: after a failed call the event still holds the
//!    record before it (a promise of [`Driver::record_event`](crate::driver::Driver::record_event)).
//!    `stream::tests::order::a_wait_that_the_driver_refused_is_made_again`,
//!    `stream::tests::waits::events_that_were_used_again_are_never_too_early`,
//!    `stream::tests::order::a_record_that_failed_covers_nothing`
//! 4. **A wait is skipped only if the stream is known to come after the point.** This is known if the point is on the same
//!    stream; if the clock has the point's record, or a later record of that stream, as waited for or as covered by a record
//!    that was waited for; if such a record is among the stream's latest waits; if a mark at the use says that this stream has
//!    waited for the use; or if the record was found complete. **A use is forgotten for a later use only** if the later
//!    use's stream came after the earlier use before the later use's point was taken. Another thread may make that stream wait
//!    at any time, and a wait after the point was taken does not count.
//!    `stream::tests::waits::a_wait_that_is_implied_by_a_third_stream_makes_no_call`,
//!    `stream::tests::waits::a_wait_that_the_clock_has_forgotten_makes_no_call`,
//!    `memory::tests::access::a_use_that_the_stream_came_after_too_late_is_kept`,
//!    `memory::tests::access::a_write_waits_once_for_each_of_many_readers`
//! 5. **A record is complete if the driver has answered so** when the host queried it. The records that it covers are then
//!    complete, too, and the records that those cover, as long as they are in their rings. All work that was queued on a stream
//!    before the host synchronised with the stream is also complete. If the host is more records ahead of the device than a
//!    ring has, the host queries one record outside of the ring, which is kept until it is complete.
//!    `stream::tests::order::what_an_overwritten_record_covers_is_not_taken_for_complete`,
//!    `stream::tests::order::one_answer_is_about_a_whole_chain_of_streams`,
//!    `stream::tests::order::overwritten_records_are_found_complete_while_the_stream_goes_on`
//! 6. **A detached stream is not recorded any more**, since its owner may have destroyed it. Under one lock, the last record is
//!    made and the stream is marked as detached.
//!    `stream::tests::external::a_detached_stream_is_not_recorded`
//!
//! A clock has [room](super::record::ENTRIES) for a fixed number of streams, and a ring for a fixed number of records. So
//! the cost of a record and of a wait does not grow with the number of streams. If a clock has lost the entry of a stream,
//! a wait may be made that is not needed (0.09 µs on an H200). No needed wait is left out.
//!
//! # Locks
//!
//! A thread holds a ring's lock while it makes a record on the ring's stream or reads the ring. Meanwhile it takes no other
//! lock of streams or memory. No lock of memory is held during a driver call.

use super::record::Record;
use super::{Point, StreamTable, Timeline};
use crate::driver::DriverResult;
use crate::error::{Error, Result};

impl Timeline {
    /// Whether work that is queued on this stream now comes after `point`, a point of this platform, without a new wait.
    #[inline]
    pub(crate) fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.record)
    }

    /// Whether work that is queued on this stream now comes after record number `record` of `stream`, without a new wait.
    #[inline]
    pub(crate) fn comes_after(&self, stream: u32, record: u64) -> bool {
        stream == self.id() || self.seen.has(stream, record)
    }

    /// Makes work that is queued on this stream from now on come after `point`. Queues a wait only if it is needed.
    #[inline]
    pub(crate) fn wait(&self, table: &StreamTable, point: Point) -> Result<()> {
        if !self.is_of(point) {
            return Err(Error::foreign("a point"));
        }
        if self.implies(point) {
            return Ok(());
        }
        Ok(self.wait_for(table, point.stream, point.record)?)
    }

    #[inline(never)]
    fn wait_for(&self, table: &StreamTable, stream: u32, number: u64) -> DriverResult<()> {
        let other = table.timeline(stream);
        if !other.is_known_complete(number) {
            return self.wait_for_record(other, number);
        }
        // The record needs no wait, since some thread has found it complete.
        other.rely(table, number, Some(self));
        self.seen.mark_complete(stream, number);
        Ok(())
    }

    #[inline(never)]
    fn wait_for_record(&self, other: &Self, number: u64) -> DriverResult<()> {
        if self.seen.has_waited(other.id(), number) {
            return Ok(());
        }
        let mut record = Record::default();
        match other.covering(number, &mut record, || other.bind_to_record_for(self)) {
            Ok(event) => {
                self.seen.wait(self.id(), other.id(), &mut record, || self.wait_for_event(event))
            }
            // The failed call may have bound the device of `other`. `ready` binds this stream's device again.
            Err(error) => self.ready().and(Err(error)),
        }
    }

    /// Binds this stream's device, if a record on this stream needs that: the device of an event must be bound while it is
    /// recorded. If `waiting`, the stream that will wait, is on the same device, that device is bound already. The device of
    /// a default stream is bound in any case: its handle names no device, and a library may have bound another one since.
    fn bind_to_record_for(&self, waiting: &Self) -> DriverResult<()> {
        if self.is_default() || self.device() != waiting.device() { self.bind() } else { Ok(()) }
    }
}
