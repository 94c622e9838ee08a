//! Tests of streams that are destroyed, or whose handles are given to other code, by another thread in the middle of a pass,
//! too.

use std::thread;

use super::SEEDS;
use super::world::{World, mixed, two_kernels};
use crate::driver::{DeviceId, Driver, StreamFlags, StreamOptions};

/// Makes passes in which the only call of stream 1 is a wait for stream 2.
fn waits_beside(world: &mut World) {
    for _ in 0..6 {
        world.mix(2, 2, 2, 7);
        world.record(2, 2);
        world.pass(waits);
    }
    (0..3).for_each(|stream| world.finish(stream));
}

fn waits(world: &World) {
    two_kernels(world);
    world.wait(1, 2);
}

#[test]
fn a_wait_of_a_stream_that_other_code_got_is_sent() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        waits_beside(&mut world);
        let stream = world.streams[1];
        // SAFETY: the stream is live.
        unsafe { world.driver.observer().hand_out(stream) };
        let before = world.now(2);
        world.mix(2, 2, 2, 7);
        world.record(2, 2);
        world.pass(waits);
        // The code that got the handle waits for the stream.
        // SAFETY: the stream is live.
        unsafe { world.driver.below().synchronize_stream(stream) }.unwrap();
        assert_eq!(world.now(2), mixed(before, before, 7), "seed {seed}");
        world.finish(0);
    }
}

#[test]
fn a_wait_of_a_new_stream_with_the_same_handle_is_sent() {
    let mut reused = 0;
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        waits_beside(&mut world);
        let stream = world.streams[1];
        // SAFETY: nothing uses the stream any more.
        unsafe { world.driver.destroy_stream(stream) }.unwrap();
        let options = StreamOptions { flags: StreamFlags::Blocking, ..StreamOptions::default() };
        world.streams[1] = world.driver.create_stream(DeviceId(0), options).unwrap();
        if world.streams[1] == stream {
            reused += 1;
            let before = world.replayed();
            world.pass(waits);
            assert_eq!(world.replayed(), before, "seed {seed}");
        }
    }
    assert!(reused > 0);
}

#[test]
fn a_pass_whose_stream_another_thread_hands_out_makes_no_graph() {
    let mut world = World::new(0, None);
    world.pass(two_kernels);
    world.pass(|world| {
        two_kernels(world);
        // SAFETY: the stream is live.
        let hands_out = || unsafe { world.driver.observer().hand_out(world.streams[0]) };
        thread::scope(|scope| scope.spawn(hands_out).join().unwrap());
    });
    (0..3).for_each(|_| world.pass(two_kernels));
    assert_eq!(world.replayed(), 0, "{}", world.report());
}
