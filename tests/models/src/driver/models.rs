//! Models of signals: a thread sleeps until another thread has changed a state. If a wake-up is lost, the sleeper blocks
//! for ever, and loom reports a deadlock.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use loom::thread;

use super::{Listeners, Signal};
use crate::explore::{explore, must_fail};
use crate::sync::{AtomicBool, Mutex, Ordering};

const LONG: Duration = Duration::from_secs(3600);

/// Sleeps until a flag is set. Another thread sets the flag before it raises the signal.
fn sleep_until(flag: &AtomicBool, signal: &Signal) {
    loop {
        let seen = signal.raised();
        if flag.load(Ordering::Relaxed) {
            return;
        }
        signal.sleep(seen, LONG);
    }
}

#[test]
pub(crate) fn a_raise_ends_a_sleep() {
    explore(|| {
        let shared = Arc::new((AtomicBool::new(false), Signal::default()));
        let other = shared.clone();
        let thread = thread::spawn(move || sleep_until(&other.0, &other.1));
        shared.0.store(true, Ordering::Relaxed);
        shared.1.raise();
        thread.join().unwrap();
    });
}

#[test]
pub(crate) fn a_raise_ends_every_sleep() {
    explore(|| {
        let shared = Arc::new(Signal::default());
        let threads = [(); 2].map(|()| {
            let other = shared.clone();
            thread::spawn(move || other.sleep(0, LONG))
        });
        shared.raise();
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap(), "nothing woke it"));
    });
}

/// Two threads raise a signal, and a third one sleeps until both have raised it.
#[test]
pub(crate) fn no_raise_is_lost() {
    explore(|| {
        let signal = Arc::new(Signal::default());
        let threads = [(); 2].map(|()| {
            let other = signal.clone();
            thread::spawn(move || other.raise())
        });
        signal.sleep(0, LONG);
        signal.sleep(1, LONG);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(signal.raised(), 2);
    });
}

/// A thread waits for a state that a lock protects, such as free memory. `is_counted_before` says whether the thread
/// counts its wait before it reads the state, or after.
fn wait_for_a_state(is_counted_before: bool) {
    let shared = Arc::new((Mutex::new(false), Listeners::default()));
    let signal = Arc::new(Signal::default());
    shared.1.add(&signal);
    let other = shared.clone();
    let thread = thread::spawn(move || {
        let mut state = other.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = true;
        other.1.raise_if_awaited();
        drop(state);
    });
    if is_counted_before {
        shared.1.begin_wait();
    }
    loop {
        let seen = signal.raised();
        if *shared.0.lock().unwrap_or_else(PoisonError::into_inner) {
            break;
        }
        if !is_counted_before {
            shared.1.begin_wait();
        }
        signal.sleep(seen, LONG);
    }
    shared.1.end_wait();
    shared.1.remove(&signal);
    thread.join().unwrap();
}

#[test]
pub(crate) fn a_change_wakes_a_thread_that_waits() {
    explore(|| wait_for_a_state(true));
}

/// The control of `Listeners::begin_wait`: a thread that counts its wait only after reading the state misses a wake-up.
#[test]
fn a_wait_that_is_counted_too_late_is_found() {
    must_fail("deadlock", || explore(|| wait_for_a_state(false)));
}

/// The control of `Signal::raised`: a thread that reads the signal's count only after reading the state misses a wake-up.
#[test]
fn a_count_that_is_read_too_late_is_found() {
    must_fail("deadlock", || {
        explore(|| {
            let shared = Arc::new((AtomicBool::new(false), Signal::default()));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                while !other.0.load(Ordering::Relaxed) {
                    let seen = other.1.raised();
                    other.1.sleep(seen, LONG);
                }
            });
            shared.0.store(true, Ordering::Relaxed);
            shared.1.raise();
            thread.join().unwrap();
        });
    });
}
