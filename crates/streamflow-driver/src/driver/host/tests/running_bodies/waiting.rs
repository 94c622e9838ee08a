//! Tests of the operations that wait for a running body, and of those that do not.

use std::sync::Barrier;

use super::*;

/// Queries a stream many times, and asserts that its work never executes.
fn executes_nothing(bench: &Bench, stream: RawStream) {
    for _ in 0..50 {
        assert!(!unsafe { bench.driver.query_stream(stream) }.unwrap());
    }
}

/// Asserts that work waits for a body. A thread runs a body that writes `data` and pauses. During the pause, `queue` queues
/// work on another stream, and the work must not execute. Then the body ends with the value 7 in `data`.
fn waits(queue: impl Fn(&Bench, RawStream, MemoryRange)) {
    for policy in ALL {
        let bench = Bench::new(policy, 3);
        let (stream, other) = (bench.stream(), bench.stream());
        let data = bench.settled_buffer();
        call(&bench, stream, &[], Box::new(|| Ok(()))).unwrap();
        let make = |pause: Run| -> Run {
            Box::new(move || {
                write(data, 6);
                pause()?;
                write(data, 7);
                Ok(())
            })
        };
        while_a_body_runs(&bench, stream, (data, AccessMode::Write), make, |open| {
            queue(&bench, other, data);
            executes_nothing(&bench, other);
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
    waits(|bench, other, data| unsafe { bench.driver.observer().recycle(other, data) }.unwrap());
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
        let seen = Arc::new(AtomicU32::new(0));
        let make = |pause| then_store(pause, data, &seen);
        while_a_body_runs(&bench, stream, (data, AccessMode::Read), make, |open| {
            unsafe { bench.driver.fill(other, data, 1) }.unwrap();
            executes_nothing(&bench, other);
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

/// Runs two bodies that wait for each other at a barrier. Unless both run at the same time, neither ends.
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
