//! Bodies that run: which operations wait for them, and which don't.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Barrier, Mutex};

use super::*;
use crate::driver::host::Chooser;
use crate::driver::{BodyError, LibraryBody, LibraryCall, LibraryError, RawStream};

type Run = Box<dyn Fn() -> Result<(), BodyError> + Send + Sync>;

/// Queues a call of a library whose body is a closure.
fn call(
    bench: &Bench,
    stream: RawStream,
    accesses: &[(MemoryRange, AccessMode)],
    run: Run,
) -> DriverResult<()> {
    // SAFETY: in these tests the closure touches the memory of the accesses alone.
    let host = unsafe { LibraryBody::new("testCall", move |_| run()) };
    let access = |&(range, mode)| Access { range, mode, argument: "it", rows: None };
    let call = LibraryCall {
        function: "testCall",
        params: &[],
        accesses: &accesses.iter().map(access).collect::<Vec<_>>(),
        rows: &[],
        is_captured: true,
        host: &host,
        device: &|_| Ok(()),
    };
    unsafe { bench.driver.call_library(stream, &call) }
}

/// A body that signals when it runs, and ends after a message.
fn gated() -> (Run, Receiver<()>, SyncSender<()>) {
    let (entered, has_entered) = sync_channel(1);
    let (open, opened) = sync_channel::<()>(1);
    let opened = Mutex::new(opened);
    let run = move || {
        entered.send(())?;
        opened.lock().unwrap().recv()?;
        Ok(())
    };
    (Box::new(run), has_entered, open)
}

fn write(range: MemoryRange, value: u32) {
    unsafe { words(range.address) }.fill(value);
}

/// A thread runs a body that writes `data`, and waits within it. Meanwhile `queue` queues work on another stream, and the
/// work does not execute. Then the body ends with the value 7 in `data`.
fn waits(queue: impl Fn(&Bench, RawStream, MemoryRange)) {
    for policy in ALL {
        let bench = Bench::new(policy, 3);
        let (stream, other) = (bench.stream(), bench.stream());
        let data = bench.settled_buffer();
        let (run, has_entered, open) = gated();
        let body: Run = Box::new(move || {
            write(data, 6);
            run()?;
            write(data, 7);
            Ok(())
        });
        call(&bench, stream, &[], Box::new(|| Ok(()))).unwrap();
        std::thread::scope(|scope| {
            // Dropped before the body is waited for, also where this fails.
            let open = open;
            let bench = &bench;
            scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                call(bench, stream, &[(data, AccessMode::Write)], body).unwrap();
                bench.wait(stream);
            });
            has_entered.recv().unwrap();
            queue(bench, other, data);
            for _ in 0..50 {
                assert!(!unsafe { bench.driver.query_stream(other) }.unwrap());
            }
            assert_eq!(bench.peek(data), 6, "the other work has executed");
            open.send(()).unwrap();
            bench.wait(other);
        });
    }
}

#[test]
fn a_fill_waits_for_a_body_that_touches_its_memory() {
    waits(|bench, other, data| unsafe { bench.driver.fill(other, data, 1) }.unwrap());
}

#[test]
fn a_copy_waits_for_a_body_that_touches_its_memory() {
    waits(|bench, other, data| {
        let target = bench.settled_buffer();
        let kind = CopyKind::DeviceToDevice;
        let copy = CopyOp { kind, target, source: data, rows: None };
        unsafe { bench.driver.copy(other, &copy) }.unwrap();
    });
}

#[test]
fn a_recycle_and_a_free_wait_for_a_body_that_touches_their_memory() {
    waits(|bench, other, data| unsafe { bench.driver.recycle(other, data) }.unwrap());
    waits(|bench, other, data| unsafe { bench.driver.free(other, data) }.unwrap());
}

