//! Models of the library's spin locks: one thread holds a lock and sees what earlier holders wrote. A thread that finds
//! the lock taken passes its turn to another thread.

use std::sync::Arc;

use loom::thread;

use super::lock::{Lock, locked};
use crate::explore::explore;
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::turns::Turn;

/// Adds 1 with a relaxed load and a relaxed store, so only the lock can order two calls.
fn add(value: &AtomicU64) {
    let before = value.load(Ordering::Relaxed);
    value.store(before + 1, Ordering::Relaxed);
}

#[test]
pub(crate) fn two_threads_and_a_spin_lock() {
    explore(|| {
        let lock = Arc::new(Lock::<AtomicU64>::default());
        let other = lock.clone();
        let thread = thread::spawn(move || add(&other.lock()));
        add(&lock.lock());
        thread.join().unwrap();
        let sum = lock.lock().load(Ordering::Relaxed);
        assert_eq!(sum, 2, "a holder does not see what an earlier one wrote");
    });
}

/// Runs two threads that take turns. The first thread passes its turn on while it holds a lock, as happens in a driver
/// call.
fn take_turns<L: Default + Send + Sync + 'static>(hold: fn(&L, &dyn Fn())) {
    explore(move || {
        let (lock, turn) = (Arc::new(L::default()), Arc::new(Turn::default()));
        let (other, of_other) = (lock.clone(), turn.clone());
        let thread = thread::spawn(move || {
            let _part = Turn::enter(&of_other, 1);
            hold(&other, &|| ());
        });
        let part = Turn::enter(&turn, 0);
        hold(&lock, &|| {
            crate::turns::yield_turn();
        });
        drop(part);
        thread.join().unwrap();
    });
}

#[test]
pub(crate) fn a_spin_lock_that_is_taken() {
    take_turns(|lock: &Lock<u64>, call| {
        let _held = lock.lock();
        call();
    });
}

#[test]
pub(crate) fn a_mutex_that_is_taken() {
    take_turns(|mutex: &Mutex<u64>, call| {
        let _held = locked(mutex);
        call();
    });
}
