//! Which calls streams and pools make, and which they save: seen by a recorder over the simulator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod external;
mod order;

use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use super::*;
use crate::driver::host::{HostDriver, LogAction, LogEntry, Policy};
use crate::driver::{Call, Recorder, StreamFlags, StreamOptions};
use crate::{Error, Platform, device};

struct Bench {
    host: Arc<HostDriver>,
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
}

fn bench(policy: Policy) -> Bench {
    let host = Arc::new(HostDriver::builder().policy(policy).trace(true).build());
    let recorder = Arc::new(Recorder::new(host.clone()));
    let platform = Platform::from_driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    Bench { host, recorder, platform, pool }
}

impl Bench {
    fn stream(&self) -> CudaStream {
        self.pool.allocate("a test").unwrap()
    }

    /// Records and waits since the last time it was asked.
    fn records_and_waits(&self) -> (usize, usize) {
        let records = self.recorder.count(|call| matches!(call, Call::RecordEvent { .. }));
        let waits = self.recorder.count(|call| matches!(call, Call::WaitEvent { .. }));
        self.recorder.clear();
        (records, waits)
    }

    fn made(&self) -> usize {
        self.recorder.count(|call| matches!(call, Call::CreateStream { .. }))
    }

    /// How many fills were executed.
    fn fills(&self) -> usize {
        self.host.log().iter().filter(|it| matches!(it.action, LogAction::Fill { .. })).count()
    }
}

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
    // A record from before the wait implies nothing.
    d.wait(before).unwrap();
    bench.records_and_waits();
    d.wait(of_a).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1));
    // Nor does a later moment of `a` follow.
    let later = a.record().unwrap();
    c.wait(later).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

/// More records than a stream has events: a wait for an old one comes no sooner than that one.
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
            // A stream that has waited for nothing yet.
            b = bench.stream();
        }
        assert_eq!(bench.fills(), RECORDS);
    }
}

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
fn what_is_known_to_be_complete_needs_no_wait() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let point = a.record().unwrap();
    a.synchronize_blocking().unwrap();
    bench.records_and_waits();
    b.wait(point).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0));
    // Also where nobody recorded anything.
    let open = a.timeline().open_point();
    a.synchronize_blocking().unwrap();
    c.wait(open).unwrap();
    assert!(a.table().is_complete(open).unwrap());
    assert_eq!(bench.records_and_waits(), (0, 0));
    // And not for what came after.
    c.wait(a.timeline().open_point()).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 1));
}

/// Nobody has asked for `a`, but `b` came after it.
#[test]
fn what_comes_before_something_complete_is_complete() {
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

/// What one thread has found complete of `b`, and so of `a`, another one goes by: no race is blamed on it.
#[test]
fn what_another_thread_has_found_complete_is_no_race() {
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

#[test]
fn one_record_serves_all_waiters() {
    let bench = bench(Policy::Lazy);
    let (a, b, c) = (bench.stream(), bench.stream(), bench.stream());
    let mut data = bench.platform.buffer::<u8>(9, &a).unwrap();
    let mut of_b = bench.platform.buffer::<u8>(9, &b).unwrap();
    let mut of_c = bench.platform.buffer::<u8>(9, &c).unwrap();
    bench.records_and_waits();
    a.fill_bytes(&mut data, 1).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 0), "nobody else asks yet");
    b.copy(&data, &mut of_b).unwrap();
    c.copy(&data, &mut of_c).unwrap();
    assert_eq!(bench.records_and_waits(), (1, 2));
}

/// Each thread waits for the other's stream, each time for a new moment of it, so that both are locked:
/// in two orders they would meet sooner or later.
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

/// Has one error to tell.
struct Tells(Mutex<Option<Error>>);

impl Attached for Tells {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        self.0.lock().unwrap().take().map_or(Ok(()), Err)
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        false
    }
}

