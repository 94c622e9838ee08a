//! Tests of which waits and records are made, and which are skipped.

use std::sync::Barrier;
use std::time::Duration;

use super::*;
use crate::stream::record::ENTRIES;

#[test]
fn a_wait_that_is_implied_makes_no_call() {
    let bench = bench(Policy::Lazy);
    let (a, b) = (bench.stream(), bench.stream());
    let early = a.record().unwrap();
    let late = a.record().unwrap();
    bench.records_and_waits();
    b.wait(late).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1));
    for point in [late, early] {
        b.wait(point).unwrap();
        a.wait(point).unwrap();
    }
    assert_eq!(bench.records_and_waits(), (0, 0));
    let next = a.record().unwrap();
    b.wait(next).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

#[test]
fn a_wait_that_is_implied_by_a_third_stream_makes_no_call() {
    let bench = bench(Policy::Lazy);
    let (a, b, c, d) = (bench.stream(), bench.stream(), bench.stream(), bench.stream());
    let of_a = a.record().unwrap();
    let before = b.record().unwrap();
    b.wait(of_a).unwrap();
    let after = b.record().unwrap();
    c.wait(after).unwrap();
    bench.records_and_waits();
    c.wait(of_a).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0));
    // A record made before the wait does not cover the wait, so it does not imply the order.
    d.wait(before).unwrap();
    bench.records_and_waits();
    d.wait(of_a).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1));
    // The wait for `of_a` does not imply a wait for a later record of `a`.
    let later = a.record().unwrap();
    c.wait(later).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

/// An operator that reads from several others needs the order after each of their streams twice in a tick: when it receives the
/// message, and where a launch reads the message.
#[test]
fn a_wait_that_the_clock_has_forgotten_makes_no_call() {
    let bench = bench(Policy::Lazy);
    let streams: Vec<_> = (0..9 * ENTRIES).map(|_| bench.stream()).collect();
    // The numbers of these streams are equal modulo `ENTRIES`, so the streams share an entry of the clock.
    let sharing: Vec<_> = streams.iter().step_by(ENTRIES).collect();
    let points: Vec<_> = sharing.iter().map(|stream| stream.record().unwrap()).collect();
    let waiting = &streams[1];
    points[..4].iter().for_each(|point| waiting.wait(*point).unwrap());
    assert_eq!(bench.records_and_waits().1, 4);
    points[..4].iter().for_each(|point| waiting.wait(*point).unwrap());
    assert_eq!(bench.records_and_waits(), (0, 0));
    // An earlier wait for a stream does not count for a later record of the same stream.
    waiting.wait(sharing[0].record().unwrap()).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
    // The stream has forgotten the earliest of these waits, and makes that wait again.
    points[1..].iter().for_each(|point| waiting.wait(*point).unwrap());
    bench.records_and_waits();
    waiting.wait(points[1]).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1));
}

/// The steps of `stream/README.md`: which driver calls each step makes, and what the clocks are afterwards.
#[test]
fn the_example_of_the_readme() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let mut x = bench.platform.buffer::<u8>(9, &a).unwrap();
    let mut y = bench.platform.buffer::<u8>(9, &b).unwrap();
    let mut z = bench.platform.buffer::<u8>(9, &b).unwrap();
    let clock = |stream: &CudaStream, of: &CudaStream| {
        let (seen, of) = (&stream.timeline().seen, of.timeline().id());
        (1..9).rfind(|record| seen.has(of, *record)).unwrap_or(0)
    };
    let clocks = || (clock(&a, &b), clock(&b, &a));
    bench.records_and_waits();
    a.fill_bytes(&mut x, 1).unwrap();
    assert_eq!((bench.records_and_waits(), clocks()), ((0, 0), (0, 0)));
    assert_eq!(a.timeline().open_point().record(), 1);
    b.copy(&x, &mut y).unwrap();
    assert_eq!((bench.records_and_waits(), clocks()), ((1, 1), (0, 1)));
    b.copy(&x, &mut z).unwrap();
    assert_eq!((bench.records_and_waits(), clocks()), ((0, 0), (0, 1)));
    assert_eq!(b.timeline().open_point().record(), 1);
    a.fill_bytes(&mut x, 2).unwrap();
    assert_eq!((bench.records_and_waits(), clocks()), ((1, 1), (1, 1)));
    assert_eq!(a.timeline().open_point().record(), 2);
    c.wait(b.timeline().point(1)).unwrap();
    assert_eq!((bench.records_and_waits(), clock(&c, &b), clock(&c, &a)), ((0, 1), 1, 1));
    c.wait(a.timeline().point(1)).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0));
    c.wait(a.timeline().point(2)).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
    assert_eq!(b.download_blocking(&y).unwrap(), [1; 9]);
    assert_eq!(b.download_blocking(&z).unwrap(), [1; 9]);
}

