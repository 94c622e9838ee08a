//! Tests of the captures of library calls: when a call is captured, what is captured, and when the graph is destroyed.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::SEEDS;
use super::given_back::ADOPTED;
use super::library::{CAPTURED, NEVER, after, call, cells, chain, plan, queue, try_call};
use super::probe::{FAILS_CAPTURE, FAILS_LAST_CAPTURE};
use super::world::{Cell, World, mixed};
use crate::driver::{Driver, DriverError, HostArgs, LibraryBody, LibraryCalls};

#[test]
fn a_call_is_captured_once_and_replayed() {
    for is_eager in [false, true] {
        for seed in 0..SEEDS {
            let mut world = World::new(seed, None);
            if is_eager {
                world.run.set_eager();
            }
            let body = plan(0);
            (0..9).for_each(|_| world.pass(|world| chain(world, &body, 7)));
            world.finish(0);
            assert_eq!(cells(&world), after([7; 9]), "seed {seed}");
            let replayed = if is_eager { 9 } else { 7 };
            assert_eq!(world.replayed(), replayed, "seed {seed}: {}", world.report());
            // One graph is that of the captured call, the other one is that of the pass.
            let probe = world.driver.below();
            assert_eq!(probe.graphs.load(Ordering::Relaxed), 2, "seed {seed}");
            let destroyed = probe.destroyed.clone();
            drop(world);
            assert_eq!(destroyed.load(Ordering::Relaxed), 2, "seed {seed}");
        }
    }
}

/// Each pass makes its calls with the number of the pass as the value. So no call occurs twice, and none is captured.
#[test]
fn a_call_whose_value_changes_in_each_pass_is_sent() {
    for seed in 0..8 {
        let mut world = World::new(seed, None);
        let body = plan(0);
        (0..600).for_each(|value| world.pass(|world| chain(world, &body, value)));
        world.finish(0);
        assert_eq!(cells(&world), after(0..600), "seed {seed}");
        assert_eq!(world.replayed(), 0, "{}", world.report());
        assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_call_that_may_not_be_captured_is_not() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        let body = plan(0);
        for _ in 0..6 {
            world.pass(|world| {
                world.mix(0, 0, 0, 1);
                try_call(world, &body, NEVER, [0, 1, 0], 7).unwrap();
                world.mix(0, 2, 1, 1);
            });
        }
        world.finish(0);
        assert_eq!(cells(&world), after([7; 6]), "seed {seed}");
        assert_eq!(world.replayed(), 0);
        assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), 0);
        let report = world.report().to_string();
        assert!(report.contains("may not be captured, in `node`"), "{report}");
    }
}

/// In a pass whose calls are sent anyway, no call is captured.
#[test]
fn nothing_is_captured_for_passes_that_are_not_replayed() {
    for is_handed_out in [false, true] {
        let mut world = World::new(0, None);
        let body = plan(0);
        if is_handed_out {
            // SAFETY: the stream is live.
            unsafe { world.driver.observer().hand_out(world.streams[0]) };
        }
        for _ in 0..4 {
            world.pass(|world| {
                if !is_handed_out {
                    try_call(world, &body, NEVER, [0, 0, 0], 7).unwrap();
                }
                call(world, &body, [0, 1, 2], 7);
            });
        }
        world.finish(0);
        assert_eq!(world.now(1), (0..4).fold(0, |to, _| mixed(to, 0, 7)), "{is_handed_out}");
        assert_eq!(world.replayed(), 0, "{}", world.report());
        assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), 0, "{is_handed_out}");
    }
}

/// Makes `failures + 1` passes with a library call, and makes each capture of the call fail. The first pass tries no
/// capture. Returns whether the last pass tried one.
fn fail_captures(world: &mut World, body: &LibraryBody, failures: u32) -> bool {
    for _ in 0..=failures {
        world.driver.below().fails.store(FAILS_CAPTURE, Ordering::Release);
        world.pass(|world| chain(world, body, 7));
    }
    world.driver.below().fails.swap(0, Ordering::AcqRel) == 0
}

/// A call with too many failed captures stays known when other calls are removed, so that it is not captured again.
#[test]
fn a_call_that_is_given_up_stays_so_beside_many_others() {
    let mut world = World::new(0, None);
    let body = plan(0);
    assert!(!fail_captures(&mut world, &body, 4), "it was tried a fourth time");
    for pass in 10..40_u64 {
        let values = (10 * pass..10 * pass + 10).flat_map(|value| [value; 2]);
        world.pass(|world| values.for_each(|value| call(world, &body, [0, 1, 0], value)));
    }
    assert!(!fail_captures(&mut world, &body, 1), "it was tried again");
    world.finish(0);
}

/// A capture fails when another thread waits for the whole device. Such an error does not mean that the call is wrong.
#[test]
fn a_call_whose_capture_fails_is_sent_once_and_captured_later() {
    for seed in 0..8 {
        let mut world = World::new(seed, None);
        let body = plan(0);
        assert!(fail_captures(&mut world, &body, 2), "seed {seed}");
        (0..5).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        world.finish(0);
        assert_eq!(cells(&world), after([7; 8]), "seed {seed}");
        assert!(world.replayed() > 0, "{}", world.report());
        let report = world.report().to_string();
        assert!(
            report.contains("could not be captured; the log has the error, in `node`"),
            "{report}"
        );
    }
}

#[test]
fn a_call_whose_captures_fail_again_and_again_is_sent_from_then_on() {
    for seed in 0..8 {
        let mut world = World::new(seed, None);
        let body = plan(0);
        assert!(!fail_captures(&mut world, &body, 4), "it was tried a fourth time, seed {seed}");
        (0..3).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        world.finish(0);
        assert_eq!(cells(&world), after([7; 8]), "seed {seed}");
        assert_eq!(world.replayed(), 0, "{}", world.report());
    }
}

