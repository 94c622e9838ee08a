//! Stamps of handles. A stamp shows that a handle is stale even after the driver has given the same number to another
//! object.
//!
//! The checker stamps the handles of the streams and events that are made through it. The driver does not see the stamp, and
//! `==` of handles ignores it. A handle that other code made from its number has no stamp, and never counts as stale. Two
//! checkers may be above each other, or side by side over one driver. All stamps of a process are different, and the upper
//! checker keeps the stamps of the lower one. If a handle has a later stamp than the checker knows for its number, or a
//! stamp that the checker has never seen, the object was not made through this checker.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::driver::{RawEvent, RawStream};

/// The next stamp. Stamps are unique within the process, so a checker can keep the stamps of a checker below it.
static STAMPS: AtomicU32 = AtomicU32::new(1);

/// The stamp of the checker's entry for a stale handle's object. No handle has this stamp.
pub(super) const DESTROYED: u32 = u32::MAX;

fn next(stamp: u32) -> u32 {
    if stamp == 0 { STAMPS.fetch_add(1, Ordering::Relaxed) } else { stamp }
}

/// Returns the handle of a stream that was just made, with a stamp.
pub(super) fn stamped_stream(raw: RawStream) -> RawStream {
    raw.stamped(next(raw.stamp()))
}

/// Returns the handle of an event that was just made, with a stamp.
pub(super) fn stamped_event(raw: RawEvent) -> RawEvent {
    raw.stamped(next(raw.stamp()))
}

/// The meaning of a handle whose stamp differs from the one that the checker knows for its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// The handle has no stamp: other code made it from a number.
    Unstamped,
    /// The handle's object was destroyed.
    Stale,
    /// The handle's object was made without this checker, through another checker over the same driver.
    MadeElsewhere,
}

/// The most destroyed objects whose stamps are remembered. A forgotten one is still found as stale once a later object has
/// the same number: the two stamps are then compared.
const REMEMBERED: usize = 1024;

/// The stamps of the objects that were destroyed last, as a ring.
#[derive(Debug)]
pub(super) struct Destroyed {
    stamps: Box<[u32]>,
    next: usize,
}

impl Destroyed {
    pub(super) fn new() -> Self {
        Self { stamps: vec![0; REMEMBERED].into(), next: 0 }
    }

    pub(super) fn add(&mut self, stamp: u32) {
        if stamp != 0 {
            self.stamps[self.next] = stamp;
            self.next = (self.next + 1) % REMEMBERED;
        }
    }

    pub(super) fn has(&self, stamp: u32) -> bool {
        stamp != 0 && self.stamps.contains(&stamp)
    }

    /// Returns whether a handle with this stamp, the number of its creation, is a destroyed one or an unknown one. `known` is
    /// the stamp that the checker has for the handle's number.
    pub(super) fn judge(&self, stamp: u32, known: u32) -> Other {
        let is_stale = match known {
            0 | DESTROYED => self.has(stamp),
            // Stamps wrap around, so a later stamp may be a smaller number.
            _ => known.wrapping_sub(stamp) < u32::MAX / 2,
        };
        match stamp {
            0 => Other::Unstamped,
            _ if is_stale => Other::Stale,
            _ => Other::MadeElsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_stale_if_its_object_was_destroyed_or_a_later_one_has_its_number() {
        let mut destroyed = Destroyed::new();
        destroyed.add(7);
        for (stamp, known, expected) in [
            (0, 5, Other::Unstamped),
            (0, DESTROYED, Other::Unstamped),
            (7, DESTROYED, Other::Stale),
            (7, 0, Other::Stale),
            (8, DESTROYED, Other::MadeElsewhere),
            (8, 0, Other::MadeElsewhere),
            (4, 5, Other::Stale),
            (6, 5, Other::MadeElsewhere),
            (u32::MAX - 1, 3, Other::Stale),
            (3, u32::MAX - 1, Other::MadeElsewhere),
        ] {
            assert_eq!(destroyed.judge(stamp, known), expected, "{stamp} for {known}");
        }
        (100..100 + REMEMBERED as u32).for_each(|stamp| destroyed.add(stamp));
        assert!(!destroyed.has(7) && destroyed.has(100), "the latest are remembered");
    }
}