/// The stream makes more records than it has events. A wait for an old record still ends no sooner than that record.
#[test]
fn events_that_were_used_again_are_never_too_early() {
    const RECORDS: usize = 100;
    for oldest_first in [true, false] {
        let bench = bench(Policy::Lazy);
        let (a, mut b) = (bench.stream(), bench.stream());
        let mut data = bench.platform.buffer::<u8>(1, &a).unwrap();
        let mut points = Vec::new();
        for _ in 0..RECORDS {
            a.fill_bytes(&mut data, 1).unwrap();
            points.push(a.record().unwrap());
        }
        let order: Vec<usize> = match oldest_first {
            true => (0..RECORDS).collect(),
            false => (0..RECORDS).rev().collect(),
        };
        for i in order {
            b.wait(points[i]).unwrap();
            b.synchronize_blocking().unwrap();
            assert!(bench.fills() > i, "{} fills at record {i}", bench.fills());
            // A new stream is used for each wait, since it has not waited for any other stream yet.
            b = bench.stream();
        }
        assert_eq!(bench.fills(), RECORDS);
    }
}

#[test]
fn one_record_serves_all_waiters() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let mut data = bench.platform.buffer::<u8>(9, &a).unwrap();
    let mut of_b = bench.platform.buffer::<u8>(9, &b).unwrap();
    let mut of_c = bench.platform.buffer::<u8>(9, &c).unwrap();
    bench.records_and_waits();
    a.fill_bytes(&mut data, 1).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0), "no other stream needs a record yet");
    b.copy(&data, &mut of_b).unwrap();
    c.copy(&data, &mut of_c).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 2));
}

/// Each of two threads waits for a new record of the other thread's stream, again and again, so both rings are locked. If the
/// threads took the locks in two orders, they would deadlock sooner or later.
#[test]
fn threads_that_wait_for_each_other_do_not_deadlock() {
    const ROUNDS: usize = 20_000;
    let platform = Platform::host().build().unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (a, b) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let others = [b.timeline().clone(), a.timeline().clone()];
    let together = Arc::new(Barrier::new(2));
    let (done, finished) = mpsc::channel();
    for (stream, other) in [a, b].into_iter().zip(others) {
        let (done, together) = (done.clone(), together.clone());
        std::thread::spawn(move || {
            together.wait();
            let waited = (0..ROUNDS).try_for_each(|_| stream.wait(other.open_point()));
            done.send(waited.and_then(|()| stream.synchronize_blocking())).unwrap();
        });
    }
    for _ in 0..2 {
        let ended = finished.recv_timeout(Duration::from_secs(60));
        assert!(matches!(ended, Ok(Ok(()))), "{ended:?}");
    }
}