#[test]
fn a_body_waits_for_a_body_that_touches_its_memory() {
    for mode in [AccessMode::Read, AccessMode::Write] {
        waits(|bench, other, data| {
            call(bench, other, &[(data, mode)], Box::new(|| Ok(()))).unwrap();
        });
    }
}

#[test]
fn a_write_waits_for_a_body_that_reads_its_memory() {
    for policy in ALL {
        let bench = Bench::new(policy, 3);
        let (stream, other) = (bench.stream(), bench.stream());
        let data = bench.settled_buffer();
        bench.set(other, data, 4);
        bench.wait(other);
        let (run, has_entered, open) = gated();
        let seen = Arc::new(AtomicU32::new(0));
        let body: Run = Box::new({
            let seen = seen.clone();
            move || {
                run()?;
                seen.store(unsafe { words(data.address) }[0], Ordering::Relaxed);
                Ok(())
            }
        });
        std::thread::scope(|scope| {
            // Dropped before the body is waited for, also where this fails.
            let open = open;
            let bench = &bench;
            scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                call(bench, stream, &[(data, AccessMode::Read)], body).unwrap();
                bench.wait(stream);
            });
            has_entered.recv().unwrap();
            unsafe { bench.driver.fill(other, data, 1) }.unwrap();
            for _ in 0..50 {
                assert!(!unsafe { bench.driver.query_stream(other) }.unwrap());
            }
            open.send(()).unwrap();
            bench.wait(other);
        });
        assert_eq!(seen.load(Ordering::Relaxed), 4);
        assert_eq!(bench.peek(data), 0x0101_0101);
    }
}

#[test]
fn a_graph_waits_for_a_body_that_touches_its_memory() {
    use crate::driver::graph::{GraphNode, GraphWork};
    waits(|bench, other, data| {
        let params = [Param::new(data.address), Param::new(1_u32)];
        let access = Access { range: data, mode: AccessMode::Write, argument: "out", rows: None };
        let launch = Launch {
            function: bench.set.function,
            name: "set",
            grid: [1; 3],
            block: [LEN as u32, 1, 1],
            shared_bytes: 0,
            params: &params,
            accesses: &[access],
            rows: &[],
        };
        let node = GraphNode { work: GraphWork::Launch(launch), after: &[] };
        unsafe {
            let graph = bench.driver.create_graph(DEVICE, &[node]).unwrap();
            bench.driver.launch_graph(graph, other).unwrap();
        }
    });
}

/// Two bodies that meet: both run at once, or neither ends.
fn meet(modes: [AccessMode; 2], is_same: bool) {
    let bench = Bench::new(Policy::Eager, 0);
    let one = bench.settled_buffer();
    let two = if is_same { one } else { bench.settled_buffer() };
    let both = Arc::new(Barrier::new(2));
    std::thread::scope(|scope| {
        for (data, mode) in [one, two].into_iter().zip(modes) {
            let (bench, both) = (&bench, both.clone());
            scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                let stream = bench.stream();
                let run = move || {
                    both.wait();
                    Ok(())
                };
                call(bench, stream, &[(data, mode)], Box::new(run)).unwrap();
                bench.wait(stream);
            });
        }
    });
}

#[test]
fn bodies_of_two_threads_run_at_once_if_neither_writes_what_the_other_touches() {
    meet([AccessMode::Write; 2], false);
    meet([AccessMode::Read; 2], true);
}

