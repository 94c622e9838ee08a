//! How far a stream is, for the host: asking, blocking, and remembering what was found.

use std::sync::atomic::Ordering;

use super::{BOUND, RING, Timeline};
use crate::driver::{DriverResult, Note, OwnedEvent};
use crate::stream::{Point, StreamTable};

impl Timeline {
    /// Whether the work before record `epoch` is complete; records if nothing was recorded for it.
    fn is_epoch_complete(&self, table: &StreamTable, epoch: u64) -> DriverResult<bool> {
        if self.completed.load(Ordering::Acquire) >= epoch {
            table.tell(&Note::Relies { on: self.raw(), by: None });
            return Ok(true);
        }
        let (event, number) = self.event_for(epoch)?;
        let done = event.query()?;
        if done {
            self.found_complete(table, number);
        }
        Ok(done)
    }

    /// Notes that the host has found a record complete, and with it all that it came after.
    fn found_complete(&self, table: &StreamTable, number: u64) {
        self.completed.fetch_max(number, Ordering::AcqRel);
        let recording = self.lock();
        let slot = self.slot(number);
        if slot.number() == number {
            slot.for_each(&recording[number as usize % RING], |stream, number| {
                table.timeline(stream).completed.fetch_max(number, Ordering::AcqRel);
            });
        }
    }

    /// The event of the record that covers `epoch`, for the host to ask: with any device bound, and
    /// whoever asks may be in a hook, which goes on with its own. Only to record on a default stream, its
    /// device is bound.
    fn event_for(&self, epoch: u64) -> DriverResult<(&OwnedEvent, u64)> {
        if BOUND.get().is_none_or(|(platform, _)| platform != self.platform) {
            self.bind()?;
        }
        let mut recording = self.lock();
        let number = match self.covered(epoch) {
            Some(number) => number,
            None => {
                if self.is_default {
                    self.bind()?;
                }
                self.record_locked(&mut recording)?
            }
        };
        Ok((self.slot(number).event(), number))
    }

    fn synchronize_epoch(&self, table: &StreamTable, epoch: u64) -> DriverResult<()> {
        if self.completed.load(Ordering::Acquire) >= epoch {
            table.tell(&Note::Relies { on: self.raw(), by: None });
            return Ok(());
        }
        let (event, number) = self.event_for(epoch)?;
        event.synchronize()?;
        self.found_complete(table, number);
        Ok(())
    }

    /// Blocks until all work queued so far is complete.
    pub(crate) fn synchronize(&self, table: &StreamTable) -> DriverResult<()> {
        if self.left.load(Ordering::Acquire) {
            return self.synchronize_epoch(table, self.recorded.load(Ordering::Acquire));
        }
        // A number of its own without an event: once it is complete nobody asks for the event.
        let number = {
            let _recording = self.lock();
            self.recorded.fetch_add(1, Ordering::AcqRel) + 1
        };
        self.stream.synchronize()?;
        self.completed.fetch_max(number, Ordering::AcqRel);
        Ok(())
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
        if point.epoch > timeline.recorded.load(Ordering::Acquire) {
            timeline.close_bound()
        } else {
            Ok(())
        }
    }

    /// Blocks until the work before `point`, which is one of this platform, is complete.
    pub(crate) fn synchronize(&self, point: Point) -> DriverResult<()> {
        self.timeline(point.stream).synchronize_epoch(self, point.epoch)
    }
}