/// A thread has begun a record and not made it yet, when another thread drops memory that was read before the record began. The
/// record does not cover work that the other thread queues after the drop. So the memory's next owner does not wait for that
/// work.
#[test]
fn what_is_queued_after_a_drop_is_in_no_record_that_was_begun_before() {
    use crate::turns::hooks;

    let bench = bench(Policy::Lazy);
    let (a, b) = (bench.stream(), bench.stream());
    let data = bench.platform.buffer::<u8>(3, &a).unwrap();
    let mut copy = bench.platform.buffer::<u8>(3, &b).unwrap();
    b.copy(&data, &mut copy).unwrap();
    bench.recorder.clear();
    let timeline = b.timeline().clone();
    let (reached, reaches) = mpsc::channel();
    let (handle, handles) = mpsc::channel();
    hooks::at("a record has its number, and is not made yet", move || {
        let other = std::thread::spawn(move || {
            let waits = reached.clone();
            hooks::at("another thread makes a record", move || waits.send(()).unwrap());
            drop(data);
            b.fill_bytes(&mut copy, 1).unwrap();
            // If this message is the first one, the drop did not wait for the record.
            let _ = reached.send(());
        });
        handle.send(other).unwrap();
        reaches.recv().unwrap();
    });
    timeline.record().unwrap();
    handles.recv().unwrap().join().unwrap();
    let calls = bench.recorder.calls();
    let first =
        calls.iter().find(|call| matches!(call, Call::RecordEvent { .. } | Call::Fill { .. }));
    assert!(matches!(first, Some(Call::RecordEvent { .. })), "{}", bench.recorder.text());
}

/// After a use of memory, the host has queried an overwritten record, and has made a record outside of the ring for the query.
/// Then the memory is dropped. No stream waits for the host's record, so the drop makes another record, which covers no later
/// work. A download in place of the drop does the same.
#[test]
fn what_is_queued_after_a_drop_is_not_covered_although_the_host_has_made_a_record_for_itself() {
    for use_of in ["a drop", "a download"] {
        let bench = bench(Policy::Lazy);
        let (a, b) = (bench.stream(), bench.stream());
        let data = bench.platform.buffer::<u8>(3, &a).unwrap();
        let mut copy = bench.platform.buffer::<u8>(3, &b).unwrap();
        b.fill_bytes(&mut copy, 1).unwrap();
        let old = b.record().unwrap();
        for _ in 0..40 {
            b.record().unwrap();
        }
        let query = || assert!(!b.table().is_complete(old).unwrap());
        if use_of == "a drop" {
            b.copy(&data, &mut copy).unwrap();
            query();
            bench.records_and_waits();
            drop(data);
        } else {
            let mut pinned = bench.platform.pinned(device(0), 3).unwrap();
            b.download_into(&copy, &mut pinned).unwrap();
            query();
            bench.records_and_waits();
            b.timeline().close().unwrap();
        }
        assert_eq!(bench.records_and_waits(), (1, 0), "{use_of}");
    }
}

/// The host's record outside of the ring answers its queries, also queries of records that are begun later.
#[test]
fn the_hosts_own_record_is_kept_until_it_is_complete() {
    let bench = bench(Policy::Lazy);
    let b = bench.stream();
    let mut data = bench.platform.buffer::<u8>(3, &b).unwrap();
    let points: Vec<_> = (0..40)
        .map(|_| {
            b.fill_bytes(&mut data, 1).unwrap();
            b.record().unwrap()
        })
        .collect();
    bench.records_and_waits();
    let mut complete = 0;
    // Each query lets the simulator execute a part of the queued work.
    while !b.table().is_complete(points[0]).unwrap() {
        complete += 1;
        assert!(complete < 1000);
    }
    assert_eq!(bench.records_and_waits().0, 1);
    assert!(points.iter().all(|&point| b.table().is_complete(point).unwrap()));
    assert_eq!((bench.fills(), bench.records_and_waits().0), (40, 0));
}

/// One record covers all points that were taken since the record before. If no point was taken, no record is made.
#[test]
fn a_stream_is_recorded_once_for_all_points_since_the_last_record() {
    let bench = bench(Policy::Lazy);
    let stream = bench.stream();
    let timeline = stream.timeline();
    for points in [0, 1, 0, 0, 2, 3, 0] {
        let taken: Vec<_> = (0..points).map(|_| timeline.open_point()).collect();
        bench.recorder.clear();
        timeline.close().unwrap();
        timeline.close().unwrap();
        assert_eq!(bench.records_and_waits().0, usize::from(points > 0), "{points} points");
        assert!(taken.iter().all(|point| point.record() == timeline.recorded()));
    }
}
