//! What the host knows about a stream's progress: its queries and blocking waits, and the records that these have found complete.

use super::record::Record;
use super::seen::found_complete;
use super::{Point, StreamTable, Timeline};
use crate::driver::{DriverResult, Event, Note};

impl Timeline {
    /// Whether the work before record `number` is complete. If no record covers that work yet, the method makes one and queries
    /// it.
    fn is_record_complete(&self, table: &StreamTable, number: u64) -> DriverResult<bool> {
        if self.is_found_complete(table, number) {
            return Ok(true);
        }
        if !self.records.is_overwritten(number) {
            self.query_record(table, self.record_to_query(number)?)?;
        } else {
            self.query_record(table, self.host_record(number)?)?;
        }
        // Another thread may have found the record complete while this one queried, so the result is read again.
        Ok(self.is_found_complete(table, number))
    }

    /// Queries the event of a record, and returns whether the record is complete.
    fn query_record(
        &self,
        table: &StreamTable,
        (record, event): (Record, Event<'_>),
    ) -> DriverResult<bool> {
        let is_complete = event.query()?;
        if is_complete {
            self.found_complete(table, &record);
        }
        Ok(is_complete)
    }

    /// Returns a record outside of the ring that is not replaced until the host has found it complete. The oldest record in the
    /// ring can't be used for this: if the host stays more records ahead of the device than the ring has, each query would find a
    /// newer record in the ring, and never a complete one.
    fn host_record(&self, number: u64) -> DriverResult<(Record, Event<'_>)> {
        self.ready_to_query()?;
        let mut kept = self.host_record.record.lock();
        if self.records.complete.has(kept.number) {
            self.bind_to_record()?;
            match self.record_outside_the_ring(self.host_record.event.get())? {
                Some(record) => *kept = record,
                None => return self.record_to_query(number),
            }
        }
        Ok((*kept, self.host_record.event.get()))
    }

    /// Binds the device of this stream if it is a default stream, since the handle of a default stream names no device.
    fn bind_to_record(&self) -> DriverResult<()> {
        if self.is_default() { self.bind() } else { Ok(()) }
    }

    /// Blocks until the work before record `number` is complete.
    fn synchronize_record(&self, table: &StreamTable, number: u64) -> DriverResult<()> {
        if self.is_found_complete(table, number) {
            return Ok(());
        }
        let (record, event) = self.record_to_query(number)?;
        event.synchronize()?;
        self.found_complete(table, &record);
        Ok(())
    }

    /// Does the same as [`StreamTable::is_known_complete`], for a record of this stream.
    #[inline]
    pub(super) fn is_known_complete(&self, number: u64) -> bool {
        self.records.complete.has(number)
    }

    /// Whether a thread has already found record `number` complete. If so, tells the driver that the host relies on that.
    fn is_found_complete(&self, table: &StreamTable, number: u64) -> bool {
        let is_complete = self.records.complete.has(number);
        if is_complete {
            self.rely(table, number, None);
        }
        is_complete
    }

    /// Tells a driver that takes notes, as the race checker, who relies on record `number` being complete: the stream `by`, or
    /// the calling thread if `by` is `None`.
    #[inline]
    pub(super) fn rely(&self, table: &StreamTable, number: u64, by: Option<&Self>) {
        if table.is_watched() {
            self.report_reliance(table, number, by);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_reliance(&self, table: &StreamTable, number: u64, by: Option<&Self>) {
        let (on, record, by) = (self.raw(), self.event_of(number), by.map(Self::raw));
        table.observe(&Note::Relies { on, record, by });
    }

    /// Tells a driver that takes notes, as the race checker, that this stream relies on the work before `point` being complete.
    /// It does so only if a thread has found that work complete, and this stream does not come after `point` anyway.
    pub(crate) fn rely_on(&self, table: &StreamTable, point: Point) {
        if !self.implies(point) && table.is_known_complete(point) {
            table.timeline(point.stream).rely(table, point.record, Some(self));
        }
    }

    /// Notes that the host has found a record complete, and all records that this one covers (rule 5 of [`order`](super::order)).
    fn found_complete(&self, table: &StreamTable, record: &Record) {
        let records = |stream| &table.timeline(stream).records;
        found_complete(
            &self.records.complete,
            record.number,
            record.covered,
            |stream| &records(stream).complete,
            |stream, number| records(stream).covered_by(number),
        );
    }

    /// Returns a record that covers record `number`, for a query of the host. The caller may be in a hook that goes on with its
    /// own device bound, so this method binds no other device. Only a record on a default stream needs the stream's device bound.
    fn record_to_query(&self, number: u64) -> DriverResult<(Record, Event<'_>)> {
        self.ready_to_query()?;
        let mut record = Record::default();
        let event = self.covering(number, &mut record, || self.bind_to_record())?;
        Ok((record, event))
    }

    /// Blocks until all work that was queued on this stream so far is complete.
    pub(crate) fn synchronize(&self, table: &StreamTable) -> DriverResult<()> {
        if self.is_detached() {
            return self.synchronize_record(table, self.recorded());
        }
        // This record needs no event, since all work that it covers is complete when this call returns.
        let number = self.records.number_without_event();
        self.synchronize_stream()?;
        self.records.complete.note(number);
        Ok(())
    }

    /// Notes all work as complete although it is not. A control uses this: a test that would find the resulting error.
    #[cfg(test)]
    pub(crate) fn mark_all_complete_wrongly(&self) {
        self.records.complete.note(u64::MAX);
    }
}

impl StreamTable {
    /// Whether the work before `point`, a point of this platform, is complete.
    pub(crate) fn is_complete(&self, point: Point) -> DriverResult<bool> {
        self.timeline(point.stream).is_record_complete(self, point.record)
    }

    /// Whether a thread has found the work before `point`, a point of this platform, complete. If a caller skips a wait because
    /// of the answer, it must [tell the driver](Note::Relies), as [`Timeline::wait`] does.
    #[inline]
    pub(crate) fn is_known_complete(&self, point: Point) -> bool {
        self.timeline(point.stream).is_known_complete(point.record)
    }

    /// Returns the number of the latest record of the stream of `point` that a thread has found complete.
    #[inline]
    pub(crate) fn latest_known_complete(&self, point: Point) -> u64 {
        self.timeline(point.stream).records.complete.latest()
    }

    /// Whether a record that covers `point`, a point of this platform, has been made.
    #[inline]
    pub(crate) fn is_closed(&self, point: Point) -> bool {
        self.timeline(point.stream).records.is_made(point.record)
    }

    /// Makes a record that covers `point`, a point of this platform, unless there is such a record.
    pub(crate) fn close(&self, point: Point) -> DriverResult<()> {
        let timeline = self.timeline(point.stream);
        if point.record <= timeline.recorded() {
            timeline.records.wait_for_record();
            return Ok(());
        }
        // The handle of a default stream names no device, so the stream's device must be bound for the record.
        timeline.bind()?;
        timeline.close_beside()
    }

    /// Blocks until the work before `point`, a point of this platform, is complete.
    pub(crate) fn synchronize(&self, point: Point) -> DriverResult<()> {
        self.timeline(point.stream).synchronize_record(self, point.record)
    }
}
