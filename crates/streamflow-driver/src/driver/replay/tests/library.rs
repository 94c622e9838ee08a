//! Calls of libraries that may be captured: they are replayed, and no other call is taken for one.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::given_back::ADOPTED;
use super::probe::FAILS_CAPTURE;
use super::world::{Cell, World, mixed};
use super::{SEEDS, needs};
use crate::driver::host::HostDriver;
use crate::driver::replay::{Omission, ReplayRun, Replaying, Replays};
use crate::driver::{
    Access, AccessMode, DeviceId, Driver, DriverError, DriverResult, HostArgs, LibraryBody,
    LibraryCall, LibraryCalls, Param, StreamOptions,
};

/// `to = to * 3 + from * 5 + value + plan`, as the kernel `mix` computes it.
fn plan(number: u64) -> LibraryBody {
    let run = move |args: HostArgs<'_>| {
        let [to, from, value] = [0, 1, 2].map(|index| args.params[index].get::<u64>());
        let to = std::ptr::with_exposed_provenance_mut::<u64>(to as usize);
        let from = std::ptr::with_exposed_provenance::<u64>(from as usize);
        // SAFETY: both are live for the call.
        unsafe { to.write(mixed(to.read(), from.read(), value + number)) };
        Ok(())
    };
    // SAFETY: it touches the two cells that its parameters name.
    unsafe { LibraryBody::new("mix", run) }
}

/// The parts of a call beside its plan, values and memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    function: &'static str,
    /// How it uses the memory that it reads.
    from: AccessMode,
    is_captured: bool,
}

pub(super) const CAPTURED: Kind =
    Kind { function: "mix", from: AccessMode::Read, is_captured: true };
const NEVER: Kind = Kind { is_captured: false, ..CAPTURED };

fn try_call(
    world: &World,
    body: &LibraryBody,
    kind: Kind,
    [stream, to, from]: [usize; 3],
    value: u64,
) -> DriverResult<()> {
    queue(world, body, kind, stream, [to, from].map(|cell| world.cells[cell]), value)
}

/// As [`try_call`], with any memory.
pub(super) fn queue(
    world: &World,
    body: &LibraryBody,
    kind: Kind,
    stream: usize,
    [to, from]: [Cell; 2],
    value: u64,
) -> DriverResult<()> {
    let access = |range, mode| Access { range, mode, argument: "", rows: None };
    let call = LibraryCall {
        function: kind.function,
        params: &[Param::new(to.0), Param::new(from.0), Param::new(value)],
        accesses: &[access(to.range(), AccessMode::Write), access(from.range(), kind.from)],
        rows: &[],
        is_captured: kind.is_captured,
        host: body,
        device: &|_| Ok(()),
    };
    // SAFETY: a live stream, and memory that lives as long as the driver.
    unsafe { world.driver.libraries().call_library(world.streams[stream], &call) }
}

fn call(world: &World, body: &LibraryBody, place: [usize; 3], value: u64) {
    try_call(world, body, CAPTURED, place, value).unwrap();
}

/// A kernel on stream 0, a call of a library on stream 1 after it, and a kernel on stream 0 after that.
fn chain(world: &World, body: &LibraryBody, value: u64) {
    world.mix(0, 0, 0, 1);
    world.record(0, 0);
    world.wait(1, 0);
    call(world, body, [1, 1, 0], value);
    world.record(1, 1);
    world.wait(0, 1);
    world.mix(0, 2, 1, 1);
}

/// The cells of `chain` after passes with these values, with the number of the plan in each.
fn after(values: impl IntoIterator<Item = u64>) -> [u64; 3] {
    values.into_iter().fold([0; 3], |[first, second, third], value| {
        let first = mixed(first, first, 1);
        let second = mixed(second, first, value);
        [first, second, mixed(third, second, 1)]
    })
}

fn cells(world: &World) -> [u64; 3] {
    [0, 1, 2].map(|cell| world.now(cell))
}

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
            // The captured call, and the pass.
            let probe = world.driver.below();
            assert_eq!(probe.graphs.load(Ordering::Relaxed), 2, "seed {seed}");
            let destroyed = probe.destroyed.clone();
            drop(world);
            assert_eq!(destroyed.load(Ordering::Relaxed), 2, "seed {seed}");
        }
    }
}

