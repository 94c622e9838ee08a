//! Tests of calls that other threads make during a pass.

use std::sync::atomic::Ordering;
use std::thread;

use super::SEEDS;
use super::probe::{CLOSED, REACHED};
use super::world::{World, mixed, reads, two_kernels, writes};
use crate::driver::replay::mode::Taken;
use crate::driver::replay::trace::Given;
use crate::driver::{Driver, MemorySource};

/// Makes calls on another thread, and returns when they have returned.
fn there(world: &World, calls: impl FnOnce() + Send) {
    let calls = || {
        world.bind();
        calls();
    };
    thread::scope(|scope| scope.spawn(calls).join().unwrap());
}

/// Returns the content of cells 0 and 1 after `two_kernels` was called so many times.
fn after(times: u64) -> (u64, u64) {
    (0..times).fold((0, 0), |(first, second), _| {
        let first = mixed(first, first, 5);
        (first, mixed(second, first, 1))
    })
}

/// Another thread makes calls on a stream and an event that no pass has used. No held-back call depends on these calls, so
/// the pass stays held back.
#[test]
fn a_pass_is_held_back_while_another_thread_has_work_of_its_own() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        (0..5).for_each(|_| world.pass(two_kernels));
        let replayed = world.replayed();
        world.pass(|world| {
            two_kernels(world);
            there(world, || {
                let (driver, stream) = (&world.driver, world.streams[2]);
                let range = world.cells[4].range();
                world.mix(2, 2, 2, 7);
                world.record(3, 2);
                world.wait(2, 3);
                while !world.query(3) {}
                world.finish_event(3);
                // SAFETY: the stream is live, and the memory lives as long as the driver.
                unsafe {
                    driver.fill(stream, range, 1).unwrap();
                    driver.observer().recycle(stream, range).unwrap();
                    let own = driver.allocate(stream, 8, MemorySource::Unused).unwrap();
                    driver.free(stream, own).unwrap();
                    while !driver.query_stream(stream).unwrap() {}
                }
                // This call takes the slow path directly, as a call does that finds the state locked.
                let given = Given::Fill(range, 1);
                let taken =
                    driver.with(|state, who| state.take(driver.below(), who, stream, given));
                assert_eq!(taken.unwrap().unwrap(), Taken::Send);
                world.finish(2);
                assert_eq!(world.now(2), mixed(0, 0, 7), "seed {seed}");
            });
        });
        assert_eq!(world.replayed(), replayed + 1, "seed {seed}: {}", world.report());
        world.finish(0);
        assert_eq!((world.now(0), world.now(1)), after(6), "seed {seed}");
    }
}

/// A thread with a stream of its own waits for a record that is held back, or for the whole device. The held-back calls
/// equal a lane's trace, or become a lane at the end of the pass.
#[test]
fn what_is_held_back_is_sent_before_another_thread_waits_for_it() {
    let waits: [fn(&World); 3] = [
        |world| world.wait(2, 0),
        |world| world.finish_event(0),
        // SAFETY: the stream is live.
        |world| unsafe { world.driver.wait_for_device(world.streams[2]) }.unwrap(),
    ];
    let forms = [0, 5].map(|known| waits.map(|waits| (known, waits))).concat();
    let each = (0..SEEDS).flat_map(|seed| forms.iter().map(move |form| (seed, *form)));
    for (seed, (known, waits)) in each {
        let mut world = World::new(seed, None);
        if known == 0 {
            world.run.set_eager();
        }
        let pass = |world: &World| {
            two_kernels(world);
            world.record(0, 0);
        };
        (0..known).for_each(|_| world.pass(pass));
        world.pass(|world| {
            pass(world);
            there(world, || {
                waits(world);
                world.mix(2, 2, 1, 0);
                world.finish(2);
            });
        });
        let expected = after(known + 1);
        assert_eq!(world.now(2), mixed(0, expected.1, 0), "seed {seed}");
        assert_eq!((world.now(0), world.now(1)), expected, "seed {seed}");
    }
}

/// A held-back wait is sent before another thread records its event again; sent later, it would wait for the newer record.
/// The wait is in the known trace, is new, or is in a pass that becomes a lane at its end.
#[test]
fn what_is_held_back_is_sent_before_another_thread_records_an_event_again() {
    let waits = |world: &World| {
        world.wait(0, 2);
        two_kernels(world);
    };
    let known: [Option<fn(&World)>; 3] = [Some(waits), Some(two_kernels), None];
    for (known, (event, is_replayed)) in
        known.iter().flat_map(|known| [(3, true), (2, false)].map(|it| (known, it)))
    {
        let mut world = World::new(0, None);
        world.record(2, 2);
        match known {
            Some(pass) => (0..5).for_each(|_| world.pass(pass)),
            None => world.run.set_eager(),
        }
        let replayed = world.replayed();
        world.pass(|world| {
            waits(world);
            there(world, || world.record(event, 2));
        });
        assert_eq!(world.replayed() > replayed, is_replayed, "{event}: {}", world.report());
    }
}

/// A thread is inside of a launch on stream 1 that is sent, when a pass launches a graph with work of that stream. The next
/// graph relies on the thread's launch.
#[test]
fn a_call_that_is_made_after_a_launch_of_a_graph_comes_before_the_next_one() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        for _ in 0..5 {
            world.pass(writes);
            world.pass(reads);
        }
        world.finish(1);
        let mut run = std::mem::take(&mut world.run);
        let before = (run.report().replayed, world.now(0), world.now(2));
        let gate = &world.driver.below().launch_gate;
        gate.store(CLOSED, Ordering::Release);
        thread::scope(|scope| {
            let launches = scope.spawn(|| {
                world.bind();
                world.mix(1, 2, 2, 7);
            });
            while gate.load(Ordering::Acquire) != REACHED {
                thread::yield_now();
            }
            world.pass_of(&mut run, writes);
            gate.store(0, Ordering::Release);
            launches.join().unwrap();
        });
        world.pass_of(&mut run, reads);
        assert_eq!(run.report().replayed, before.0 + 2, "seed {seed}: {}", run.report());
        world.finish(1);
        assert_eq!(world.now(0), mixed(before.1, mixed(before.2, before.2, 7), 5), "seed {seed}");
    }
}
