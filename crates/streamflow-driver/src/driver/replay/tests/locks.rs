//! A test of the calls that this library makes under its locks: none of them executes a kernel's body.

use super::world::{World, mixed};
use crate::driver::{DeviceId, Driver, StreamOptions};

#[test]
fn a_call_that_is_made_under_a_lock_executes_no_body() {
    for seed in 0..16 {
        for is_on in [false, true] {
            let mut world = World::new(seed, None);
            if is_on {
                world.pass(|_| {});
            }
            let before = world.now(3);
            let held = crate::lock::hold();
            world.mix(1, 3, 1, 5);
            drop(held);
            let driver = &world.driver;
            let unchanged = |call| assert_eq!(world.now(3), before, "{call}, seed {seed}");
            driver.device_info(DeviceId(0)).unwrap();
            driver.bind(DeviceId(0)).unwrap();
            unchanged("bind");
            let stream = driver.create_stream(DeviceId(0), StreamOptions::default()).unwrap();
            unchanged("create_stream");
            let event = driver.create_event(DeviceId(0)).unwrap();
            unchanged("create_event");
            let timing = driver.create_timing_event(DeviceId(0)).unwrap();
            unchanged("create_timing_event");
            // SAFETY: the handles are live, and each object is destroyed once.
            unsafe {
                driver.record_event(event, world.streams[1]).unwrap();
                unchanged("record_event");
                driver.wait_event(stream, event).unwrap();
                unchanged("wait_event");
                driver.observer().hand_out(stream);
                unchanged("hand_out");
                driver.destroy_event(timing).unwrap();
                unchanged("destroy_event");
                driver.destroy_stream(stream).unwrap();
                unchanged("destroy_stream");
            }
            world.finish(1);
            assert_eq!(world.now(3), mixed(0, world.now(1), 5), "seed {seed}");
        }
    }
}
