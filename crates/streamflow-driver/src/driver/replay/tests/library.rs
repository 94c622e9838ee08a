//! Calls of libraries that may be captured: they are replayed, and no other call is taken for one.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::probe::FAILS_CAPTURE;
use super::world::{World, mixed};
use super::{SEEDS, needs};
use crate::driver::replay::Omission;
use crate::driver::{
    Access, AccessMode, Driver, DriverError, DriverResult, HostArgs, LibraryBody, LibraryCall,
    Param,
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

fn try_call(
    world: &World,
    body: &LibraryBody,
    is_captured: bool,
    [stream, to, from]: [usize; 3],
    value: u64,
) -> DriverResult<()> {
    let [to, from] = [to, from].map(|cell| world.cells[cell]);
    let access = |range, mode| Access { range, mode, argument: "", rows: None };
    let call = LibraryCall {
        function: "mix",
        params: &[Param::new(to.0), Param::new(from.0), Param::new(value)],
        accesses: &[access(to.range(), AccessMode::Write), access(from.range(), AccessMode::Read)],
        rows: &[],
        is_captured,
        host: body,
        device: &|_| Ok(()),
    };
    // SAFETY: a live stream, and memory that lives as long as the driver.
    unsafe { world.driver.libraries().call_library(world.streams[stream], &call) }
}

fn call(world: &World, body: &LibraryBody, place: [usize; 3], value: u64) {
    try_call(world, body, true, place, value).unwrap();
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
            assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), 2, "seed {seed}");
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
                try_call(world, &body, false, [0, 1, 0], 7).unwrap();
                world.mix(0, 2, 1, 1);
            });
        }
        world.finish(0);
        assert_eq!(cells(&world), after([7; 6]), "seed {seed}");
        assert_eq!(world.replayed(), 0);
        assert_eq!(world.driver.below().graphs.load(Ordering::Relaxed), 0);
        let report = world.report().to_string();
        assert!(report.contains("must not be captured, in `node`"), "{report}");
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
            *refused.lock().unwrap() = try_call(world, &body, true, [1, 1, 0], 7).err();
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
        [&probe.graphs, &probe.destroyed].map(|count| count.load(Ordering::Relaxed));
    assert!(made == 400 && made - destroyed <= 256, "{made} made, {destroyed} given back");
}