/// By the first answer that work is complete, and by no other.
#[test]
fn what_work_left_behind_is_told_when_it_is_complete() {
    let bench = bench(Policy::Lazy);
    let a = bench.stream();
    let mut data = bench.platform.buffer::<u8>(1, &a).unwrap();
    let tells = a.table().attached(|_| Tells(Mutex::default()));
    let error = Error::Other("an index out of range".to_owned());
    let ways: [&dyn Fn(Point) -> Result<bool>; 3] =
        [&|_| a.is_complete(), &|point| bench.platform.is_complete(point), &|_| {
            a.synchronize_blocking().map(|()| true)
        }];
    for (index, complete) in ways.into_iter().enumerate() {
        a.fill_bytes(&mut data, 1).unwrap();
        let point = a.record().unwrap();
        *tells.0.lock().unwrap() = Some(error.clone());
        let mut answers = (0..100).map(|_| complete(point));
        if index < 2 {
            assert_eq!(answers.next(), Some(Ok(false)), "executed before anybody asks");
        }
        assert_eq!(answers.find(|answer| *answer != Ok(false)), Some(Err(error.clone())));
        a.synchronize_blocking().unwrap();
    }
    let again = a.table().attached(|_| Tells(Mutex::default()));
    assert!(std::ptr::eq(tells, again), "made once");
}

/// Is used by work of every device.
struct Used(mpsc::Sender<usize>, Arc<HostDriver>);

impl Attached for Used {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        Ok(())
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        true
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let fills = |it: &&LogEntry| matches!(it.action, LogAction::Fill { .. });
        self.0.send(self.1.log().iter().filter(fills).count()).unwrap();
    }
}

#[test]
fn what_work_uses_is_dropped_after_it() {
    let bench = bench(Policy::Lazy);
    let (a, b) = (bench.stream(), bench.stream());
    let (dropped, fills) = mpsc::channel();
    a.table().attached(|_| Used(dropped.clone(), bench.host.clone()));
    for stream in [a, b] {
        let mut data = bench.platform.buffer::<u8>(1, &stream).unwrap();
        stream.fill_bytes(&mut data, 1).unwrap();
    }
    assert_eq!(bench.fills(), 0);
    drop(bench);
    assert_eq!(fills.try_recv(), Ok(2));
}

#[test]
fn reserved_streams_are_made_at_once_and_others_when_asked_for() {
    let bench = bench(Policy::Eager);
    let before = bench.made();
    let description = CudaStreamPool::new().reserved_size(3).max_size(4);
    let pool = bench.platform.stream_pool("RESERVED", &description).unwrap();
    assert_eq!(bench.made() - before, 3);
    let streams: Vec<_> = (0..3).map(|_| pool.allocate("one").unwrap()).collect();
    assert_eq!((bench.made() - before, pool.in_use()), (3, 3));
    let fourth = pool.allocate("the fourth").unwrap();
    assert_eq!((bench.made() - before, pool.in_use()), (4, 4));
    assert!(pool.allocate("a fifth").is_err());
    let mut handles: Vec<_> = streams.iter().map(|stream| stream.raw().handle()).collect();
    handles.push(fourth.raw().handle());
    handles.sort_unstable();
    handles.dedup();
    assert_eq!(handles.len(), 4, "no stream is lent twice");
}

#[test]
fn streams_come_back_and_are_lent_again() {
    let bench = bench(Policy::Eager);
    let first = bench.stream();
    let raw = first.raw();
    let made = bench.made();
    drop(first);
    assert_eq!(bench.pool.in_use(), 0);
    let again = bench.stream();
    assert_eq!((again.raw(), bench.made()), (raw, made));
    // A stream outlives the last handle of its pool, and then serves another.
    drop(bench.pool);
    again.record().unwrap();
    drop(again);
    let next = bench.platform.stream_pool("NEXT", &CudaStreamPool::new()).unwrap();
    assert_eq!(next.allocate("next").unwrap().raw(), raw);
    let urgent = CudaStreamPool::new().priority(-1);
    let urgent = bench.platform.stream_pool("URGENT", &urgent).unwrap();
    assert_ne!(urgent.allocate("with another priority").unwrap().raw(), raw);
}

#[test]
fn priorities_are_clamped_and_flags_handed_on() {
    let (urgent, relaxed) = (-5, 0);
    for (asked, used) in [(-100, urgent), (urgent, urgent), (-2, -2), (100, relaxed)] {
        for flags in [StreamFlags::Blocking, StreamFlags::NonBlocking] {
            let bench = bench(Policy::Eager);
            let info = bench.platform.device_info(device(0)).unwrap();
            assert_eq!(info.priorities, (urgent, relaxed));
            bench.recorder.clear();
            let description = CudaStreamPool::new().priority(asked).flags(flags).reserved_size(1);
            let _pool = bench.platform.stream_pool("POOL", &description).unwrap();
            let options = bench.recorder.calls().into_iter().find_map(|call| match call {
                Call::CreateStream { options, .. } => Some(options),
                _ => None,
            });
            assert_eq!(options, Some(StreamOptions { priority: used, flags, green: None }));
        }
    }
}
