//! Tests of held-back calls that fail, and of lanes that are not replaced while a thread waits for them.

use std::sync::atomic::Ordering;
use std::thread;

use super::SEEDS;
use super::probe::{CLOSED, FAILS_GRAPH, FAILS_RECORD, FAILS_WAIT, REACHED};
use super::world::{World, mixed, two_kernels};
use crate::driver::replay::Omission;
use crate::driver::{Driver, DriverError, DriverResult, MemorySource};

/// Makes passes until the calls of a pass are held back.
fn learn(world: &mut World, pass: fn(&World)) {
    (0..5).for_each(|_| world.pass(pass));
    (0..3).for_each(|stream| world.finish(stream));
}

/// Makes a pass whose calls are held back, and then a different call, so that the held-back calls are sent. One of them
/// fails.
fn fails(world: &mut World, which: u8, pass: fn(&World)) {
    let mut has_failed = false;
    world.run_pass(|world| {
        pass(world);
        world.driver.below().fails.store(which, Ordering::Release);
        // SAFETY: the event and the stream are live.
        let failed = unsafe { world.driver.record_event(world.events[0], world.streams[0]) };
        has_failed = failed.is_err_and(|error| !is_refused(&error));
    });
    assert!(has_failed && !world.has_ended_well);
    assert_eq!(world.driver.below().fails.load(Ordering::Acquire), 0, "nothing has failed");
}

fn is_refused(error: &DriverError) -> bool {
    matches!(error, DriverError::Sticky { .. })
}

/// Stream 1 reads cell 2 after a wait for stream 2. The wait is held back and fails when it is sent. Returns whether the
/// host gets the result, and whether the result is right.
fn after_a_wait(world: &mut World) -> (bool, bool) {
    let pass = |world: &World| {
        two_kernels(world);
        world.wait(1, 2);
    };
    learn(world, pass);
    world.mix(2, 2, 2, 7);
    world.record(2, 2);
    fails(world, FAILS_WAIT, pass);
    let is_read = world.try_launch(world.mix, 1, 3, 2, 0).is_ok() && world.try_finish(1).is_ok();
    (is_read, world.now(3) == mixed(0, mixed(0, 0, 7), 0))
}

/// Stream 1 reads cell 1 after a wait for a record of stream 0. The record is held back and fails when it is sent.
fn after_a_record(world: &mut World) -> (bool, bool) {
    let pass = |world: &World| {
        two_kernels(world);
        world.record(2, 0);
    };
    learn(world, pass);
    fails(world, FAILS_RECORD, pass);
    // SAFETY: the event and the stream are live.
    let waits = unsafe { world.driver.wait_event(world.streams[1], world.events[2]) };
    let is_read = waits.is_ok()
        && world.try_launch(world.mix, 1, 3, 1, 0).is_ok()
        && world.try_finish(1).is_ok();
    // Stream 0 is finished first, so that its late writes are made when the two cells are compared.
    let _refused = world.try_finish(0);
    (is_read, world.now(3) == mixed(0, world.now(1), 0))
}

/// The host reads the output of a kernel that was held back after a record which fails when it is sent.
fn behind_a_record(world: &mut World) -> (bool, bool) {
    let pass = |world: &World| {
        world.mix(0, 0, 0, 5);
        world.record(3, 0);
        world.mix(0, 1, 0, 1);
        world.record(2, 0);
    };
    learn(world, pass);
    let before = world.now(1);
    fails(world, FAILS_RECORD, pass);
    // SAFETY: the event is live.
    let is_read = unsafe { world.driver.synchronize_event(world.events[2]) }.is_ok();
    (is_read, world.now(1) == mixed(before, world.now(0), 1))
}

#[test]
fn nothing_is_read_after_a_held_back_call_has_failed() {
    for program in [after_a_wait, after_a_record, behind_a_record] {
        let wrong = |rule| {
            let run = |seed| program(&mut World::new(seed, rule));
            (0..SEEDS).map(run).filter(|(is_read, is_right)| *is_read && !is_right).count()
        };
        assert_eq!(wrong(None), 0);
        assert!(wrong(Some(Omission::Lost)) > 0);
    }
}