#[test]
fn another_value_is_another_call() {
    needs(Omission::Values, |world| {
        let body = plan(0);
        let values = [7, 7, 7, 7, 9, 7, 9, 9];
        values.iter().for_each(|value| world.pass(|world| chain(world, &body, *value)));
        world.finish(0);
        cells(world) == after(values)
    });
}

#[test]
fn another_plan_is_another_call() {
    needs(Omission::Plans, |world| {
        let bodies = [plan(0), plan(100)];
        let plans = [0, 0, 0, 0, 1, 0, 1, 1];
        plans.iter().for_each(|&plan| world.pass(|world| chain(world, &bodies[plan], 7)));
        world.finish(0);
        cells(world) == after(plans.map(|plan| 7 + 100 * plan as u64))
    });
}

#[test]
fn a_plan_that_takes_the_place_of_a_dropped_one_is_another() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        for number in [0, 100, 200] {
            let body = plan(number);
            (0..4).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        }
        world.finish(0);
        let values = [[7; 4], [107; 4], [207; 4]];
        assert_eq!(cells(&world), after(values.into_iter().flatten()), "seed {seed}");
        assert!(world.replayed() >= 6, "seed {seed}: {}", world.report());
    }
}

#[test]
fn another_function_or_another_access_is_another_call() {
    let mut world = World::new(0, None);
    let body = plan(0);
    let kinds = [
        CAPTURED,
        Kind { function: "other", ..CAPTURED },
        Kind { from: AccessMode::Write, ..CAPTURED },
    ];
    for (kind, graphs) in kinds.into_iter().zip([2, 4, 6]) {
        for _ in 0..3 {
            world.pass(|world| {
                world.mix(0, 0, 0, 1);
                try_call(world, &body, kind, [0, 1, 0], 7).unwrap();
            });
        }
        world.finish(0);
        // Each is captured, and is in a graph of its own.
        assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), graphs, "{kind:?}");
    }
}

#[test]
fn other_memory_is_another_call() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        let body = plan(0);
        (0..5).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        assert!(world.replayed() > 0, "{}", world.report());
        world.pass(|world| {
            world.mix(0, 0, 0, 1);
            world.record(0, 0);
            world.wait(1, 0);
            call(world, &body, [1, 5, 0], 7);
            world.record(1, 1);
            world.wait(0, 1);
            world.mix(0, 2, 1, 1);
        });
        world.finish(0);
        world.finish(1);
        let [first, second, third] = after([7; 5]);
        let first = mixed(first, first, 1);
        assert_eq!(cells(&world), [first, second, mixed(third, second, 1)], "seed {seed}");
        assert_eq!(world.now(5), mixed(0, first, 7), "seed {seed}");
    }
}

/// The value is the number of the pass: no call comes twice, so none is captured.
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

/// Held-back calls are sent by their graphs, after those before them.
#[test]
fn a_held_back_call_is_sent_before_one_that_differs() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        let body = plan(0);
        (0..5).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        let replayed = world.replayed();
        world.pass(|world| {
            world.mix(0, 0, 0, 1);
            world.record(0, 0);
            world.wait(1, 0);
            call(world, &body, [1, 1, 0], 7);
            world.record(1, 1);
            world.wait(0, 1);
            world.mix(0, 3, 1, 1);
        });
        world.finish(0);
        let [first, second, third] = after([7; 5]);
        let first = mixed(first, first, 1);
        let second = mixed(second, first, 7);
        assert_eq!(cells(&world), [first, second, third], "seed {seed}");
        assert_eq!(world.now(3), mixed(0, second, 1), "seed {seed}");
        assert_eq!((replayed > 0, world.replayed()), (true, replayed), "{}", world.report());
    }
}

