//! Tests that a graph's kernels get parameters that change, at each place of the trace and in each order of values.

use super::world::{World, mixed};
use super::{SEEDS, needs};
use crate::driver::replay::Omission;

/// The content of the two cells of a rotation after passes with these values.
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

/// Two kernels on two streams, in order, in cells of one of three rotations.
fn two(world: &World, rotation: usize, [one, two]: [u64; 2]) {
    let cell = 2 * rotation;
    world.mix(0, cell, cell, one);
    world.record(0, 0);
    world.wait(1, 0);
    world.mix(1, cell + 1, cell, two);
    world.record(1, 1);
    world.wait(0, 1);
}

/// Runs passes with these values in so many rotations. Returns whether the data is right, and nothing was sent late.
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
    // In each rotation the first pass is seen, the second one makes the graph, and all others are replayed.
    let report = world.report();
    assert_eq!(report.replayed, PASSES - 2 * rotations as u64, "{report}");
    (0..rotations).all(|rotation| Pair::of(world, rotation) == expected[rotation])
}

#[test]
fn parameters_that_change_are_set() {
    // Values change in one node, in all, back and forth, rarely, and in no order.
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
    // The graph's node has the value 5. The first pass sets 6, the third sets 5 again, and the others set nothing.
    for value in [6, 6, 5, 5] {
        world.pass(|world| two(world, 0, [value, 6]));
    }
    assert_eq!(world.report().changed, 2);
}

/// Calls that are sent have the parameters that they were asked for with, and a graph that was passed over gets its own.
#[test]
fn parameters_of_a_segment_that_is_sent_are_its_own() {
    needs(Omission::Parameters, |world| {
        let (mut expected, mut third) = (Pair::default(), 0);
        for pass in 0..30 {
            let values = [pass, pass / 2];
            world.pass(|world| {
                two(world, 0, values);
                if pass % 10 == 9 {
                    // No trace has this call.
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

/// Two traces begin with equal calls. When a pass goes on with the trace that was not expected, that trace takes over the
/// parameters and the events of these calls.
#[test]
fn another_trace_with_the_same_begin_takes_over_parameters_and_events() {
    needs(Omission::TakenOver, |world| {
        let (mut expected, mut last) = (Pair::default(), [0; 2]);
        let mut number = 0_usize;
        // In no order, so that the other trace is expected in some passes.
        for pass in 0..60_u64 {
            let which = (pass * pass / 3 % 2) as usize;
            let values = [pass, pass + 1];
            world.pass(|world| {
                // The ring's events go round, too.
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
