//! Tests that a graph's kernels get changed parameters, at each index of the trace and for values that change in different
//! ways.

use super::world::{World, mixed};
use super::{SEEDS, needs};
use crate::driver::replay::Omission;

/// The content of the two cells of a rotation of buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pair(u64, u64);

impl Pair {
    fn after(self, [one, two]: [u64; 2]) -> Self {
        let first = mixed(self.0, self.0, one);
        Self(first, mixed(self.1, first, two))
    }

    fn of(world: &World, rotation: usize) -> Self {
        Self(world.now(2 * rotation), world.now(2 * rotation + 1))
    }
}

/// Launches two kernels on two streams, one after the other, on the cells of one of three rotations.
fn two(world: &World, rotation: usize, [one, two]: [u64; 2]) {
    let cell = 2 * rotation;
    world.mix(0, cell, cell, one);
    world.record(0, 0);
    world.wait(1, 0);
    world.mix(1, cell + 1, cell, two);
    world.record(1, 1);
    world.wait(0, 1);
}

/// Makes passes with these values in `rotations` rotations of buffers. Returns whether the data is right, and asserts how
/// many passes were replayed.
fn run(world: &mut World, rotations: usize, values: impl Fn(u64) -> [u64; 2]) -> bool {
    const PASSES: u64 = 40;
    let mut expected = [Pair::default(); 3];
    for pass in 0..PASSES {
        let rotation = pass as usize % rotations;
        expected[rotation] = expected[rotation].after(values(pass));
        world.pass(|world| two(world, rotation, values(pass)));
    }
    world.finish(0);
    world.finish(1);
    // In each rotation the first pass is remembered, the second one makes the graph, and all later ones are replayed.
    let report = world.report();
    assert_eq!(report.replayed, PASSES - 2 * rotations as u64, "{report}");
    (0..rotations).all(|rotation| Pair::of(world, rotation) == expected[rotation])
}

#[test]
fn parameters_that_change_are_set() {
    // The values change in one kernel, in both, between two numbers, rarely, or without a pattern.
    let kinds: [fn(u64) -> [u64; 2]; 5] = [
        |pass| [pass, 3],
        |pass| [pass, pass * 7 + 1],
        |pass| [pass % 2, pass / 3 % 2],
        |pass| [4, u64::from(pass % 11 == 0)],
        |pass| [pass * 2_654_435_761 % 97, pass * 40_503 % 89],
    ];
    for values in kinds {
        for rotations in 1..=3 {
            for seed in 0..SEEDS / 4 {
                let mut world = World::new(seed, None);
                assert!(run(&mut world, rotations, values), "{rotations} rotations, seed {seed}");
                let report = world.report();
                assert!(report.changed > 0 && report.changed <= report.replayed, "{report}");
                let mut without = World::new(seed, Some(Omission::Parameters));
                assert!(!run(&mut without, rotations, values), "right data without, seed {seed}");
            }
        }
    }
}

#[test]
fn equal_parameters_are_not_set() {
    let mut world = World::new(0, None);
    assert!(run(&mut world, 2, |_| [5, 6]));
    assert_eq!(world.report().changed, 0);
    // The graph's node has the value 5. The first pass sets 6, the third pass sets 5 again, and the other two set nothing.
    for value in [6, 6, 5, 5] {
        world.pass(|world| two(world, 0, [value, 6]));
    }
    assert_eq!(world.report().changed, 2);
}

/// Calls that are sent have the parameters of the program's calls. A graph that was followed but not launched gets its own
/// parameters in a later pass.
#[test]
fn parameters_of_a_segment_that_is_sent_are_its_own() {
    needs(Omission::Parameters, |world| {
        let (mut expected, mut third) = (Pair::default(), 0);
        for pass in 0..30 {
            let values = [pass, pass / 2];
            world.pass(|world| {
                two(world, 0, values);
                if pass % 10 == 9 {
                    // No trace contains this call, so the pass is sent.
                    world.mix(1, 4, 0, pass);
                    world.record(1, 1);
                    world.wait(0, 1);
                }
            });
            expected = expected.after(values);
            if pass % 10 == 9 {
                third = mixed(third, expected.0, pass);
            }
        }
        world.finish(0);
        world.finish(1);
        Pair::of(world, 0) == expected && world.now(4) == third
    });
}

/// Two traces begin with equal calls. If a pass goes on with the trace that was not expected, that trace gets the parameters
/// and the events of these calls.
#[test]
fn another_trace_with_the_same_begin_takes_over_parameters_and_events() {
    needs(Omission::TakenOver, |world| {
        let (mut expected, mut last) = (Pair::default(), [0; 2]);
        let mut number = 0_usize;
        // The traces alternate without a pattern, so in some passes the other trace is expected.
        for pass in 0..60_u64 {
            let which = (pass * pass / 3 % 2) as usize;
            let values = [pass, pass + 1];
            world.pass(|world| {
                // The events of the ring are used in turn, too.
                let mut event = || {
                    number += 1;
                    number % 4
                };
                let (a, b) = (event(), event());
                world.mix(0, 0, 0, values[0]);
                world.record(a, 0);
                world.wait(1, a);
                world.mix(1, 1, 0, values[1]);
                world.mix(1, 4 + which, 1, pass);
                world.record(b, 1);
                world.wait(0, b);
            });
            expected = expected.after(values);
            last[which] = mixed(last[which], expected.1, pass);
            if pass % 7 == 0 {
                world.wait(2, number % 4);
                world.mix(2, 6, 4 + which, 0);
                world.record(3, 2);
                world.wait(0, 3);
                world.wait(1, 3);
            }
        }
        world.finish(0);
        world.finish(1);
        Pair::of(world, 0) == expected && [world.now(4), world.now(5)] == last
    });
}
