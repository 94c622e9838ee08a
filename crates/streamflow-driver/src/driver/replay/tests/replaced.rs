//! Tests of which lane a new one replaces.

use std::sync::atomic::Ordering;

use super::world::World;
use crate::driver::replay::lane::MOST;

/// The number of rotations of buffers, larger than the number of lanes.
const ROTATIONS: usize = MOST + 8;

/// Makes a pass for each rotation. Each rotation uses a different ordered pair of cells.
fn rotate(world: &mut World, finish: bool) {
    let pairs = (0..64).map(|index| (index % 8, index / 8)).filter(|(one, two)| one != two);
    for (one, two) in pairs.take(ROTATIONS) {
        world.pass(|world| {
            world.mix(0, one, two, 1);
            world.mix(0, two, one, 1);
        });
        if finish {
            world.finish(0);
        }
    }
}

fn graphs(world: &World) -> u64 {
    world.driver.below().graphs.load(Ordering::Relaxed)
}

/// With more rotations than lanes, replacing the oldest lane each time would make a graph for each rotation in each round,
/// and launch none of them.
#[test]
fn a_lane_that_is_launched_now_and_then_is_not_replaced() {
    let mut world = World::new(0, None);
    (0..4).for_each(|_| rotate(&mut world, true));
    assert_eq!(graphs(&world), MOST as u64, "{}", world.report());
}

/// A lane with unfinished work is not replaced: destroying the lane would wait for the work, with the state locked.
#[test]
fn a_lane_with_work_on_the_device_is_not_replaced() {
    let mut world = World::new(0, None);
    world.run.set_eager();
    world.driver.below().is_behind.store(true, Ordering::Relaxed);
    rotate(&mut world, false);
    assert_eq!(graphs(&world), MOST as u64, "{}", world.report());
    world.finish(0);
    world.driver.below().is_behind.store(false, Ordering::Relaxed);
    rotate(&mut world, false);
    assert!(graphs(&world) > MOST as u64, "{}", world.report());
}
