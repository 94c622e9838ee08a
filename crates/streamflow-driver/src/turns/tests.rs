//! Turns of threads, without a simulator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicU32;
use std::sync::mpsc;

use super::*;
use crate::driver::Signal;
use crate::lock::{Lock, locked};

/// Runs a test under each of 64 seeds, and returns the trouble of each run.
fn under_seeds(test: impl Fn(&Turns)) -> Vec<Option<Trouble>> {
    let run = |seed| {
        let turns = Turns::with_patience(Box::new(Pct::new(seed)), PATIENCE);
        let participation = turns.enter();
        test(&turns);
        drop(participation);
        turns.trouble()
    };
    (0..64).map(run).collect()
}

/// The order of the steps of three threads under each of 64 seeds: the thread's number for each step.
fn orders() -> Vec<Vec<u8>> {
    let orders = Mutex::new(Vec::new());
    let wrong = under_seeds(|turns| {
        let (order, inside) = (Mutex::new(Vec::new()), AtomicU32::new(0));
        let steps = |name: u8| {
            for _ in 0..20 {
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two threads run at once");
                locked(&order).push(name);
                thread::yield_now();
                inside.fetch_sub(1, Ordering::Relaxed);
                turns.step("a step").unwrap();
            }
        };
        scope(|scope| {
            scope.spawn(|| steps(1));
            scope.spawn(|| steps(2));
            steps(0);
        });
        orders.lock().unwrap().push(order.into_inner().unwrap());
    });
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
    orders.into_inner().unwrap()
}

#[test]
fn one_thread_runs_at_a_time_in_an_order_that_the_seed_repeats() {
    let first = orders();
    assert_eq!(first, orders());
    // Each thread is first under some seed, and under some seed a thread is interrupted.
    for name in 0..3 {
        assert!(first.iter().any(|order| order[0] == name), "{name} is never first");
    }
    let switches = |order: &Vec<u8>| order.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(first.iter().any(|order| switches(order) > 2));
    // There are at most six switches of threads: one after the main thread's steps before the other threads begin, two
    // where a priority falls, and three where a thread ends.
    assert!(first.iter().all(|order| switches(order) <= 6));
}

#[test]
fn a_thread_that_finds_a_lock_taken_passes_on_its_turn() {
    let wrong = under_seeds(|turns| {
        let (spin, sleep) = (Lock::new(0), Mutex::new(0));
        let add = || {
            for _ in 0..5 {
                // Each thread keeps both locks during a step, as a stream's lock is held during a record.
                let mut one = spin.lock();
                turns.step("one").unwrap();
                let mut two = locked(&sleep);
                turns.step("two").unwrap();
                *one += 1;
                *two += 1;
                drop((one, two));
                turns.step("none").unwrap();
            }
        };
        scope(|scope| {
            scope.spawn(add);
            scope.spawn(add);
            add();
        });
        assert_eq!((*spin.lock(), sleep.into_inner().unwrap()), (15, 15));
    });
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
}

#[test]
fn a_thread_that_polls_loses_the_turn_in_the_end() {
    let wrong = under_seeds(|turns| {
        let done = AtomicBool::new(false);
        scope(|scope| {
            let polls = scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    turns.step("polling").unwrap();
                }
            });
            (0..3).for_each(|_| turns.step("working").unwrap());
            done.store(true, Ordering::Relaxed);
            while !polls.is_finished() {}
            polls.join().unwrap();
        });
    });
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
}

#[test]
fn a_thread_does_not_starve_beside_threads_that_pass_the_turn_to_each_other() {
    let wrong = under_seeds(|turns| {
        let (done, baton, passed) = (AtomicBool::new(false), AtomicU32::new(1), AtomicU32::new(0));
        // At each moment, one of the two threads that pass the baton can go on.
        let pass = |me: u32| {
            while !done.load(Ordering::Relaxed) {
                assert!(
                    passed.fetch_add(1, Ordering::Relaxed) < 100_000,
                    "the third thread starves"
                );
                if baton.load(Ordering::Relaxed) == me {
                    baton.store(3 - me, Ordering::Relaxed);
                    turns.step("passing on").unwrap();
                } else {
                    yield_turn();
                }
            }
        };
        scope(|scope| {
            scope.spawn(|| pass(1));
            scope.spawn(|| pass(2));
            (0..3).for_each(|_| turns.step("working").unwrap());
            done.store(true, Ordering::Relaxed);
        });
    });
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
}