/// The memory of a library's call orders the graphs that share it.
#[test]
fn graphs_that_share_the_memory_of_a_library_are_in_order() {
    needs(Omission::Conflicts, |world| {
        let body = plan(0);
        let rotations = [[(0, 0), (2, 2)], [(0, 0), (1, 1)], [(1, 1), (3, 3)]];
        let ticks = (0..24).map(|tick: usize| [0, 1, 2, 0, 2, 1][tick % 6]);
        let mut expected = [0; 4];
        for rotation in ticks {
            for (to, from) in rotations[rotation] {
                expected[to] = mixed(expected[to], expected[from], 1 + rotation as u64);
            }
            world.pass(|world| {
                for (to, from) in rotations[rotation] {
                    call(world, &body, [0, to, from], 1 + rotation as u64);
                }
            });
        }
        world.finish(0);
        (0..4).all(|cell| world.now(cell) == expected[cell])
    });
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

/// The call is refused, and nothing of it was queued; the next pass tries again.
#[test]
fn a_capture_that_fails_names_the_function_and_the_operator() {
    for seed in 0..8 {
        let mut world = World::new(seed, None);
        let body = plan(0);
        world.pass(|world| chain(world, &body, 7));
        world.driver.below().fails.store(FAILS_CAPTURE, Ordering::Release);
        let refused = Mutex::new(None);
        world.pass(|world| {
            world.mix(0, 0, 0, 1);
            *refused.lock().unwrap() = try_call(world, &body, CAPTURED, [1, 1, 0], 7).err();
        });
        let refused: Option<DriverError> = refused.into_inner().unwrap();
        let text = refused.unwrap().to_string();
        for part in ["INJECTED", "`mix` of operator `node` could not be captured", "#[replay]"] {
            assert!(text.contains(part), "{text}");
        }
        (0..5).for_each(|_| world.pass(|world| chain(world, &body, 7)));
        world.finish(0);
        assert!(world.replayed() > 0, "{}", world.report());
    }
}

/// Calls that came twice and come no more make way for others.
#[test]
fn captured_calls_that_are_in_no_graph_are_given_back() {
    let mut world = World::new(0, None);
    let body = plan(0);
    let mut second = 0;
    // No pass has the calls of another one, so none becomes a graph.
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

/// Nothing is lost: the call is sent before its graph is destroyed.
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

/// The simulator's graphs own the plans that their bodies are of.
#[test]
fn the_plan_of_a_captured_call_is_dropped_without_a_lock() {
    /// Notes whether it was dropped without (1) or under (2) a lock.
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
        // SAFETY: it touches no memory.
        let body = unsafe { LibraryBody::new("nothing", run) };
        let place = [world.cells[1], Cell(given_back.address)];
        world.pass(|world| {
            (0..2).for_each(|_| queue(world, &body, CAPTURED, 0, place, 7).unwrap());
        });
        world.finish(0);
        drop(body);
        assert_eq!(how.load(Ordering::Relaxed), 0, "the graph owns it");
        (ADOPTED.give_back)(&world, given_back).unwrap();
        // The next work of the device drops it.
        world.mix(0, 0, 0, 1);
        world.finish(0);
        assert_eq!(how.load(Ordering::Relaxed), 1, "seed {seed}");
    }
}

/// The same function, plan and values on another device, without memory.
#[test]
fn a_call_of_another_device_is_another_call() {
    let driver = Arc::new(Replaying::new(HostDriver::builder().devices(2).build()));
    let mut run = ReplayRun::new(["node".into()].into_iter());
    // SAFETY: it touches no memory.
    let body = unsafe { LibraryBody::new("nothing", |_| Ok(())) };
    let call = LibraryCall {
        function: "nothing",
        params: &[Param::new(7_u64)],
        accesses: &[],
        rows: &[],
        is_captured: true,
        host: &body,
        device: &|_| Ok(()),
    };
    // The first pass captures the call for device 0, and becomes no graph.
    for (device, passes) in [(DeviceId(0), 1), (DeviceId(1), 4)] {
        driver.bind(device).unwrap();
        let stream = driver.create_stream(device, StreamOptions::default()).unwrap();
        for _ in 0..passes {
            driver.begin(&mut run);
            for _ in 0..2 {
                // SAFETY: a live stream.
                unsafe { driver.libraries().call_library(stream, &call) }.unwrap();
            }
            driver.end(&mut run).unwrap();
        }
        // SAFETY: as above.
        unsafe { driver.synchronize_stream(stream) }.unwrap();
    }
    assert!(run.report().replayed >= 2, "{}", run.report());
}

/// None of them makes way for a later one of its own pass.
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

/// A pass that is sent anyway has no call captured.
#[test]
fn nothing_is_captured_for_passes_that_are_not_replayed() {
    for is_handed_out in [false, true] {
        let mut world = World::new(0, None);
        let body = plan(0);
        if is_handed_out {
            // SAFETY: a live stream.
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

/// A device needs the bodies alone. A run that replays compares all.
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