#[test]
fn page_locked_memory_is_freed_after_a_body_that_touches_it() {
    // Seed 2 frees without waiting for the device.
    for seed in 0..8 {
        let bench = Bench::with(HostDriver::builder().seed(seed));
        let stream = bench.stream();
        let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let (run, has_entered, open) = gated();
        let seen = Arc::new(AtomicU32::new(0));
        let body: Run = Box::new({
            let seen = seen.clone();
            move || {
                write(pinned, 6);
                run()?;
                seen.store(unsafe { words(pinned.address) }[0], Ordering::Relaxed);
                Ok(())
            }
        });
        std::thread::scope(|scope| {
            // Dropped before the body is waited for, also where this fails.
            let open = open;
            let bench = &bench;
            scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                call(bench, stream, &[(pinned, AccessMode::Write)], body).unwrap();
                bench.wait(stream);
            });
            has_entered.recv().unwrap();
            let freeing = scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                unsafe { bench.driver.free_pinned(DEVICE, pinned) }
            });
            while bench.driver.lock().sleepers == 0 {
                assert!(!freeing.is_finished(), "it was freed while a body touches it");
                std::thread::yield_now();
            }
            open.send(()).unwrap();
            freeing.join().unwrap().unwrap();
        });
        assert_eq!(seen.load(Ordering::Relaxed), 6);
    }
}

#[test]
fn page_locked_memory_that_a_body_frees_is_not_poisoned_under_another_body() {
    for seed in 0..8 {
        let bench: &'static Bench =
            Box::leak(Box::new(Bench::with(HostDriver::builder().seed(seed))));
        let (stream, other) = (bench.stream(), bench.stream());
        let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let (run, has_entered, open) = gated();
        let seen = Arc::new(AtomicU32::new(0));
        let body: Run = Box::new({
            let seen = seen.clone();
            move || {
                write(pinned, 6);
                run()?;
                seen.store(unsafe { words(pinned.address) }[0], Ordering::Relaxed);
                Ok(())
            }
        });
        std::thread::scope(|scope| {
            let open = open;
            scope.spawn(move || {
                bench.driver.bind(DEVICE).unwrap();
                call(bench, stream, &[(pinned, AccessMode::Write)], body).unwrap();
                bench.wait(stream);
            });
            has_entered.recv().unwrap();
            let free = move || Ok(unsafe { bench.driver.free_pinned(DEVICE, pinned) }?);
            call(bench, other, &[], Box::new(free)).unwrap();
            bench.wait(other);
            open.send(()).unwrap();
        });
        assert_eq!(seen.load(Ordering::Relaxed), 6);
    }
}

/// Chooses the first option, and counts.
#[derive(Debug)]
struct First;

impl Chooser for First {
    fn choose(&mut self, _: u64, _: usize) -> usize {
        0
    }

    fn end(&mut self, _: u64) {}
}

#[test]
fn the_key_of_a_state_reads_no_memory_that_a_body_may_write() {
    let options = HostDriver::builder();
    let driver = HostDriver::new(&options, Some(Box::new(First)));
    let (set, copy) = (load(&driver, "set", set), load(&driver, "copy", copy));
    let bench = Bench { driver, set, copy };
    let (stream, data) = (bench.stream(), bench.settled_buffer());
    let (run, has_entered, open) = gated();
    std::thread::scope(|scope| {
        // Dropped before the body is waited for, also where this fails.
        let open = open;
        let bench = &bench;
        scope.spawn(move || {
            bench.driver.bind(DEVICE).unwrap();
            call(bench, stream, &[(data, AccessMode::Write)], run).unwrap();
            bench.wait(stream);
        });
        has_entered.recv().unwrap();
        // Any other answer would be a hash of the memory.
        assert_eq!(bench.driver.lock().memory_key(), 0);
        open.send(()).unwrap();
    });
    assert_ne!(bench.driver.lock().memory_key(), 0);
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
        // More than a queue holds: it grows.
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
        bench.driver.catch_up();
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
    let count = executed.clone();
    let run = move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    call(&bench, stream, &[], Box::new(run)).unwrap();
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
    let count = executed.clone();
    std::thread::scope(|scope| {
        let bench = &bench;
        let queued = scope.spawn(move || {
            bench.driver.bind(DEVICE).unwrap();
            let _held = crate::lock::hold();
            let run = move || {
                count.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            call(bench, stream, &[], Box::new(run)).unwrap();
            // The thread waits, so that no other one gets its number.
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
            // Under a lock of the library the function is put off, and the thread ends before it catches up.
            let _held = crate::lock::hold();
            super::host_functions::queue(driver, stream, move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        });
    });
    assert_eq!(called.load(Ordering::Relaxed), 0);
    call(&bench, other, &[], Box::new(|| Ok(()))).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 1);
}

/// Queues a body that fails, and returns the only error that a call returns afterwards.
fn failing(
    policy: Policy,
    run: impl Fn() -> Result<(), BodyError> + Send + Sync + 'static,
) -> DriverError {
    let bench = Bench::new(policy, 3);
    let (stream, other) = (bench.stream(), bench.stream());
    let (data, more) = (bench.settled_buffer(), bench.settled_buffer());
    bench.set(stream, data, 3);
    bench.wait(stream);
    let queued = call(&bench, stream, &[(data, AccessMode::Write)], Box::new(run));
    bench.driver.bind(DEVICE).unwrap();
    let waited = unsafe { bench.driver.synchronize_stream(stream) };
    let error = queued.and(waited).unwrap_err();
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED), "no result passes as right");
    // It is returned once, and the device works.
    assert_eq!(bench.driver.sticky_error(), None);
    bench.set(other, more, 4);
    assert_eq!(bench.download(other, more), 4);
    bench.set(stream, data, 5);
    assert_eq!(bench.download(stream, data), 5);
    error
}