#[test]
fn a_foreign_thread_is_reported_and_the_others_continue() {
    let wrong = under_seeds(|turns| {
        let refused = thread::scope(|scope| {
            let foreign = thread::Builder::new().name("foreign".to_owned());
            let spawned = foreign.spawn_scoped(scope, || turns.step("a step").is_err());
            spawned.unwrap().join().unwrap()
        });
        assert!(refused);
        assert_eq!(turns.step("a step"), Ok(()));
    });
    let foreign = Some(Trouble::Foreign { thread: "foreign".to_owned() });
    assert!(wrong.iter().all(|trouble| *trouble == foreign), "{wrong:?}");
}

#[test]
fn a_thread_that_blocks_with_the_turn_is_reported_and_the_test_ends() {
    let run = |seed| {
        let turns = Turns::with_patience(Box::new(Pct::new(seed)), Duration::from_secs(3));
        let participation = turns.enter();
        let (send, receive) = mpsc::channel();
        let line = line!() + 2;
        scope(|scope| {
            let waits = scope.spawn(move || receive.recv());
            let sends = scope.spawn(move || send.send(5));
            assert_eq!(waits.join().unwrap(), Ok(5));
            sends.join().unwrap().unwrap();
        });
        drop(participation);
        let trouble = turns.trouble()?;
        let place = format!("tests.rs:{line}:");
        assert!(trouble.thread().contains(&place), "{trouble}, and not the one at {place}");
        assert!(matches!(trouble, Trouble::Blocked { .. }), "{trouble}");
        Some(trouble)
    };
    // Under some seeds the sending thread comes first, and then no thread blocks. One seed with the error is enough.
    assert!((0..64).find_map(run).is_some());
}

#[test]
fn runs_can_be_nested() {
    let inner = || {
        let turns = Turns::new(Box::new(Pct::new(1)));
        let participation = turns.enter();
        assert_eq!(turns.step("inside"), Ok(()));
        drop(participation);
        // A thread may make steps in a run after it has left it.
        assert_eq!(turns.step("afterwards"), Ok(()));
    };
    let wrong = under_seeds(|turns| {
        inner();
        assert_eq!(turns.step("outside"), Ok(()));
    });
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
}

/// Sleeps until another thread sets a flag and then raises the signal, or forgets to raise it.
fn sleep_until_set(is_raised: bool) {
    let (flag, signal) = (AtomicBool::new(false), Signal::default());
    scope(|scope| {
        let sets = scope.spawn(|| {
            flag.store(true, Ordering::Relaxed);
            if is_raised {
                signal.raise();
            }
        });
        loop {
            let seen = signal.raised();
            if flag.load(Ordering::Relaxed) {
                break;
            }
            point("the flag was read, and the thread does not sleep yet");
            signal.sleep(seen, Duration::from_secs(3600));
        }
        sets.join().unwrap();
    });
}

#[test]
fn a_thread_sleeps_until_it_is_woken() {
    let wrong = under_seeds(|_| sleep_until_set(true));
    assert!(wrong.iter().all(Option::is_none), "{wrong:?}");
}

#[test]
fn a_wake_up_that_is_lost_is_reported() {
    let run = |seed| {
        let turns = Turns::with_patience(Box::new(Pct::new(seed)), Duration::from_secs(1));
        let participation = turns.enter();
        sleep_until_set(false);
        drop(participation);
        turns.trouble().filter(|trouble| matches!(trouble, Trouble::Asleep { .. }))
    };
    // Under some seeds the other thread comes first, and then this thread does not sleep. One seed with the error is enough.
    let found = (0..64).find_map(run).unwrap();
    assert!(found.problem().contains("wake-up is lost"), "{found}");
}