/// A lost device executes nothing, so the program's call returns the error of its capture.
#[test]
fn a_capture_that_loses_the_device_is_an_error_of_the_call() {
    let mut world = World::new(0, None);
    let body = plan(0);
    world.pass(|world| chain(world, &body, 7));
    world.driver.below().fails.store(FAILS_LAST_CAPTURE, Ordering::Release);
    let refused = Mutex::new(None);
    world.run_pass(|world| {
        world.mix(0, 0, 0, 1);
        *refused.lock().unwrap() = try_call(world, &body, CAPTURED, [1, 1, 0], 7).err();
    });
    let refused: Option<DriverError> = refused.into_inner().unwrap();
    let text = refused.unwrap().to_string();
    for part in ["INJECTED", "`mix` of operator `node` could not be captured"] {
        assert!(text.contains(part), "{text}");
    }
}

/// Calls that have occurred twice and don't occur again are removed to make room for others, and their graphs are destroyed.
#[test]
fn captured_calls_that_are_in_no_graph_are_given_back() {
    let mut world = World::new(0, None);
    let body = plan(0);
    let mut second = 0;
    // No two passes have the same calls, so no pass becomes a graph.
    for pass in 0..100_u64 {
        world.pass(|world| {
            for value in (4 * pass..4 * pass + 4).flat_map(|value| [value; 2]) {
                call(world, &body, [0, 1, 0], value);
                second = mixed(second, 0, value);
            }
        });
    }
    world.finish(0);
    assert_eq!(world.now(1), second);
    let probe = world.driver.below();
    let [made, destroyed] =
        [&probe.graphs, &*probe.destroyed].map(|count| count.load(Ordering::Relaxed));
    assert!(made == 400 && made - destroyed <= 256, "{made} made, {destroyed} given back");
}

/// A call of the current pass is not removed to make room for a later call of that pass.
#[test]
fn a_pass_may_have_more_calls_than_are_kept_of_others() {
    for is_eager in [false, true] {
        let mut world = World::new(0, None);
        if is_eager {
            world.run.set_eager();
        }
        let body = plan(0);
        let values = || (0..4).flat_map(|_| 0..300);
        for _ in 0..4 {
            world.pass(|world| (0..300).for_each(|value| call(world, &body, [0, 1, 0], value)));
        }
        world.finish(0);
        assert_eq!(world.now(1), values().fold(0, |to, value| mixed(to, 0, value)), "{is_eager}");
        assert_eq!(world.replayed(), if is_eager { 4 } else { 2 }, "{}", world.report());
    }
}

/// The held-back call is sent before its captured graph is destroyed.
#[test]
fn a_gathered_call_whose_memory_another_thread_gives_back_is_sent() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        world.run.set_eager();
        let body = plan(0);
        let given_back = (ADOPTED.make)(&world);
        world.pass(|world| {
            world.mix(0, 0, 0, 1);
            let from = Cell(given_back.address);
            queue(world, &body, CAPTURED, 0, [world.cells[1], from], 7).unwrap();
            let other = || {
                world.bind();
                (ADOPTED.give_back)(world, given_back).unwrap();
            };
            thread::scope(|scope| scope.spawn(other).join().unwrap());
            world.mix(0, 2, 1, 1);
        });
        world.finish(0);
        let second = mixed(0, 0, 7);
        assert_eq!(cells(&world), [mixed(0, 0, 1), second, mixed(0, second, 1)], "seed {seed}");
        assert_eq!(world.driver.below().destroyed.load(Ordering::Relaxed), 1);
    }
}

/// A graph of the simulator owns the plans of the bodies in it.
#[test]
fn the_plan_of_a_captured_call_is_dropped_without_a_lock() {
    /// A value in the plan, which notes whether it was dropped without a lock (1) or under a lock (2).
    struct Noted(Arc<AtomicU8>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.store(1 + u8::from(crate::lock::is_held()), Ordering::Relaxed);
        }
    }
    for seed in 0..8 {
        let mut world = World::new(seed, None);
        let given_back = (ADOPTED.make)(&world);
        let how = Arc::new(AtomicU8::new(0));
        let noted = Noted(how.clone());
        let run = move |_: HostArgs<'_>| {
            let _owned = &noted;
            Ok(())
        };
        // SAFETY: the body touches no memory.
        let body = unsafe { LibraryBody::new("nothing", run) };
        let place = [world.cells[1], Cell(given_back.address)];
        world.pass(|world| {
            (0..2).for_each(|_| queue(world, &body, CAPTURED, 0, place, 7).unwrap());
        });
        world.finish(0);
        drop(body);
        assert_eq!(how.load(Ordering::Relaxed), 0, "the graph owns it");
        (ADOPTED.give_back)(&world, given_back).unwrap();
        // The next work of the device drops the plan.
        world.mix(0, 0, 0, 1);
        world.finish(0);
        assert_eq!(how.load(Ordering::Relaxed), 1, "seed {seed}");
    }
}

/// A driver for a device needs only the body of a library's call. While a run replays, all parts of the call are compared,
/// so all must be passed.
#[test]
fn a_call_has_all_parts_while_a_run_replays() {
    let mut world = World::new(0, None);
    let driver = world.driver.clone();
    let needed = move || driver.libraries().library_calls();
    assert_eq!(needed(), LibraryCalls::Body);
    world.pass(|_| assert_eq!(needed(), LibraryCalls::Whole));
    world.leave();
    assert_eq!(needed(), LibraryCalls::Body);
}