#[test]
fn a_failed_host_body_is_an_error_that_is_returned_once_and_the_device_works() {
    for policy in ALL {
        let error = failing(policy, || Err("no convergence".into()));
        assert_eq!(error.to_string(), "library function `testCall` failed: no convergence");
        let error = failing(policy, || panic!("on purpose"));
        assert_eq!(error.to_string(), "library function `testCall` panicked: on purpose");
        let of_library = LibraryError {
            library: "a library",
            call: "testCall",
            status: 7,
            name: "NOT_CONVERGED",
            remedy: "scale it".to_owned(),
        };
        let returned = of_library.clone();
        let error = failing(policy, move || Err(returned.clone().into()));
        assert_eq!(error, DriverError::Library(of_library));
    }
}

#[test]
fn the_error_of_a_host_body_is_one_of_its_device_and_of_no_call_under_a_lock() {
    let bench = Bench::with(HostDriver::builder().devices(2));
    let (stream, data) = (bench.stream(), bench.settled_buffer());
    let second = DeviceId(1);
    bench.driver.bind(second).unwrap();
    let other = bench.driver.create_stream(second, StreamOptions::default()).unwrap();
    bench.driver.bind(DEVICE).unwrap();
    let held = crate::lock::hold();
    // It fails after the call.
    call(&bench, stream, &[], Box::new(|| Err("no convergence".into()))).unwrap();
    drop(held);
    bench.driver.catch_up();
    bench.wait(other);
    let fill = || unsafe { bench.driver.fill(stream, data, 1) };
    let held = crate::lock::hold();
    fill().unwrap();
    drop(held);
    let error = fill().unwrap_err();
    assert_eq!(error.to_string(), "library function `testCall` failed: no convergence");
    fill().unwrap();
}

#[test]
fn a_body_runs_and_its_value_is_dropped_outside_of_the_lock() {
    struct Locks(&'static HostDriver, Arc<AtomicU32>);
    impl Locks {
        fn is_free(&self) -> bool {
            self.0.sim.try_lock().is_ok()
        }
    }
    impl Drop for Locks {
        fn drop(&mut self) {
            self.1.fetch_add(u32::from(self.is_free()), Ordering::Relaxed);
        }
    }
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
    // The work that a lost device drops.
    unsafe fn bad(_: HostArgs<'_>) {
        panic!("on purpose");
    }
    let bad = load(&bench.driver, "bad", bad);
    value(other);
    bench.launch(stream, bad, &[]);
    unsafe { bench.driver.synchronize_stream(stream) }.unwrap_err();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}
