//! How far a stream is, for the host: asking, blocking, and remembering what was found.

use std::sync::atomic::Ordering;

use super::ring::Record;
use super::{Point, StreamTable, Timeline};
use crate::driver::{DriverResult, Note, OwnedEvent};

impl Timeline {
    /// Whether the work before record `epoch` is complete; records if nothing was recorded for it.
    fn is_epoch_complete(&self, table: &StreamTable, epoch: u64) -> DriverResult<bool> {
        if self.is_found_complete(table, epoch) {
            return Ok(true);
        }
        let (record, event) = match self.is_overwritten(epoch) {
            true => self.record_kept_for_the_host(epoch)?,
            false => self.record_to_ask_for(epoch)?,
        };
        if event.query()? {
            self.found_complete(table, &record);
        }
        Ok(self.completed.load(Ordering::Acquire) >= epoch)
    }

    /// A record that is kept until the host has found it complete. The oldest one that the ring has left would not do: it
    /// moves with the host, which would never be told that it is complete while it is so far ahead of the device.
    fn record_kept_for_the_host(&self, epoch: u64) -> DriverResult<(Record, &OwnedEvent)> {
        self.ready_to_ask()?;
        let mut kept = self.kept.record.lock();
        if kept.number <= self.completed.load(Ordering::Acquire) {
            self.bind_to_record()?;
            match self.record_beside_the_ring(&self.kept.event)? {
                Some(record) => *kept = record,
                None => return self.record_to_ask_for(epoch),
            }
        }
        Ok((*kept, &self.kept.event))
    }

    /// The handle of a default stream says no device.
    fn bind_to_record(&self) -> DriverResult<()> {
        if self.is_default() { self.bind() } else { Ok(()) }
    }

    /// Blocks until the work before record `epoch` is complete.
    fn synchronize_epoch(&self, table: &StreamTable, epoch: u64) -> DriverResult<()> {
        if self.is_found_complete(table, epoch) {
            return Ok(());
        }
        let (record, event) = self.record_to_ask_for(epoch)?;
        event.synchronize()?;
        self.found_complete(table, &record);
        Ok(())
    }

    /// Whether somebody has found it complete before, on which the host relies then.
    fn is_found_complete(&self, table: &StreamTable, epoch: u64) -> bool {
        let is_complete = self.completed.load(Ordering::Acquire) >= epoch;
        if is_complete {
            table.tell(&Note::Relies { on: self.raw(), by: None });
        }
        is_complete
    }

    /// Notes that the host has found a record complete, and with it all that it came after (rule 8 of
    /// [`order`](super::order)).
    fn found_complete(&self, table: &StreamTable, record: &Record) {
        self.completed.fetch_max(record.number, Ordering::AcqRel);
        for entry in record.covered.iter().filter(|entry| entry.record() > 0) {
            let completed = &table.timeline(entry.stream()).completed;
            completed.fetch_max(entry.record(), Ordering::AcqRel);
        }
    }

    /// The record that covers `epoch`, for the host to ask: with any device bound, and the caller may be in a
    /// hook, which goes on with its own. Only to record on a default stream, its device is bound.
    fn record_to_ask_for(&self, epoch: u64) -> DriverResult<(Record, &OwnedEvent)> {
        self.ready_to_ask()?;
        self.covering(epoch, || self.bind_to_record())
    }

    /// Blocks until all work queued so far is complete.
    pub(crate) fn synchronize(&self, table: &StreamTable) -> DriverResult<()> {
        if self.is_detached() {
            return self.synchronize_epoch(table, self.recorded());
        }
        // Once it is complete nobody asks for its event.
        let number = self.number_without_event();
        self.synchronize_stream()?;
        self.completed.fetch_max(number, Ordering::AcqRel);
        Ok(())
    }

    /// Says that all is complete, which is not so: for controls.
    #[cfg(test)]
    pub(crate) fn lie(&self) {
        self.completed.store(u64::MAX, Ordering::Release);
    }
}

impl StreamTable {
    /// Whether the work before `point`, which is one of this platform, is complete.
    pub(crate) fn is_complete(&self, point: Point) -> DriverResult<bool> {
        self.timeline(point.stream).is_epoch_complete(self, point.epoch)
    }

    /// Whether somebody has found the work before `point`, which is one of this platform, complete. Who relies on that
    /// has to [say so](Note::Relies), as a [wait](Timeline::wait) does.
    #[inline]
    pub(crate) fn is_known_complete(&self, point: Point) -> bool {
        self.timeline(point.stream).completed.load(Ordering::Acquire) >= point.epoch
    }

    /// Records what `point`, which is one of this platform, stands for, if nothing was recorded for it
    /// yet.
    #[inline]
    pub(crate) fn close(&self, point: Point) -> DriverResult<()> {
        let timeline = self.timeline(point.stream);
        if point.epoch <= timeline.recorded() {
            return Ok(());
        }
        // A default stream's handle says no device.
        timeline.bind()?;
        timeline.close()
    }

    /// Blocks until the work before `point`, which is one of this platform, is complete.
    pub(crate) fn synchronize(&self, point: Point) -> DriverResult<()> {
        self.timeline(point.stream).synchronize_epoch(self, point.epoch)
    }
}
