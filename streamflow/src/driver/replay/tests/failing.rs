//! Held-back calls that fail, and a lane for which a thread waits.

use std::sync::atomic::Ordering;
use std::thread;

use super::SEEDS;
use super::probe::{CLOSED, FAILS_RECORD, FAILS_WAIT, REACHED};
use super::world::{World, mixed, two_kernels};
use crate::driver::Driver;
use crate::driver::replay::Omission;

/// Runs a program in which the next call of this kind fails when it is sent, and counts the seeds with wrong data.
fn wrong(rule: Option<Omission>, program: fn(&mut World) -> bool) -> usize {
    (0..SEEDS).filter(|seed| !program(&mut World::new(*seed, rule))).count()
}

/// From now on the calls of a pass are held back.
fn learn(world: &mut World, pass: fn(&World)) {
    (0..5).for_each(|_| world.pass(pass));
    (0..3).for_each(|stream| world.finish(stream));
}

/// A pass whose calls were held back, and of which one fails when all are sent, since another call comes next.
fn fails(world: &mut World, which: u8, pass: fn(&World)) {
    let mut has_failed = false;
    world.run_pass(|world| {
        pass(world);
        world.driver.below().fails.store(which, Ordering::Release);
        // SAFETY: both are live.
        has_failed =
            unsafe { world.driver.record_event(world.events[0], world.streams[0]) }.is_err();
    });
    assert!(has_failed && !world.has_ended_well);
    assert_eq!(world.driver.below().fails.load(Ordering::Acquire), 0, "nothing has failed");
}

/// Stream 1 reads cell 2 after a wait for stream 2, which was held back and fails.
fn after_a_wait(world: &mut World) -> bool {
    let pass = |world: &World| {
        two_kernels(world);
        world.wait(1, 2);
    };
    learn(world, pass);
    world.mix(2, 2, 2, 7);
    world.record(2, 2);
    fails(world, FAILS_WAIT, pass);
    world.mix(1, 3, 2, 0);
    (0..3).for_each(|stream| world.finish(stream));
    world.now(3) == mixed(0, mixed(0, 0, 7), 0)
}

/// Stream 1 reads cell 1 after a wait for a record of stream 0, which was held back and fails.
fn after_a_record(world: &mut World) -> bool {
    let pass = |world: &World| {
        two_kernels(world);
        world.record(2, 0);
    };
    learn(world, pass);
    fails(world, FAILS_RECORD, pass);
    world.wait(1, 2);
    world.mix(1, 3, 1, 0);
    (0..3).for_each(|stream| world.finish(stream));
    world.now(3) == mixed(0, world.now(1), 0)
}

#[test]
fn the_host_waits_in_place_of_a_held_back_wait_or_record_that_fails() {
    for program in [after_a_wait, after_a_record] {
        assert_eq!(wrong(None, program), 0);
        assert!(wrong(Some(Omission::FailedOrders), program) > 0);
    }
}

/// What was to be done before a record was not: the host's wait for the record is an error, until the next pass.
#[test]
fn a_record_behind_a_call_that_failed_is_not_complete() {
    for (rule, is_refused) in [(None, true), (Some(Omission::Spoiled), false)] {
        let mut world = World::new(0, rule);
        let pass = |world: &World| {
            world.mix(0, 0, 0, 5);
            world.record(3, 0);
            world.mix(0, 1, 0, 1);
            world.record(2, 0);
        };
        (0..5).for_each(|_| world.pass(pass));
        fails(&mut world, FAILS_RECORD, pass);
        let ask = |world: &World, event: usize| {
            // SAFETY: a live event.
            let waited = unsafe { world.driver.synchronize_event(world.events[event]) };
            // SAFETY: as above.
            let asked = unsafe { world.driver.query_event(world.events[event]) };
            assert_eq!(waited.is_err(), asked.is_err());
            waited.is_err()
        };
        // Event 3 has the record that failed, and event 2 the one behind it.
        assert_eq!(ask(&world, 2), is_refused);
        world.pass(two_kernels);
        assert!(!ask(&world, 2), "a later pass has begun");
        world.pass(pass);
        assert!(!ask(&world, 2));
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
            // SAFETY: a live event.
            unsafe { driver.synchronize_event(event) }
        });
        while driver.below().gate.load(Ordering::Acquire) != REACHED {
            thread::yield_now();
        }
        let mut run = World::new(0, None).run;
        run.set_eager();
        // More passes than there are lanes.
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
