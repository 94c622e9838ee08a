//! Tests that a call on one device gets its own device bound again, after it has caused held-back calls of another device to
//! be sent.

use std::sync::Arc;

use crate::driver::host::HostDriver;
use crate::driver::replay::ReplayRun;
use crate::driver::replay::{Replaying, Replays};
use crate::driver::{
    DeviceId, Driver, DriverResult, MemorySource, RawEvent, RawStream, StreamOptions,
};

/// Fills memory of device 0 in passes. The last pass makes `call` with an event and the default stream of device 1. The
/// handle of a default stream is right only while its device is bound.
fn beside(call: fn(&dyn Driver, RawEvent, RawStream) -> DriverResult<()>) -> DriverResult<()> {
    let [own, other] = [DeviceId(0), DeviceId(1)];
    let driver = Arc::new(Replaying::new(HostDriver::builder().devices(2).build()));
    let mut run = ReplayRun::new(["node".into()].into_iter());
    driver.bind(own)?;
    let stream = driver.create_stream(own, StreamOptions::default())?;
    // SAFETY: the stream is live.
    let range = unsafe { driver.allocate(stream, 64, MemorySource::Unused) }?;
    driver.bind(other)?;
    let event = driver.create_event(other)?;
    let mut called = Ok(());
    for pass in 0..6 {
        driver.bind(own)?;
        driver.begin(&mut run);
        for byte in [1, 2] {
            // SAFETY: the stream is live, and the memory lives as long as the driver.
            unsafe { driver.fill(stream, range, byte) }?;
        }
        if pass == 5 {
            driver.bind(other)?;
            called = call(&*driver, event, driver.default_stream(other));
        }
        driver.end(&mut run)?;
    }
    assert!(run.report().replayed > 0, "{}", run.report());
    called
}

#[test]
fn a_call_of_another_device_has_its_device_bound() {
    // SAFETY: the event is live.
    beside(|driver, event, stream| unsafe { driver.record_event(event, stream) }).unwrap();
    // SAFETY: the event is live.
    beside(|driver, event, stream| unsafe { driver.wait_event(stream, event) }).unwrap();
    // SAFETY: the stream is a default stream, which is always live.
    beside(|driver, _, stream| unsafe { driver.synchronize_stream(stream) }).unwrap();
}
