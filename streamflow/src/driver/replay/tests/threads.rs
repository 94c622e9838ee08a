//! Calls of other threads beside a pass.

use std::sync::atomic::Ordering;
use std::thread;

use super::SEEDS;
use super::probe::{CLOSED, REACHED};
use super::world::{World, mixed};

/// A thread is in the middle of a launch on stream 1, which is sent, when a pass launches a graph with work of that stream.
/// The next graph relies on the launch.
#[test]
fn a_call_that_is_made_after_a_launch_of_a_graph_comes_before_the_next_one() {
    let writes = |world: &World| {
        world.mix(1, 4, 4, 5);
        world.mix(1, 5, 4, 1);
    };
    let reads = |world: &World| {
        world.mix(1, 0, 2, 5);
        world.mix(1, 1, 0, 1);
    };
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        for _ in 0..5 {
            world.pass(writes);
            world.pass(reads);
        }
        world.finish(1);
        let mut run = std::mem::take(&mut world.run);
        let before = (run.report().replayed, world.now(0), world.now(2));
        let gate = &world.driver.below().launch_gate;
        gate.store(CLOSED, Ordering::Release);
        thread::scope(|scope| {
            let launches = scope.spawn(|| {
                world.bind();
                world.mix(1, 2, 2, 7);
            });
            while gate.load(Ordering::Acquire) != REACHED {
                thread::yield_now();
            }
            world.pass_of(&mut run, writes);
            gate.store(0, Ordering::Release);
            launches.join().unwrap();
        });
        world.pass_of(&mut run, reads);
        assert_eq!(run.report().replayed, before.0 + 2, "seed {seed}: {}", run.report());
        world.finish(1);
        assert_eq!(world.now(0), mixed(before.1, mixed(before.2, before.2, 7), 5), "seed {seed}");
    }
}
