//! Which work the host may take for complete.

use super::*;

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
    // Also for a point that no record covers.
    let open = a.timeline().open_point();
    a.synchronize_blocking().unwrap();
    c.wait(open).unwrap();
    assert!(a.table().is_complete(open).unwrap());
    assert_eq!(bench.records_and_waits(), (0, 0));
    // But not for later work.
    c.wait(a.timeline().open_point()).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

/// The host has not queried `a`, but `b` came after it.
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

/// One thread finds `b` complete, and so `a`. Another thread relies on that, and no race is reported.
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
