//! Tests of which work the host may regard as complete.

use super::*;
use crate::driver::{Driver, DriverResult, Layer, RawEvent};
use crate::turns::hooks;

#[test]
fn the_host_never_takes_an_old_record_for_complete_too_early() {
    let bench = bench(Policy::Lazy);
    let a = bench.stream();
    let mut data = bench.platform.buffer::<u8>(1, &a).unwrap();
    let mut points = Vec::new();
    for _ in 0..100 {
        a.fill_bytes(&mut data, 1).unwrap();
        points.push(a.record().unwrap());
    }
    for (i, &point) in points.iter().enumerate() {
        let complete = a.table().is_complete(point).unwrap();
        assert!(!complete || bench.fills() > i, "{} fills at record {i}", bench.fills());
    }
    a.table().synchronize(points[99]).unwrap();
    assert_eq!(bench.fills(), 100);
}

#[test]
fn work_that_is_known_to_be_complete_needs_no_wait() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let point = a.record().unwrap();
    a.synchronize_blocking().unwrap();
    bench.records_and_waits();
    b.wait(point).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0));
    // The point's record was not made yet, so no record covers the point.
    let open = a.timeline().open_point();
    a.synchronize_blocking().unwrap();
    c.wait(open).unwrap();
    assert!(a.table().is_complete(open).unwrap());
    assert_eq!(bench.records_and_waits(), (0, 0));
    // Work that is queued after the synchronisation is not complete.
    c.wait(a.timeline().open_point()).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

/// The host has synchronised with `b`, and not with `a`. `b` has waited for a record of `a`, so that record is complete, too.
#[test]
fn work_before_complete_work_is_complete() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let of_a = a.record().unwrap();
    b.wait(of_a).unwrap();
    let of_b = b.record().unwrap();
    let later = a.record().unwrap();
    bench.records_and_waits();
    b.table().synchronize(of_b).unwrap();
    c.wait(of_a).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0));
    c.wait(later).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1));
}

/// A thread finds the work of `b` complete, and so the work of `a`. Another thread relies on that, and no race is reported.
#[test]
fn relying_on_what_another_thread_found_complete_is_no_race() {
    let platform = Platform::host().seed(1).race_check(true).build().unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| pool.allocate(name).unwrap());
    let mut data = platform.buffer::<u8>(9, &a).unwrap();
    let mut copy = platform.buffer::<u8>(9, &b).unwrap();
    a.fill_bytes(&mut data, 1).unwrap();
    b.copy(&data, &mut copy).unwrap();
    let of_b = b.record().unwrap();
    let table = b.table();
    std::thread::scope(|scope| scope.spawn(|| table.synchronize(of_b)).join()).unwrap().unwrap();
    c.fill_bytes(&mut data, 2).unwrap();
    assert!(platform.take_races().is_empty());
}

/// A driver that answers each query of an event by "not complete".
#[derive(Debug)]
struct AnswersNo(HostDriver);

const QUERIED: &str = "an event is queried, and the answer is not given yet";

// SAFETY: this layer passes all other calls on, and a query that answers "not complete" promises nothing.
unsafe impl Layer for AnswersNo {
    fn below(&self) -> &dyn Driver {
        &self.0
    }

    unsafe fn query_event(&self, _: RawEvent) -> DriverResult<bool> {
        crate::turns::point(QUERIED);
        Ok(false)
    }
}

/// While this thread queries a record, another thread finds it complete. So this thread may use the memory, although its own
/// query has answered "not complete", and no race is reported.
#[test]
fn a_record_that_another_thread_finds_complete_during_a_query_is_no_race() {
    let driver = Arc::new(AnswersNo(HostDriver::builder().build()));
    let builder = Platform::builder().race_check(true);
    let platform = builder.driver(driver).unwrap();
    let stream =
        platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap().allocate("stream").unwrap();
    let mut data = platform.buffer::<u8>(9, &stream).unwrap();
    stream.fill_bytes(&mut data, 7).unwrap();
    let mut pinned = platform.pinned::<u8>(device(0), 9).unwrap();
    stream.download_into(&data, &mut pinned).unwrap();
    let point = stream.record().unwrap();
    let table = platform.streams().clone();
    hooks::at(QUERIED, move || {
        std::thread::spawn(move || table.synchronize(point)).join().unwrap().unwrap();
    });
    assert_eq!(pinned.try_as_slice().unwrap(), Some(&[7; 9][..]));
    assert!(hooks::are_done());
    let races = platform.take_races();
    assert!(races.is_empty(), "{races}");
}
