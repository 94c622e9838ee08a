//! Tests of library calls that may be captured: which ones count as equal, and their order. The tests of when they are
//! captured are in `captured`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::world::{Cell, World, mixed};
use super::{SEEDS, needs};
use crate::driver::host::HostDriver;
use crate::driver::replay::{Omission, ReplayRun, Replaying, Replays};
use crate::driver::{
    Access, AccessMode, DeviceId, Driver, DriverResult, HostArgs, LibraryBody, LibraryCall, Param,
    StreamOptions,
};

/// Returns the plan `number`: a body that computes `to = to * 3 + from * 5 + value + number`, as the kernel `mix` does
/// without `number`.
pub(super) fn plan(number: u64) -> LibraryBody {
    let run = move |args: HostArgs<'_>| {
        let [to, from, value] = [0, 1, 2].map(|index| args.params[index].get::<u64>());
        let to = std::ptr::with_exposed_provenance_mut::<u64>(to as usize);
        let from = std::ptr::with_exposed_provenance::<u64>(from as usize);
        // SAFETY: both numbers are live for the call.
        unsafe { to.write(mixed(to.read(), from.read(), value + number)) };
        Ok(())
    };
    // SAFETY: the body touches the two cells that its parameters name.
    unsafe { LibraryBody::new("mix", run) }
}

/// The parts of a library call other than its plan, values and memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    function: &'static str,
    /// The mode of the access to the memory `from`.
    from: AccessMode,
    is_captured: bool,
}

pub(super) const CAPTURED: Kind =
    Kind { function: "mix", from: AccessMode::Read, is_captured: true };
pub(super) const NEVER: Kind = Kind { is_captured: false, ..CAPTURED };

pub(super) fn try_call(
    world: &World,
    body: &LibraryBody,
    kind: Kind,
    [stream, to, from]: [usize; 3],
    value: u64,
) -> DriverResult<()> {
    queue(world, body, kind, stream, [to, from].map(|cell| world.cells[cell]), value)
}

/// As [`try_call`], for any two numbers in memory.
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
    // SAFETY: the stream is live, and the memory lives as long as the driver.
    unsafe { world.driver.libraries().call_library(world.streams[stream], &call) }
}

pub(super) fn call(world: &World, body: &LibraryBody, place: [usize; 3], value: u64) {
    try_call(world, body, CAPTURED, place, value).unwrap();
}

/// Launches a kernel on stream 0, then makes a library call on stream 1, and then launches a kernel on stream 0, each after
/// the one before.
pub(super) fn chain(world: &World, body: &LibraryBody, value: u64) {
    world.mix(0, 0, 0, 1);
    world.record(0, 0);
    world.wait(1, 0);
    call(world, body, [1, 1, 0], value);
    world.record(1, 1);
    world.wait(0, 1);
    world.mix(0, 2, 1, 1);
}

/// Returns the content of the cells after passes of `chain` with these values, each value increased by the number of the
/// plan.
pub(super) fn after(values: impl IntoIterator<Item = u64>) -> [u64; 3] {
    values.into_iter().fold([0; 3], |[first, second, third], value| {
        let first = mixed(first, first, 1);
        let second = mixed(second, first, value);
        [first, second, mixed(third, second, 1)]
    })
}

pub(super) fn cells(world: &World) -> [u64; 3] {
    [0, 1, 2].map(|cell| world.now(cell))
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
        // Each of the calls is captured, and each is in a graph of its own.
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

/// A held-back call is sent as a launch of its captured graph, after the calls before it.
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

/// Launches of graphs are ordered by the memory that a library call in them accesses.
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

/// A library call has the same function, plan and values on two devices, and accesses no memory.
#[test]
fn a_call_of_another_device_is_another_call() {
    let driver = Arc::new(Replaying::new(HostDriver::builder().devices(2).build()));
    let mut run = ReplayRun::new(["node".into()].into_iter());
    // SAFETY: the body touches no memory.
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
    // The one pass on the first device captures the call for device 0, and becomes no graph.
    for (device, passes) in [(DeviceId(0), 1), (DeviceId(1), 4)] {
        driver.bind(device).unwrap();
        let stream = driver.create_stream(device, StreamOptions::default()).unwrap();
        for _ in 0..passes {
            driver.begin(&mut run);
            for _ in 0..2 {
                // SAFETY: the stream is live.
                unsafe { driver.libraries().call_library(stream, &call) }.unwrap();
            }
            driver.end(&mut run).unwrap();
        }
        // SAFETY: the stream is live.
        unsafe { driver.synchronize_stream(stream) }.unwrap();
    }
    assert!(run.report().replayed >= 2, "{}", run.report());
}
