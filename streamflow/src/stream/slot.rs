//! One event of a stream, and what its latest record stands for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::clock::{Copied, Few};
use crate::driver::OwnedEvent;

/// A place for one record. Who has the stream's lock changes it; a record of few streams can be read without.
///
/// It is then read as under a sequence lock (H.-J. Boehm, *Can seqlocks get along with programming language memory
/// models?*, MSPC 2012): the number is cleared before anything else changes, and set last; who sees it twice, before
/// and after it has read the rest, has read what belongs to it.
#[derive(Debug)]
pub(super) struct Slot {
    /// Shared with whoever waits for it on the host, without the lock.
    pub(super) event: Arc<OwnedEvent>,
    /// The number of the record that the event holds, and [`MORE`]; 0 for none.
    number: AtomicU64,
    /// What the stream had waited for at that record, and the record itself: whoever waits for it has
    /// waited for all that.
    pub(super) seen: Copied,
}

/// It takes the lock to see all that the record had waited for.
const MORE: u64 = 1 << 63;

impl Slot {
    pub(super) fn new(event: OwnedEvent) -> Self {
        Self { event: Arc::new(event), number: AtomicU64::new(0), seen: Copied::new() }
    }

    /// The number of the record that it holds; 0 for none.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire) & !MORE
    }

    /// From here on it stands for nothing.
    pub(super) fn clear(&self) {
        self.number.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// From here on it stands for this record; `more` says that there are entries beside those in place.
    pub(super) fn set(&self, number: u64, more: bool) {
        self.number.store(if more { number | MORE } else { number }, Ordering::Release);
    }

    /// What the stream had waited for at record `number`, if this is the one that it holds, and if those were few.
    #[inline]
    pub(super) fn record(&self, number: u64) -> Option<Few> {
        if self.number.load(Ordering::Acquire) != number {
            return None;
        }
        let few = self.seen.few();
        fence(Ordering::Acquire);
        if self.number.load(Ordering::Relaxed) == number { few } else { None }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::super::clock::Clock;
    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::{DeviceId, Driver};

    #[test]
    fn who_reads_while_it_is_overwritten_reads_one_record_or_none() {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let slot = Slot::new(OwnedEvent::create(&driver, DeviceId::default()).unwrap());
        let (clock, done) = (Clock::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut more = Vec::new();
                for number in 1..200_000 {
                    (0..7).for_each(|stream| clock.raise(stream, number));
                    slot.clear();
                    clock.copy_into(&slot.seen, &mut more, 7, number);
                    slot.set(number, false);
                }
                done.store(true, Ordering::Release);
            });
            let mut read = 0;
            while !done.load(Ordering::Acquire) {
                let number = slot.number();
                if let Some(few) = (number > 0).then(|| slot.record(number)).flatten() {
                    let into = Clock::new();
                    into.merge_few(&few);
                    (0..8).for_each(|stream| assert_eq!(into.get(stream), number));
                    read += 1;
                }
            }
            assert!(read > 0);
        });
    }
}
