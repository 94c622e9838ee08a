//! Law 7: Order is carried by data.
//!
//! The one place where a wait between streams is decided.
//!
//! [`Timeline::wait`] makes work of a stream come after a [`Point`]. It leaves the driver's call out where that order
//! holds already. These call it: each use of memory and each message that is sent (`memory::block`), memory that passes to
//! a new owner (`memory::{pool, pinned}`), a message's stream that is received and `synchronize_streams` (`context`), the
//! stream that watches for the host (`stream::wakeup`), and [`CudaStream::wait`](super::CudaStream::wait). Nobody else
//! decides on a wait, and none is put off: when `wait` returns, the driver has taken it. One more wait is made, by
//! `Timeline::reattach`, and that one is never left out.
//!
//! # The rules
//!
//! A point `(stream, n)` stands for all work that was queued on the stream before its record `n`. Each rule names the
//! test that fails without it.
//!
//! 1. **A use is noted after its work was queued**, with a point that is asked for then; also if queuing it failed or
//!    unwound, since part of it may have been queued. Until the call returns, Rust's borrows keep all others from memory
//!    that conflicts with the use, so nobody needs the note earlier.
//!    `memory::tests::access::a_use_is_noted_with_a_point_from_after_its_work`
//! 2. **A point does not count on a record that was begun before the point was asked for.** The number of records is
//!    raised before the driver records. The driver takes the calls for a stream one after the other, as under a lock (a
//!    promise of [`Driver`](crate::driver::Driver)). So either the work was queued before the record, or the thread that
//!    queued it sees the record's number when it asks for the point behind it, on every processor.
//!    `stream::tests::order::a_record_that_is_under_way_does_not_count`
//! 3. **What a record covers is copied before the driver records**: all that the stream had waited for by then. A wait
//!    that another thread queues during the record is not covered by it.
//!    `stream::tests::order::a_wait_that_is_queued_during_a_record_is_not_covered`
//! 4. **A stream's clock is raised after the driver has taken the wait**, by that record and what it covers; or for a
//!    record that was found complete, where there is nothing to wait for. An event that holds a later record meanwhile
//!    makes the wait longer, and never shorter.
//!    `stream::tests::order::a_wait_that_the_driver_refused_is_made_again`,
//!    `stream::tests::waits::events_that_were_used_again_are_never_too_early`
//! 5. **A wait is left out only if** the point is on the same stream; or the clock says that a wait for that record, a
//!    later one of that stream, or a record that covers it was *issued*; or that record was found complete.
//!    `stream::tests::waits::a_wait_that_is_implied_by_a_third_stream_makes_no_call`
//! 6. **A use is forgotten for a later one only if** the later one's stream had come after it before the later one's
//!    point was asked for: the clock says so, or a mark at the use. Another thread may make the stream wait at any time,
//!    and that wait is behind the point.
//!    `memory::tests::access::a_use_that_the_stream_came_after_too_late_is_kept`,
//!    `memory::tests::access::a_write_waits_once_for_each_of_many_readers`
//! 7. **A record that failed stands for nothing**; a later one that was made stands for it. The event keeps its record
//!    from before (a promise of [`Driver::record_event`](crate::driver::Driver::record_event)).
//!    `stream::tests::order::a_record_that_failed_stands_for_nothing`
//! 8. **Complete is what the host was told about a record that it asked for**, and what that same record covers; or all
//!    that was queued on a stream before the host waited for the stream. While the host is more records ahead than a ring
//!    has, it asks for one record that is kept until it is complete.
//!    `stream::tests::order::what_an_overwritten_record_covers_is_not_taken_for_complete`,
//!    `stream::tests::order::what_the_ring_has_overwritten_is_found_complete_while_the_stream_goes_on`
//! 9. **A stream that was left is not recorded any more**: its owner may have destroyed it. The last record and the word that
//!    it was left are made under one lock.
//!    `stream::tests::external::a_stream_that_was_left_is_not_recorded`
//!
//! A clock has [room](super::clock::ENTRIES) for a fixed number of streams, and a ring for a fixed number of records. What
//! they forget costs a wait that was not needed (0.09 µs on an H200), and never an order. So the cost of a record and a
//! wait does not grow with the number of streams.
//!
//! # Locks
//!
//! A ring is locked while its stream records, and for a look. No other lock of streams or memory is taken meanwhile, and
//! none of memory is held during a call of the driver.

use super::{Point, StreamTable, Timeline};
use crate::driver::{DriverResult, Note};
use crate::error::{Error, Result};

impl Timeline {
    /// Whether work queued here now is ordered after `point` already. The point is one of this platform.
    #[inline]
    pub(crate) fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.epoch)
    }

    /// Whether work queued here now is ordered after that record of a stream already.
    #[inline]
    pub(crate) fn comes_after(&self, stream: u32, record: u64) -> bool {
        stream == self.id() || self.seen.get(stream) >= record
    }

    /// Makes work queued here from now on come after `point`, unless it does already.
    #[inline]
    pub(crate) fn wait(&self, table: &StreamTable, point: Point) -> Result<()> {
        if !self.is_of(point) {
            return Err(Error::foreign("a point"));
        }
        if self.implies(point) { Ok(()) } else { Ok(self.wait_for(table, point)?) }
    }

    fn wait_for(&self, table: &StreamTable, point: Point) -> DriverResult<()> {
        let other = table.timeline(point.stream);
        if table.is_known_complete(point) {
            // Some thread found it complete, perhaps another one.
            table.tell(&Note::Relies { on: other.raw(), by: Some(self.raw()) });
            self.seen.raise(point.stream, point.epoch);
            return Ok(());
        }
        let (record, event) = match other.covering(point.epoch, || other.bind_to_record_for(self)) {
            Ok(found) => found,
            // The caller goes on with its own device.
            Err(error) => return self.ready().and(Err(error)),
        };
        self.wait_for_event(event)?;
        self.seen.merge(&record.covered, self.id());
        self.seen.raise(point.stream, record.number);
        Ok(())
    }

    /// An event is recorded with its own device bound. Also on the device of the stream that is to wait: a default
    /// stream's handle says none, and a library may have bound another one since.
    fn bind_to_record_for(&self, waiting: &Self) -> DriverResult<()> {
        if self.is_default() || self.device() != waiting.device() { self.bind() } else { Ok(()) }
    }
}
