//! Which waits are issued, and when: seen by a recorder over the simulator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::ROOM;
use crate::driver::host::{HostDriver, Policy};
use crate::driver::{Call, Recorder};
use crate::stream::{CudaStream, CudaStreamPool, Point, StreamPool};
use crate::{Platform, Result, device};

struct Bench {
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
    lent: RefCell<Vec<Rc<CudaStream>>>,
}

impl Bench {
    fn new() -> Self {
        let host = HostDriver::builder().policy(Policy::Lazy).build();
        let recorder = Arc::new(Recorder::new(Arc::new(host)));
        let platform = Platform::from_driver(recorder.clone()).unwrap();
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        Self { recorder, platform, pool, lent: RefCell::default() }
    }

    /// A stream that has waited for nothing: none is given back.
    fn stream(&self) -> Rc<CudaStream> {
        let stream = Rc::new(self.pool.allocate("a test").unwrap());
        self.lent.borrow_mut().push(stream.clone());
        stream
    }

    /// Waits since the last time it was asked.
    fn waits(&self) -> usize {
        let waits = self.recorder.count(|call| matches!(call, Call::WaitEvent { .. }));
        self.recorder.clear();
        waits
    }

    /// A moment of a stream, and one of another that waited for it.
    fn old_and_new(&self) -> (Point, Point) {
        let (first, second) = (self.stream(), self.stream());
        let old = first.record().unwrap();
        second.wait(old).unwrap();
        let new = second.record().unwrap();
        self.waits();
        (old, new)
    }
}

#[test]
fn what_a_later_or_an_earlier_one_implies_is_not_issued() {
    let bench = Bench::new();
    let (old, new) = bench.old_and_new();
    let other = bench.stream().record().unwrap();
    let orders: [(&[Point], usize); 6] = [
        (&[old, new], 1),
        (&[new, old], 1),
        (&[old, other, new], 2),
        (&[new, other, old], 2),
        (&[old, other], 2),
        (&[new, new, new], 1),
    ];
    for (points, issued) in orders {
        let stream = bench.stream();
        points.iter().for_each(|point| stream.wait_before_work(*point).unwrap());
        assert_eq!(bench.waits(), 0, "{points:?}");
        assert!(points.iter().all(|point| stream.will_imply(*point)));
        assert!(!points.iter().any(|point| stream.timeline().implies(*point)));
        let after = stream.record().unwrap();
        assert_eq!(bench.waits(), issued, "{points:?}");
        assert!(points.iter().all(|point| stream.timeline().implies(*point)));
        // The record came after them.
        let third = bench.stream();
        third.wait(after).unwrap();
        assert!(points.iter().all(|point| third.timeline().implies(*point)));
        bench.waits();
    }
}

/// `second` waited for `first`, but after the moment that is received.
#[test]
fn what_a_stream_waited_for_later_is_not_implied() {
    let bench = Bench::new();
    let (first, second) = (bench.stream(), bench.stream());
    let of_first = first.record().unwrap();
    let of_second = second.record().unwrap();
    second.wait(of_first).unwrap();
    let stream = bench.stream();
    bench.waits();
    stream.wait_before_work(of_second).unwrap();
    assert!(!stream.will_imply(of_first));
    stream.wait_before_work(of_first).unwrap();
    stream.ready().unwrap();
    assert_eq!(bench.waits(), 2);
}

/// Also where what implies a wait is found complete, and no wait is issued at all.
#[test]
fn what_is_left_out_counts_as_waited_for() {
    let bench = Bench::new();
    let (old, new) = bench.old_and_new();
    let stream = bench.stream();
    stream.wait_before_work(new).unwrap();
    stream.wait_before_work(old).unwrap();
    let second = stream.table().timeline(new.stream()).clone();
    second.synchronize(stream.table()).unwrap();
    stream.ready().unwrap();
    assert_eq!(bench.waits(), 0);
    assert!(stream.will_imply(old) && stream.will_imply(new));
}

/// Whatever asks or tells something of the stream comes after them.
#[test]
fn they_are_issued_before_anything_is_queued_or_asked() {
    let bench = Bench::new();
    type Way<'a> = &'a dyn Fn(&CudaStream) -> Result<()>;
    let ways: [Way<'_>; 7] = [
        &|stream| stream.record().map(drop),
        &|stream| stream.record_timing().map(drop),
        &|stream| stream.is_complete().map(drop),
        &|stream| stream.synchronize_blocking(),
        &|stream| bench.platform.buffer::<u8>(9, stream).map(drop),
        &|stream| stream.wait(bench.stream().record()?),
        &|stream| {
            stream.raw();
            Ok(())
        },
    ];
    for (index, way) in ways.into_iter().enumerate() {
        let producer = bench.stream();
        let stream = bench.stream();
        stream.wait_before_work(producer.record().unwrap()).unwrap();
        assert_eq!(bench.waits(), 0);
        way(&stream).unwrap();
        assert_eq!(bench.waits(), 1 + usize::from(index == 5), "way {index}");
    }
}

#[test]
fn who_may_get_work_unseen_waits_at_once() {
    let bench = Bench::new();
    let stream = bench.stream();
    stream.raw();
    let default = Rc::new(bench.platform.default_stream(device(0)).unwrap());
    for stream in [stream, default] {
        stream.wait_before_work(bench.stream().record().unwrap()).unwrap();
        assert_eq!(bench.waits(), 1);
    }
}

#[test]
fn no_more_are_kept_than_there_is_room_for() {
    let bench = Bench::new();
    let producers: Vec<_> = (0..3 * ROOM + 1).map(|_| bench.stream()).collect();
    let stream = bench.stream();
    for producer in &producers {
        stream.wait_before_work(producer.record().unwrap()).unwrap();
    }
    stream.ready().unwrap();
    assert_eq!(bench.waits(), producers.len());
    // Always the same stream: only its latest moments.
    for _ in 0..10 * ROOM {
        stream.wait_before_work(producers[0].record().unwrap()).unwrap();
    }
    stream.ready().unwrap();
    assert!(bench.waits() <= 20);
}
