//! Models of the reaper (the thread that gives adopted memory back) and its counts (invariants 20 to 22 of
//! `streamflow/src/memory/README.md`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Plain};

use super::reaper;
use crate::driver::Signal;
use crate::explore::{explore_sections, plain};
use crate::forever;
use crate::memory::border::counts::{self, Count};
use crate::memory::border::{Owner, foreign_counts};
use crate::sync::{UnsafeCell, yield_now};

/// Counts the drops of owners, and stores the mistakes that a drop finds. A drop can't panic instead, since the reaper
/// would catch the panic.
#[derive(Default)]
pub(super) struct Drops {
    /// `begun`: how many drops have begun. `ended`: how many drops have ended.
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// The signal that each drop raises.
    pub(super) signal: Arc<Signal>,
    /// Whether the code that owns the memory has ended, so that a drop of an owner is a mistake.
    is_over: AtomicBool,
    /// A cell that an owner's drop writes.
    left: Option<UnsafeCell<u32>>,
    wrong: Plain<Vec<&'static str>>,
}

// SAFETY: loom reports accesses of the cell that nothing orders, so no data race stays unnoticed.
unsafe impl Sync for Drops {}

impl Drops {
    pub(super) fn report(&self, what: &'static str) {
        plain(&self.wrong).push(what);
    }

    pub(super) fn count(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self) {
        let wrong = plain(&self.wrong);
        assert!(wrong.is_empty(), "{}", wrong[0]);
    }

    /// Sleeps until `count` owners have been dropped.
    pub(super) fn wait(&self, count: u64) {
        (0..count).for_each(|seen| {
            self.signal.sleep(seen, std::time::Duration::MAX);
        });
    }
}

/// An owner of adopted memory. Its `drop` checks that the drop is allowed at this moment.
pub(super) struct Theirs(pub(super) Arc<Drops>);

impl Drop for Theirs {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A panicking thread means that the model has failed already: the drop checks nothing.
            return;
        }
        let drops = &self.0;
        drops.begun.fetch_add(1, Ordering::Relaxed);
        if !forever::is_current() {
            drops.report("an owner is dropped by another thread than the reaper");
        }
        if crate::lock::holds_one_of("") {
            drops.report("an owner is dropped under a lock");
        }
        if let Some(left) = &drops.left {
            yield_now();
            left.to_write();
        }
        if drops.is_over.load(Ordering::Relaxed) {
            drops.report("an owner is dropped after the stop");
        }
        drops.ended.fetch_add(1, Ordering::Relaxed);
        drops.signal.raise();
    }
}

fn adopted(drops: &Arc<Drops>) -> Owner {
    counts::add(Count::Adopted);
    Owner::new(Theirs(drops.clone()))
}

/// A thread gives two owners back, while the reaper looks for tasks and goes to sleep.
#[test]
pub(crate) fn owners_while_the_reaper_goes_to_sleep() {
    explore_sections(|| {
        reaper::start().unwrap();
        let drops = Arc::new(Drops::default());
        for _ in 0..2 {
            reaper::give_back_later(adopted(&drops));
        }
        drops.wait(2);
        forever::end();
        let counts = foreign_counts();
        assert_eq!((counts.adopted, counts.leaked), (0, 0), "counted as not given back");
        drops.check();
    });
}

/// The code that owns the memory ends while the reaper drops an owner.
#[test]
pub(crate) fn a_stop_while_an_owner_is_dropped() {
    explore_sections(|| {
        reaper::start().unwrap();
        let left = Some(UnsafeCell::new(0));
        let drops = Arc::new(Drops { left, ..Drops::default() });
        reaper::give_back_later(adopted(&drops));
        reaper::stop_giving_back_blocking();
        drops.is_over.store(true, Ordering::Relaxed);
        let (begun, ended) = (drops.begun.load(Ordering::Relaxed), drops.count());
        assert_eq!(begun, ended, "an owner is being dropped after the stop");
        // This read fails in loom unless the owner's write happens before it.
        drops.left.as_ref().unwrap().to_read();
        while foreign_counts().adopted > 0 {
            yield_now();
        }
        forever::end();
        drops.check();
    });
}

/// A thread that sees that the memory of an owner is no longer counted also sees the writes of the owner's drop.
#[test]
pub(crate) fn what_an_owner_leaves() {
    explore_sections(|| {
        reaper::start().unwrap();
        let left = Some(UnsafeCell::new(0));
        let drops = Arc::new(Drops { left, ..Drops::default() });
        reaper::give_back_later(adopted(&drops));
        while foreign_counts().adopted > 0 {
            yield_now();
        }
        drops.left.as_ref().unwrap().to_read();
        forever::end();
        drops.check();
    });
}

/// Memory that nobody gives back is counted the whole time.
#[test]
pub(crate) fn memory_that_is_leaked() {
    explore_sections(|| {
        reaper::start().unwrap();
        let drops = Arc::new(Drops::default());
        reaper::stop_giving_back_blocking();
        reaper::give_back_later(adopted(&drops));
        let counts = foreign_counts();
        assert!(counts.adopted + counts.leaked > 0, "memory is in no count");
        while foreign_counts().adopted > 0 {
            yield_now();
        }
        assert_eq!(foreign_counts().leaked, 1, "memory is in no count");
        forever::end();
        assert_eq!(drops.count(), 0, "an owner is dropped after the stop");
        drops.check();
    });
}
