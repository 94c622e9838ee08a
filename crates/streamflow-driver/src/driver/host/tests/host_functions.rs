//! Tests of host functions: they block their stream and no other one, and a deadlock is reported.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use super::*;
use crate::turns::{Pct, Turns, scope, yield_now};

/// Queues a closure as a host function. The closure is leaked if the simulator never calls it.
pub(super) fn queue<F: FnOnce() + Send>(driver: &dyn Driver, stream: RawStream, run: F) {
    unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
        let run = unsafe { Box::from_raw(data.cast::<F>()) };
        run();
    }
    let data = Box::into_raw(Box::new(run)).cast();
    unsafe { driver.launch_host_function(stream, HostFunction { call: call::<F>, data }).unwrap() };
}

/// Returns a function that sends a message when it begins, and returns when it gets a message.
fn gate() -> (impl FnOnce() + Send, Receiver<()>, SyncSender<()>) {
    let (entered, has_entered) = sync_channel(1);
    let (open, opened) = sync_channel::<()>(1);
    let run = move || {
        let _ = entered.send(());
        let _ = opened.recv();
    };
    (run, has_entered, open)
}

#[test]
fn a_host_function_blocks_its_stream_and_no_other() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (stream, other) = (bench.stream(), bench.stream());
    let (a, b) = (bench.settled_buffer(), bench.settled_buffer());
    let (run, has_entered, open) = gate();
    queue(&bench.driver, stream, run);
    bench.set(stream, a, 1);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| bench.wait_on_a_thread(stream));
        has_entered.recv().unwrap();
        // The other thread executes the function. This thread's calls continue, and the function's stream is blocked.
        bench.set(other, b, 2);
        assert_eq!(bench.download(other, b), 2);
        assert!(!unsafe { bench.driver.query_stream(stream) }.unwrap());
        assert_eq!(bench.peek(a), poisoned(POISON_ALLOCATED));
        // A second thread that waits for the stream sleeps, and this is not a deadlock.
        let second = scope.spawn(|| bench.wait_on_a_thread(stream));
        while bench.driver.lock().sleepers == 0 && !second.is_finished() {
            std::thread::yield_now();
        }
        open.send(()).unwrap();
        waiter.join().unwrap();
        second.join().unwrap();
    });
    assert_eq!(bench.peek(a), 1);
}

#[test]
fn host_functions_run_in_stream_order_under_every_policy() {
    for seed in 0..32 {
        for policy in ALL {
            let bench = Bench::new(policy, seed);
            let stream = bench.stream();
            let data = bench.settled_buffer();
            let seen = Arc::new(Mutex::new(Vec::new()));
            for value in 0..3 {
                bench.set(stream, data, value);
                let seen = seen.clone();
                queue(&bench.driver, stream, move || {
                    seen.lock().unwrap().push(unsafe { words(data.address) }[0]);
                });
            }
            bench.wait(stream);
            assert_eq!(*seen.lock().unwrap(), [0, 1, 2], "{policy:?} {seed}");
        }
    }
}

#[test]
fn a_host_function_may_not_call_the_driver() {
    let bench = Arc::new(Bench::new(Policy::Eager, 0));
    let stream = bench.stream();
    let other = bench.stream();
    let event = bench.event();
    let (send, results) = sync_channel(8);
    let inner = bench.clone();
    queue(&bench.driver, stream, move || {
        let driver = &inner.driver;
        let _ = send.send(unsafe { driver.record_event(event, other) });
        let _ = send.send(unsafe { driver.query_stream(other) }.map(drop));
        let _ = send.send(unsafe { driver.synchronize_stream(other) });
        let _ = send.send(unsafe { driver.synchronize_event(event) });
    });
    let results: Vec<_> = results.try_iter().collect();
    assert_eq!(results.len(), 4);
    for result in results {
        assert_eq!(code_of(result).0, 800);
    }
}

#[test]
fn a_host_function_that_waits_for_itself_is_reported_as_a_deadlock() {
    let bench = Arc::new(Bench::new(Policy::Lazy, 1));
    let (stream, other) = (bench.stream(), bench.stream());
    let (send, result) = sync_channel(1);
    let inner = bench.clone();
    queue(&bench.driver, stream, move || {
        let _ = send.send(unsafe { inner.driver.synchronize_stream(other) });
    });
    bench.edge(stream, other);
    bench.wait(stream);
    assert_eq!(
        result.recv().unwrap(),
        Err(DriverError::Deadlock {
            call: "synchronize_stream",
            detail: "stream 2 waits for event 0 (record 1) of stream 1; stream 1 is inside a host \
                     function, and that waits for the simulator"
                .to_owned(),
        })
    );
    bench.wait(other);
}

#[test]
fn two_host_functions_that_wait_for_each_other_are_a_deadlock() {
    let bench = Arc::new(Bench::new(Policy::Lazy, 1));
    let streams = [bench.stream(), bench.stream()];
    let barrier = Arc::new(std::sync::Barrier::new(2));
    let (send, results) = sync_channel(2);
    for (own, other) in [(0, 1), (1, 0)] {
        let (inner, barrier, send) = (bench.clone(), barrier.clone(), send.clone());
        queue(&bench.driver, streams[own], move || {
            barrier.wait();
            let _ = send.send(unsafe { inner.driver.synchronize_stream(streams[other]) });
        });
    }
    std::thread::scope(|scope| {
        for stream in streams {
            let bench = &bench;
            scope.spawn(move || bench.wait_on_a_thread(stream));
        }
    });
    drop(send);
    let results: Vec<_> = results.try_iter().collect();
    let deadlocks = results.iter().filter(|it| matches!(it, Err(DriverError::Deadlock { .. })));
    // When that function returns, the other thread wakes up, and its call is refused: a host function may not call the
    // driver.
    assert_eq!((results.len(), deadlocks.count()), (2, 1), "{results:?}");
}

#[test]
fn dropping_the_simulator_calls_no_host_function() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (send, called) = sync_channel(1);
    queue(&bench.driver, bench.stream(), move || {
        let _ = send.send(());
    });
    drop(bench);
    assert!(called.try_recv().is_err());
}

/// Where threads take turns, a thread that sleeps in a call passes the turn to another thread.
#[test]
fn a_host_function_may_wait_for_a_thread_that_takes_turns() {
    for seed in 0..64 {
        let turns = Turns::new(Box::new(Pct::new(seed)));
        let participation = turns.enter();
        let driver = HostDriver::builder().seed(seed).turns(turns.clone()).build();
        driver.bind(DEVICE).unwrap();
        let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
        let open = AtomicBool::new(false);
        let wait = || {
            driver.bind(DEVICE).unwrap();
            unsafe { driver.synchronize_stream(stream) }.unwrap();
        };
        scope(|scope| {
            scope.spawn(|| {
                (0..3).for_each(|_| driver.bind(DEVICE).unwrap());
                open.store(true, Ordering::Relaxed);
            });
            scope.spawn(wait);
            scope.spawn(wait);
            queue(&driver, stream, || {
                while !open.load(Ordering::Relaxed) {
                    yield_now();
                }
            });
            wait();
        });
        drop(participation);
        assert_eq!(turns.trouble(), None, "seed {seed}");
    }
}
