//! Tests of calls that are made while no run replays, and while a run begins or ends.

use std::sync::atomic::Ordering;
use std::thread;

use super::probe::{CLOSED, FAILS_QUERY, REACHED};
use super::world::{World, mixed, reads, two_kernels, writes};
use super::{SEEDS, needs};
use crate::driver::host::{HostDriver, Policy};
use crate::driver::replay::{Omission, ReplayRun, Replays};

fn other_run() -> ReplayRun {
    ReplayRun::new(["other".into()].into_iter())
}

/// Returns the content of cells 0 and 1 after `two_kernels` was called so many times.
fn after(times: u64) -> (u64, u64) {
    (0..times).fold((0, 0), |(first, second), _| {
        let first = mixed(first, first, 5);
        (first, mixed(second, first, 1))
    })
}

fn cells(world: &World) -> (u64, u64) {
    (world.now(0), world.now(1))
}

/// Makes the passes of a run, finishes all streams, and ends the run.
fn finished_run(world: &mut World, pass: fn(&World)) {
    (0..5).for_each(|_| world.pass(pass));
    (0..3).for_each(|stream| world.finish(stream));
    world.leave();
    assert!(!world.driver.is_on());
}

/// The launches of a second run must come after the work that was sent since the first run.
#[test]
fn what_is_sent_while_no_run_replays_comes_before_later_launches() {
    needs(Omission::SentMeanwhile, |world| {
        finished_run(world, two_kernels);
        two_kernels(world);
        world.pass(two_kernels);
        world.finish(0);
        cells(world) == after(7)
    });
}

/// Ordering a launch after a stream costs the device a record and a wait. The launch is ordered after a stream of its trace
/// only if that stream has unfinished work.
#[test]
fn the_first_launch_of_a_run_waits_for_no_stream_without_work() {
    let mut world = World::new(0, None);
    let pass = |world: &World| {
        two_kernels(world);
        world.mix(1, 2, 2, 5);
        world.mix(2, 3, 3, 5);
    };
    finished_run(&mut world, pass);
    let waits = |world: &World| world.driver.below().waits.load(Ordering::Relaxed);
    let begins = |world: &mut World| {
        let (before, replayed) = (waits(world), world.replayed());
        world.pass(pass);
        assert_eq!(world.replayed(), replayed + 1, "{}", world.report());
        waits(world) - before
    };
    assert_eq!(begins(&mut world), 0);
    (0..3).for_each(|stream| world.finish(stream));
    world.leave();
    // From here on each query is answered "not yet".
    world.driver.below().is_behind.store(true, Ordering::Relaxed);
    world.mix(1, 2, 2, 5);
    assert_eq!(begins(&mut world), 3, "one for each stream, which may have work");
    assert_eq!(begins(&mut world), 0);
}

/// The event holds a record inside of a launch of the first run, and is then recorded on stream 2. The second run waits for
/// the second record.
#[test]
fn what_is_recorded_while_no_run_replays_is_waited_for() {
    needs(Omission::RecordedMeanwhile, |world| {
        finished_run(world, |world| {
            two_kernels(world);
            world.record(2, 0);
        });
        let before = world.now(0);
        world.mix(2, 2, 2, 7);
        world.record(2, 2);
        world.pass(|world| {
            world.wait(0, 2);
            world.mix(0, 0, 2, 5);
            world.mix(0, 1, 0, 1);
        });
        world.finish(0);
        world.now(0) == mixed(before, mixed(0, 0, 7), 5)
    });
}

/// A thread is inside of a wait that it makes directly, when a run begins. Before the driver below has made the wait, the
/// run launches a graph with work of the waiting stream. The run's next graph relies on the wait.
#[test]
fn a_wait_that_a_run_does_not_see_when_it_begins_comes_before_its_later_launches() {
    for rule in [None, Some(Omission::Meanwhile)] {
        let wrong = (0..SEEDS).filter(|seed| {
            let mut world = World::new(*seed, rule);
            for _ in 0..5 {
                world.pass(writes);
                world.pass(reads);
            }
            finished_run(&mut world, writes);
            let before = world.now(0);
            world.mix(2, 2, 2, 7);
            world.record(2, 2);
            let mut run = other_run();
            let gate = &world.driver.below().wait_gate;
            gate.store(CLOSED, Ordering::Release);
            thread::scope(|scope| {
                let waits = scope.spawn(|| {
                    world.bind();
                    world.wait(1, 2);
                });
                while gate.load(Ordering::Acquire) != REACHED {
                    thread::yield_now();
                }
                world.pass_of(&mut run, writes);
                gate.store(0, Ordering::Release);
                waits.join().unwrap();
            });
            world.pass_of(&mut run, reads);
            assert_eq!(run.report().replayed, 2, "seed {seed}: {}", run.report());
            world.finish(1);
            world.now(0) != mixed(before, mixed(0, 0, 7), 5)
        });
        let wrong = wrong.count();
        assert_eq!(wrong > 0, rule.is_some(), "{rule:?}: wrong data under {wrong} seeds");
    }
}

