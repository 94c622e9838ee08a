//! Tests of green contexts, and of the times between events.

use super::*;
use crate::driver::{Coscheduling, GreenContext};

fn divide(driver: &HostDriver, sizes: &[u32]) -> DriverResult<Vec<u32>> {
    let made = driver.create_green_contexts(DEVICE, Coscheduling::Kept, sizes)?;
    Ok(made.into_iter().map(GreenContext::multiprocessors).collect())
}

#[test]
fn the_remaining_multiprocessors_are_the_last_partition() {
    let driver = HostDriver::builder().build();
    assert_eq!(divide(&driver, &[]), Ok(vec![32]));
    assert_eq!(divide(&driver, &[8, 16]), Ok(vec![8, 16, 8]));
    assert_eq!(divide(&driver, &[16, 16]), Ok(vec![16, 16]));
    for sizes in [&[4][..], &[12], &[0], &[40], &[16, 24], &[u32::MAX, 8]] {
        assert!(divide(&driver, sizes).is_err(), "{sizes:?}");
    }
    let small = driver.sm_sizes(DEVICE, Coscheduling::Ignored).unwrap();
    assert!(small.is_legal(4) && small.is_legal(12) && !small.is_legal(6), "{small:?}");
}

/// On CUDA, too, a stream of a green context must be non-blocking.
#[test]
fn streams_of_green_contexts_do_not_block() {
    let driver = HostDriver::builder().devices(2).build();
    let green = driver.create_green_contexts(DEVICE, Coscheduling::Kept, &[8]).unwrap()[0];
    let create = |device, flags, green| {
        let options = StreamOptions { flags, priority: 0, green: Some(green) };
        driver.create_stream(device, options)
    };
    assert!(create(DEVICE, StreamFlags::NonBlocking, green).is_ok());
    let blocking = create(DEVICE, StreamFlags::Blocking, green).unwrap_err().to_string();
    assert!(blocking.contains("non-blocking"), "{blocking}");
    assert!(create(DeviceId(1), StreamFlags::NonBlocking, green).is_err());
    let unknown = GreenContext { index: 9, ..green };
    assert!(create(DEVICE, StreamFlags::NonBlocking, unknown).is_err());
}

#[test]
fn times_need_complete_records() {
    let bench = Bench::new(Policy::Lazy, 0);
    let stream = bench.stream();
    let data = bench.buffer(stream);
    let [start, end, never] = [(); 3].map(|()| bench.driver.create_timing_event(DEVICE).unwrap());
    unsafe {
        bench.driver.record_event(start, stream).unwrap();
        bench.driver.fill(stream, data, 1).unwrap();
        bench.driver.record_event(end, stream).unwrap();
        let early = bench.driver.elapsed(start, end).unwrap_err().to_string();
        assert!(early.contains("not complete"), "{early}");
        bench.driver.synchronize_stream(stream).unwrap();
        let time = bench.driver.elapsed(start, end).unwrap();
        assert!(time > 0.0 && bench.driver.elapsed(end, start).unwrap() == -time);
        assert!(bench.driver.elapsed(start, never).is_err());
        let plain = bench.driver.create_event(DEVICE).unwrap();
        bench.driver.record_event(plain, stream).unwrap();
        bench.driver.synchronize_stream(stream).unwrap();
        let untimed = bench.driver.elapsed(start, plain).unwrap_err().to_string();
        assert!(untimed.contains("has no timing"), "{untimed}");
    }
}

/// Work behind a wait begins, in simulated time, when the record is complete, even if its own stream was free earlier.
#[test]
fn work_behind_a_wait_begins_after_the_record() {
    let bench = Bench::new(Policy::Eager, 0);
    let [producer, consumer] = [(); 2].map(|()| bench.stream());
    let data = bench.buffer(producer);
    let [start, made, done] = [(); 3].map(|()| bench.driver.create_timing_event(DEVICE).unwrap());
    unsafe {
        bench.driver.record_event(start, producer).unwrap();
        (0..10).for_each(|_| bench.driver.fill(producer, data, 1).unwrap());
        bench.driver.record_event(made, producer).unwrap();
        bench.driver.wait_event(consumer, made).unwrap();
        bench.driver.record_event(done, consumer).unwrap();
        bench.driver.synchronize_stream(consumer).unwrap();
        let (to_made, to_done) = (
            bench.driver.elapsed(start, made).unwrap(),
            bench.driver.elapsed(start, done).unwrap(),
        );
        assert!(to_made > 0.0);
        assert_eq!(to_done, to_made);
    }
}
