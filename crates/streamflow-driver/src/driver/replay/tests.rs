//! Tests that each rule of the module is needed: with the rule left out, a program computes wrong data, or two different
//! traces count as equal. With all rules, the data is right under every seed of the simulator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod captured;
mod changed;
mod compared;
mod devices;
mod failing;
mod given_back;
mod handles;
mod library;
mod locks;
mod order;
mod probe;
mod random;
mod replaced;
mod sent;
mod switch;
mod threads;
mod world;

use super::Omission;
use world::World;

/// The number of seeds under which each program runs. These seeds select every policy of the simulator.
const SEEDS: u64 = 48;

/// Runs a program that returns whether its data is right. With all rules the data must be right under every seed. With
/// `rule` left out the data must be wrong under at least one seed.
fn needs(rule: Omission, program: fn(&mut World) -> bool) {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        assert!(program(&mut world), "{rule:?}: wrong data with all rules, seed {seed}");
        assert!(
            world.replayed() > 0,
            "{rule:?}: nothing was replayed, seed {seed}: {}",
            world.report()
        );
    }
    let is_wrong = |seed: &u64| !program(&mut World::new(*seed, Some(rule)));
    let wrong = (0..SEEDS).filter(is_wrong).count();
    assert!(wrong > 0, "{rule:?}: right data without the rule, under all {SEEDS} seeds");
}
