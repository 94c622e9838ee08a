//! Each rule of the module: without it, a program here computes something else, or two traces are taken for equal. With
//! all rules, every seed of the simulator gives the right data.
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

/// The seeds under which each program runs. The simulator has all its policies among them.
const SEEDS: u64 = 48;

/// Runs a program that returns whether its data is right: with all rules under each seed, and without one, where it must
/// be wrong under a seed.
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
