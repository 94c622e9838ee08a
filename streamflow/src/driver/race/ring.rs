//! Calls that one thread has noted without a lock.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A bounded queue with one producer, which takes no lock, and one consumer at a time.
///
/// An uncontended lock costs two locked instructions, some 20 ns; publishing here is a plain store.
/// What the producer published before something that it gave to another thread, that thread finds in
/// here: `tail` is stored with release and loaded with acquire.
pub(super) struct Ring<T: Copy> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// How many the consumers have taken.
    head: AtomicUsize,
    /// How many the producer has published.
    tail: AtomicUsize,
    /// The producer's: how many it has written.
    written: Cell<usize>,
    /// The producer's: the latest `head` that it has seen.
    taken: Cell<usize>,
}

// SAFETY: the cells are the producer's alone, and there is one (contract of `push` and `publish`). A
// slot is written by the producer before it is published, read by consumers until `head` passes it,
// and written again only afterwards. Consumers are one at a time (contract of `drain`).
unsafe impl<T: Copy + Send> Sync for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// `capacity` is a power of two.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            slots: (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            written: Cell::new(0),
            taken: Cell::new(0),
        }
    }

    /// Whether there is room for `more`.
    ///
    /// # Safety
    /// Only one thread, ever, calls this, `push` and `publish`.
    #[inline]
    pub(super) unsafe fn has_room(&self, more: usize) -> bool {
        let needed = self.written.get() + more;
        if needed - self.taken.get() <= self.slots.len() {
            return true;
        }
        self.taken.set(self.head.load(Ordering::Acquire));
        needed - self.taken.get() <= self.slots.len()
    }

    /// Writes one, which nobody sees yet.
    ///
    /// # Safety
    /// As for `has_room`, which said that there is room for it.
    #[inline(always)]
    pub(super) unsafe fn push(&self, value: T) {
        let written = self.written.get();
        let slot = &self.slots[written & (self.slots.len() - 1)];
        // SAFETY: there is room, so consumers are done with the slot, and see it again only when it is
        // published. There is one producer.
        unsafe { (*slot.get()).write(value) };
        self.written.set(written + 1);
    }

    /// Shows what was written.
    ///
    /// # Safety
    /// As for `has_room`.
    #[inline]
    pub(super) unsafe fn publish(&self) {
        self.tail.store(self.written.get(), Ordering::Release);
    }

    /// Shows all that is published, the oldest first, and takes it out.
    ///
    /// # Safety
    /// Not called by two threads at the same time: they hold a lock.
    #[inline]
    pub(super) unsafe fn drain<'a>(&'a self, see: impl FnOnce(Published<'a, T>))
    where
        T: 'a,
    {
        let next = self.head.load(Ordering::Relaxed);
        let end = self.tail.load(Ordering::Acquire);
        if next != end {
            see(Published { ring: self, next, end });
            self.head.store(end, Ordering::Release);
        }
    }
}

/// What was published in a ring.
pub(super) struct Published<'a, T: Copy> {
    ring: &'a Ring<T>,
    next: usize,
    end: usize,
}

impl<'a, T: Copy> Iterator for Published<'a, T> {
    type Item = &'a T;

    #[inline(always)]
    fn next(&mut self) -> Option<&'a T> {
        if self.next == self.end {
            return None;
        }
        let slot = &self.ring.slots[self.next & (self.ring.slots.len() - 1)];
        self.next += 1;
        // SAFETY: it was published, and the producer writes it again only when `head` has passed it.
        Some(unsafe { (*slot.get()).assume_init_ref() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_thread_pushes_another_pops_in_order() {
        const COUNT: u64 = 20_000;
        let ring = Ring::new(64);
        std::thread::scope(|scope| {
            let consumer = scope.spawn(|| {
                let mut next = 0;
                while next < COUNT {
                    // SAFETY: the only consumer.
                    unsafe {
                        ring.drain(|values| {
                            for value in values {
                                assert_eq!(*value, [next, !next]);
                                next += 1;
                            }
                        });
                    }
                    std::thread::yield_now();
                }
            });
            let mut next = 0;
            while next < COUNT {
                // SAFETY: the only producer, and room was asked for.
                unsafe {
                    if ring.has_room(3) {
                        for value in next..(next + 3).min(COUNT) {
                            ring.push([value, !value]);
                        }
                        next += 3;
                        ring.publish();
                    } else {
                        std::thread::yield_now();
                    }
                }
            }
            assert!(consumer.join().is_ok());
        });
        // SAFETY: no other thread is left.
        unsafe { ring.drain(|left| assert_eq!(left.count(), 0)) };
    }
}