/// After the failure each call of any thread is refused, in later passes, too.
#[test]
fn a_held_back_call_that_fails_is_the_last_one() {
    let mut world = World::new(0, None);
    let pass = |world: &World| {
        two_kernels(world);
        world.record(2, 0);
    };
    learn(&mut world, pass);
    assert!(world.driver.sticky_error().is_none());
    fails(&mut world, FAILS_RECORD, pass);
    let cause = world.driver.sticky_error().unwrap();
    assert!(cause.message.contains("replay had held back"), "{cause}");
    let all = |world: &World| {
        let (driver, stream, event) = (&world.driver, world.streams[1], world.events[1]);
        let range = world.cells[0].range();
        // SAFETY: the stream, the event and the memory are live.
        let done: [DriverResult<()>; 13] = unsafe {
            [
                // This is the first call of the trace that was followed.
                world.try_launch(world.mix, 0, 0, 0, 5),
                world.try_launch(world.mix, 1, 1, 0, 1),
                driver.fill(stream, range, 0),
                driver.observer().recycle(stream, range),
                driver.record_event(event, stream),
                driver.wait_event(stream, event),
                driver.query_event(event).map(drop),
                driver.synchronize_event(event),
                driver.query_stream(stream).map(drop),
                driver.synchronize_stream(stream),
                driver.allocate(stream, 8, MemorySource::Unused).map(drop),
                driver.destroy_event(event),
                driver.destroy_stream(world.streams[2]),
            ]
        };
        for (place, done) in done.into_iter().enumerate() {
            assert!(done.as_ref().is_err_and(is_refused), "{place}: {done:?}");
        }
    };
    all(&world);
    world.run_pass(all);
    assert!(world.has_ended_well, "a later pass holds nothing back");
    thread::scope(|scope| {
        let there = scope.spawn(|| {
            world.bind();
            all(&world);
        });
        there.join().unwrap();
    });
}

/// Stream 0 waits for stream 1 in a pass whose graph can't be launched. Stream 2 waits for stream 0 and for stream 1: for
/// stream 0 by a record of an earlier launch. The lane of that launch recorded its event `mark` before the wait for stream
/// 1, so a wait for `mark` does not order anything after stream 1.
#[test]
fn a_launch_that_fails_leaves_no_order_behind() {
    let writes = |world: &World| {
        world.mix(1, 2, 2, 7);
        world.mix(1, 3, 2, 1);
        world.record(2, 1);
    };
    let first = |event: usize| {
        move |world: &World| {
            two_kernels(world);
            world.record(event, 0);
        }
    };
    // The lane of this pass waits for the event `mark` of the lane of stream 0.
    let behind = |world: &World| {
        world.wait(1, 0);
        world.mix(1, 6, 0, 7);
        world.mix(1, 7, 6, 1);
        world.record(3, 1);
    };
    let reads = |world: &World| {
        world.wait(2, 0);
        world.wait(2, 2);
        world.mix(2, 4, 3, 5);
        world.mix(2, 5, 4, 1);
    };
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        for _ in 0..5 {
            world.pass(writes);
            world.pass(first(0));
            world.pass(behind);
            world.pass(reads);
            (0..3).for_each(|stream| world.finish(stream));
        }
        let before = [2, 3, 4].map(|cell| world.now(cell));
        let replayed = world.replayed();
        world.pass(writes);
        world.pass(first(0));
        world.pass(behind);
        world.driver.below().fails.store(FAILS_GRAPH, Ordering::Release);
        world.pass(|world| {
            world.wait(0, 2);
            world.wait(0, 3);
            first(1)(world);
        });
        assert_eq!(world.replayed(), replayed + 3, "seed {seed}: {}", world.report());
        world.pass(reads);
        assert_eq!(world.replayed(), replayed + 4, "seed {seed}: {}", world.report());
        world.finish(2);
        let written = mixed(before[1], mixed(before[0], before[0], 7), 1);
        assert_eq!(world.now(4), mixed(before[2], written, 5), "seed {seed}");
    }
}

#[test]
fn a_lane_that_a_thread_waits_for_is_not_replaced() {
    let mut world = World::new(0, None);
    world.run.set_eager();
    let pass = |one: usize, two: usize| {
        move |world: &World| {
            world.mix(0, one, two, 1);
            world.mix(0, two, one, 1);
            world.record(0, 0);
        }
    };
    world.pass(pass(0, 1));
    let (driver, event) = (world.driver.clone(), world.events[0]);
    driver.below().gate.store(CLOSED, Ordering::Release);
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            world.bind();
            // SAFETY: the event is live.
            unsafe { driver.synchronize_event(event) }
        });
        while driver.below().gate.load(Ordering::Acquire) != REACHED {
            thread::yield_now();
        }
        let mut run = World::new(0, None).run;
        run.set_eager();
        // The passes have more rotations of buffers than there are lanes.
        for index in 0..400 {
            let (one, two) = (index % 8, index / 8 % 8);
            if one != two {
                world.pass_of(&mut run, pass(one, two));
                world.finish(0);
            }
        }
        driver.below().gate.store(0, Ordering::Release);
        waits.join().unwrap().unwrap();
    });
}