/// A record inside of a launch is no record of CUDA: a direct wait for its event would wait for nothing, and is right only
/// if the launch is complete.
#[test]
fn calls_are_made_directly_only_when_all_launches_are_complete() {
    let mut later = 0;
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        let recorded = |world: &World| {
            two_kernels(world);
            world.record(0, 0);
        };
        (0..5).for_each(|_| world.pass(recorded));
        // The run ends before the host has waited for its launches.
        world.leave();
        later += u32::from(world.driver.is_on());
        world.wait(1, 0);
        world.mix(1, 2, 1, 3);
        world.finish(1);
        assert_eq!(world.now(2), mixed(0, after(5).1, 3), "seed {seed}");
        // The first submission that finds the launches complete is the last one that makes a query.
        world.finish(0);
        world.mix(1, 2, 1, 3);
        world.finish(1);
        world.mix(1, 2, 1, 3);
        assert!(!world.driver.is_on(), "seed {seed}");
    }
    assert!(later > 0, "each launch is complete at once");
}

/// The device is slow: the launches of the last run are incomplete for a long time.
#[test]
fn submissions_ask_less_and_less_often_for_the_end_of_the_last_run() {
    let mut world = World::on(HostDriver::builder().policy(Policy::Lazy).build(), None);
    (0..5).for_each(|_| world.pass(two_kernels));
    world.leave();
    let queries = || world.driver.below().queries.load(Ordering::Relaxed);
    let before = queries();
    (0..1000).for_each(|_| world.mix(1, 2, 2, 0));
    assert!(world.driver.is_on(), "the launches are complete");
    let asked = queries() - before;
    assert!((1..=11).contains(&asked), "{asked} questions");
    // The launches are known to be complete, so the next submission makes no query. It turns the switch off, and later calls
    // don't go through the state.
    world.finish(0);
    let before = queries();
    world.mix(1, 2, 2, 0);
    assert!(!world.driver.is_on());
    assert_eq!(queries() - before, 0);
}

#[test]
fn calls_are_made_directly_when_the_last_run_has_ended() {
    let mut world = World::new(0, None);
    let mut other = other_run();
    world.pass(two_kernels);
    world.pass_of(&mut other, two_kernels);
    world.finish(0);
    world.leave();
    assert!(world.driver.is_on());
    world.driver.leave(&mut other).unwrap();
    assert!(!world.driver.is_on());
    // Ending the same run a second time changes nothing.
    world.pass(two_kernels);
    world.driver.leave(&mut other).unwrap();
    assert!(world.driver.is_on());
    world.finish(0);
    world.leave();
    assert!(!world.driver.is_on());
}

/// A run stops replaying because none of its passes was replayed. Its later calls are made directly.
#[test]
fn a_run_that_gives_up_replays_no_more() {
    let mut world = World::new(0, None);
    let mut passes = 0;
    while !world.run.is_off() {
        world.pass(|world| world.mix(0, 0, 0, 5));
        world.finish(0);
        passes += 1;
        assert!(passes < 1000);
    }
    world.mix(0, 0, 0, 5);
    world.finish(0);
    assert!(!world.driver.is_on(), "{}", world.report());
}

#[test]
fn a_run_that_ends_in_a_pass_sends_what_is_held_back() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        (0..5).for_each(|_| world.pass(two_kernels));
        world.driver.begin(&mut world.run);
        two_kernels(&world);
        world.leave();
        world.finish(0);
        assert_eq!(cells(&world), after(6), "seed {seed}");
        world.mix(1, 2, 2, 0);
        world.finish(1);
        world.mix(1, 2, 2, 0);
        assert!(!world.driver.is_on(), "seed {seed}");
    }
}

/// The end of a run returns the error of a query that fails. A later call makes the query again.
#[test]
fn a_question_that_fails_is_told_and_asked_again() {
    let mut world = World::new(0, None);
    let fails = |world: &World| world.driver.below().fails.store(FAILS_QUERY, Ordering::Release);
    let ends = |world: &mut World| {
        (0..5).for_each(|_| world.pass(two_kernels));
        fails(world);
        let error = world.driver.leave(&mut world.run).unwrap_err();
        assert!(error.to_string().contains("a test wants it"), "{error}");
        assert!(world.driver.is_on());
    };
    let calls = |world: &World| {
        (0..2).for_each(|stream| world.finish(stream));
        world.mix(1, 2, 2, 0);
    };
    ends(&mut world);
    calls(&world);
    assert!(!world.driver.is_on());
    ends(&mut world);
    // This launch succeeds, though the query that it makes fails. The error is in the log, and no call makes a query again
    // until another run has ended.
    fails(&world);
    world.mix(1, 2, 2, 0);
    assert_eq!(world.driver.below().fails.load(Ordering::Acquire), 0, "nobody has asked");
    calls(&world);
    assert!(world.driver.is_on());
    world.pass(two_kernels);
    world.finish(0);
    world.leave();
    assert!(!world.driver.is_on());
}
