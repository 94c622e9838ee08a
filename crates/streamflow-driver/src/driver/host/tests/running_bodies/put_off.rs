//! Tests of when a body executes, and which locks its thread holds then: not every call that queues or records executes
//! bodies.

use super::*;
use crate::driver::graph::{GraphNode, GraphWork};

/// Returns a body that counts how often it is called.
fn counts(count: &Arc<AtomicU32>) -> Run {
    let count = count.clone();
    Box::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
}

#[test]
fn no_body_executes_under_a_lock_of_the_caller() {
    for policy in ALL {
        let bench = Bench::new(policy, 3);
        let stream = bench.stream();
        let data = bench.settled_buffer();
        let held = crate::lock::hold();
        let count = Arc::new(AtomicU32::new(0));
        let is_held = Arc::new(AtomicU32::new(0));
        // The loop queues more operations than a stream holds. Bodies can't execute under the lock, so the queue grows.
        for _ in 0..2000 {
            let (count, is_held) = (count.clone(), is_held.clone());
            let run = move || {
                is_held.fetch_add(u32::from(crate::lock::is_held()), Ordering::Relaxed);
                count.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            call(&bench, stream, &[(data, AccessMode::Write)], Box::new(run)).unwrap();
            assert!(!unsafe { bench.driver.query_stream(stream) }.unwrap());
        }
        assert_eq!(count.load(Ordering::Relaxed), 0);
        drop(held);
        bench.driver.observer().catch_up();
        if matches!(policy, Policy::Eager) {
            assert_eq!(count.load(Ordering::Relaxed), 2000, "the policy executes all at once");
        }
        bench.wait(stream);
        assert_eq!((count.load(Ordering::Relaxed), is_held.load(Ordering::Relaxed)), (2000, 0));
    }
}

#[test]
fn a_record_and_a_wait_execute_no_body() {
    let bench = Bench::new(Policy::Eager, 0);
    let (stream, event) = (bench.stream(), bench.event());
    let executed = Arc::new(AtomicU32::new(0));
    let held = crate::lock::hold();
    call(&bench, stream, &[], counts(&executed)).unwrap();
    drop(held);
    unsafe {
        bench.driver.record_event(event, stream).unwrap();
        bench.driver.wait_event(stream, event).unwrap();
    }
    assert_eq!(executed.load(Ordering::Relaxed), 0);
    bench.wait(stream);
    assert_eq!(executed.load(Ordering::Relaxed), 1);
}

#[test]
fn a_submission_executes_no_body_of_another_thread() {
    let bench = Bench::new(Policy::Eager, 0);
    let (stream, other) = (bench.stream(), bench.stream());
    let executed = Arc::new(AtomicU32::new(0));
    let body = counts(&executed);
    std::thread::scope(|scope| {
        let bench = &bench;
        let queued = scope.spawn(move || {
            bench.driver.bind(DEVICE).unwrap();
            let _held = crate::lock::hold();
            call(bench, stream, &[], body).unwrap();
            // The thread parks instead of ending, so that no other thread gets its number.
            std::thread::park();
        });
        let thread = queued.thread().clone();
        while bench.driver.lock().pending == 0 {
            std::thread::yield_now();
        }
        call(bench, other, &[], Box::new(|| Ok(()))).unwrap();
        assert_eq!(executed.load(Ordering::Relaxed), 0);
        bench.wait(stream);
        assert_eq!(executed.load(Ordering::Relaxed), 1);
        thread.unpark();
    });
}

#[test]
fn a_submission_calls_a_host_function_of_a_thread_that_has_ended() {
    let bench = Bench::new(Policy::Eager, 0);
    let (stream, other) = (bench.stream(), bench.stream());
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let driver = &bench.driver;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            driver.bind(DEVICE).unwrap();
            // The function is postponed because its thread holds a lock of the library. The thread then ends before it makes
            // up for it.
            let _held = crate::lock::hold();
            super::super::host_functions::queue(driver, stream, move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        });
    });
    assert_eq!(called.load(Ordering::Relaxed), 0);
    call(&bench, other, &[], Box::new(|| Ok(()))).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 1);
}

/// A value that counts its drop if no lock is held at that moment.
struct Locks(&'static HostDriver, Arc<AtomicU32>);

impl Locks {
    fn is_free(&self) -> bool {
        self.0.sim.try_lock().is_ok() && !crate::lock::is_held()
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        self.1.fetch_add(u32::from(self.is_free()), Ordering::Relaxed);
    }
}

/// If the caller of `destroy_graph` holds a lock of the library, the drop is postponed.
#[test]
fn the_value_of_a_destroyed_graph_is_dropped_outside_of_the_lock() {
    for is_held in [false, true] {
        let bench: &'static Bench = Box::leak(Box::new(Bench::new(Policy::Lazy, 1)));
        let dropped = Arc::new(AtomicU32::new(0));
        let locks = Locks(&bench.driver, dropped.clone());
        let run = move |_: HostArgs<'_>| {
            let _owned = &locks;
            Ok(())
        };
        // SAFETY: the body touches no memory.
        let body = unsafe { LibraryBody::new("a function", run) };
        let call = LibraryCall {
            function: "a function",
            params: &[],
            accesses: &[],
            rows: &[],
            is_captured: true,
            host: &body,
            device: &|_| Ok(()),
        };
        let node = GraphNode { work: GraphWork::Library(&call), after: &[] };
        // SAFETY: the body touches no memory. The graph is destroyed once.
        unsafe {
            let graph = bench.driver.create_graph(DEVICE, &[node]).unwrap();
            drop(body);
            assert_eq!(dropped.load(Ordering::Relaxed), 0);
            let held = is_held.then(crate::lock::hold);
            bench.driver.destroy_graph(graph).unwrap();
            assert_eq!(dropped.load(Ordering::Relaxed), u32::from(!is_held));
            drop(held);
        }
        let stream = bench.stream();
        call_nothing(bench, stream);
        bench.wait(stream);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }
}

fn call_nothing(bench: &Bench, stream: RawStream) {
    call(bench, stream, &[], Box::new(|| Ok(()))).unwrap();
}

#[test]
fn a_body_runs_and_its_value_is_dropped_outside_of_the_lock() {
    let bench: &'static Bench = Box::leak(Box::new(Bench::new(Policy::Lazy, 1)));
    let dropped = Arc::new(AtomicU32::new(0));
    let value = |stream| {
        let locks = Locks(&bench.driver, dropped.clone());
        let run = move || match locks.is_free() {
            true => Ok(()),
            false => Err("it runs under the lock".into()),
        };
        call(bench, stream, &[], Box::new(run)).unwrap();
    };
    let (stream, other) = (bench.stream(), bench.stream());
    value(stream);
    bench.wait(stream);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    // The panic of this kernel makes the device unusable, so the device's queued work is dropped.
    unsafe fn bad(_: HostArgs<'_>) {
        panic!("on purpose");
    }
    let bad = load(&bench.driver, "bad", bad);
    value(other);
    bench.launch(stream, bad, &[]);
    unsafe { bench.driver.synchronize_stream(stream) }.unwrap_err();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}
