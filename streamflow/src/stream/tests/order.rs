//! Tests of the rules of `stream::order`. Each has an interleaving that gives a wrong result if the rule is broken. One thread
//! runs both threads of the interleaving: a hook in the middle of a driver call takes the second thread's steps.

use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::driver::{Driver, DriverError, DriverResult, Layer, RawEvent};
use crate::turns::hooks;

/// A driver that passes every call on, with hooks at named points. It refuses the next records and waits, as many as a test sets.
#[derive(Debug)]
struct Stops {
    below: HostDriver,
    refuse_records: AtomicU32,
    refuse_waits: AtomicU32,
}

const RECORDED: &str = "the driver has recorded";
const RECORDING: &str = "the driver is about to record";
const ANSWERED: &str = "the driver has answered";

fn refused(remaining: &AtomicU32, device: DeviceId) -> DriverResult<()> {
    let refuse = |remaining: u32| remaining.checked_sub(1);
    match remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, refuse) {
        Ok(_) => Err(DriverError::OutOfMemory { device, requested: 0 }),
        Err(_) => Ok(()),
    }
}

// SAFETY: a call that is refused has no effect, and this layer passes all other calls on.
unsafe impl Layer for Stops {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        refused(&self.refuse_records, stream.device())?;
        crate::turns::point(RECORDING);
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.record_event(event, stream) }?;
        crate::turns::point(RECORDED);
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        refused(&self.refuse_waits, stream.device())?;
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.wait_event(stream, event) }
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: the caller guarantees the same for the layer below.
        let answer = unsafe { self.below.query_event(event) };
        crate::turns::point(ANSWERED);
        answer
    }
}

struct Steps {
    driver: Arc<Stops>,
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
}

fn steps() -> Steps {
    let below = HostDriver::builder().policy(Policy::Lazy).build();
    let driver = Arc::new(Stops {
        below,
        refuse_records: AtomicU32::new(0),
        refuse_waits: AtomicU32::new(0),
    });
    let recorder = Arc::new(Recorder::new(driver.clone()));
    let builder = Platform::builder().race_check(false);
    let platform = builder.driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    Steps { driver, recorder, platform, pool }
}

impl Steps {
    fn stream(&self) -> Rc<CudaStream> {
        Rc::new(self.pool.allocate("a test").unwrap())
    }

    /// Returns another handle of a stream, as another thread would use it.
    fn other(&self, stream: &CudaStream) -> Rc<CudaStream> {
        Rc::new(CudaStream::adopted(self.platform.streams(), stream.timeline().point(1)))
    }

    fn waits(&self) -> usize {
        let waits = self.recorder.count(|call| matches!(call, Call::WaitEvent { .. }));
        self.recorder.clear();
        waits
    }
}

#[test]
fn a_record_that_is_under_way_does_not_count() {
    for at in [RECORDING, RECORDED] {
        let steps = steps();
        let a = steps.stream();
        let (other, taken) = (steps.other(&a), Rc::new(std::cell::Cell::new(None)));
        let point = taken.clone();
        hooks::at(at, move || point.set(Some(other.timeline().open_point())));
        let recorded = a.record().unwrap();
        let taken = taken.get().unwrap();
        assert_eq!((recorded.record(), taken.record()), (1, 2), "{at}");
    }
}

/// While `b` makes a record, another thread makes `b` wait for `c`: before the driver has recorded, or just after. In both cases
/// the record must not count as coming after `c`.
#[test]
fn a_wait_that_is_queued_during_a_record_is_not_covered() {
    for at in [RECORDING, RECORDED] {
        let steps = steps();
        let (a, b, c) = (steps.stream(), steps.stream(), steps.stream());
        let of_c = c.record().unwrap();
        let other = steps.other(&b);
        hooks::at(at, move || other.wait(of_c).unwrap());
        let of_b = b.record().unwrap();
        assert!(hooks::are_done() && b.timeline().implies(of_c));
        a.wait(of_b).unwrap();
        steps.waits();
        a.wait(of_c).unwrap();
        assert_eq!(steps.waits(), 1, "{at}");
    }
}

#[test]
fn a_wait_that_the_driver_refused_is_made_again() {
    let steps = steps();
    let (a, b, c) = (steps.stream(), steps.stream(), steps.stream());
    let of_c = c.record().unwrap();
    b.wait(of_c).unwrap();
    let of_b = b.record().unwrap();
    steps.driver.refuse_waits.store(1, Ordering::Relaxed);
    a.wait(of_b).unwrap_err();
    // Since the wait was refused, `a` comes neither after the record of `b` nor after the record of `c` that it covers.
    assert_eq!([of_b, of_c].map(|point| a.timeline().implies(point)), [false; 2]);
    steps.waits();
    a.wait(of_b).unwrap();
    assert_eq!(steps.waits(), 1);
    assert_eq!([of_b, of_c].map(|point| a.timeline().implies(point)), [true; 2]);
}

#[test]
fn a_record_that_failed_covers_nothing() {
    let steps = steps();
    let (a, b) = (steps.stream(), steps.stream());
    let mut data = steps.platform.buffer::<u8>(3, &a).unwrap();
    let mut copy = steps.platform.buffer::<u8>(3, &b).unwrap();
    a.fill_bytes(&mut data, 1).unwrap();
    a.record().unwrap();
    a.fill_bytes(&mut data, 7).unwrap();
    steps.driver.refuse_records.store(1, Ordering::Relaxed);
    a.record().unwrap_err();
    b.copy(&data, &mut copy).unwrap();
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; 3]);
}

/// The host queries a record of `b` and finds it complete. Before the host notes that, `b` makes as many records as a ring has.
/// The last of them overwrites the queried record, and covers work that is not complete.
#[test]
fn what_an_overwritten_record_covers_is_not_taken_for_complete() {
    let steps = steps();
    let (b, c) = (steps.stream(), steps.stream());
    let of_b = b.record().unwrap();
    b.synchronize_blocking().unwrap();
    let of_b = { (b.record().unwrap(), of_b).0 };
    // The device executes the work here by a call that the runtime does not see, so the host has not found it complete.
    let raw = b.raw();
    // SAFETY: the stream is alive.
    unsafe { Driver::synchronize_stream(&*steps.driver, raw) }.unwrap();
    let mut data = steps.platform.buffer::<u8>(3, &c).unwrap();
    c.fill_bytes(&mut data, 7).unwrap();
    let of_c = c.record().unwrap();
    let other = steps.other(&b);
    hooks::at(ANSWERED, move || {
        other.wait(of_c).unwrap();
        (0..crate::stream::ring::RING).for_each(|_| assert!(other.record().is_ok()));
    });
    let table = steps.platform.streams();
    assert_eq!(table.is_complete(of_b), Ok(true));
    assert!(hooks::are_done() && !table.is_known_complete(of_c));
}

/// Each stream of a chain has waited for the stream before it, and a clock has entries for only a few streams. After a query of
/// the last stream, the host knows that the work of all streams is complete, except later work on the first stream.
#[test]
fn one_answer_is_about_a_whole_chain_of_streams() {
    let steps = steps();
    let streams: Vec<_> = (0..3 * crate::stream::record::ENTRIES).map(|_| steps.stream()).collect();
    let mut points: Vec<Point> = Vec::new();
    for stream in &streams {
        if let Some(before) = points.last() {
            stream.wait(*before).unwrap();
        }
        points.push(stream.record().unwrap());
    }
    let mut data = steps.platform.buffer::<u8>(3, &streams[0]).unwrap();
    streams[0].fill_bytes(&mut data, 7).unwrap();
    let later = streams[0].record().unwrap();
    let last = &streams[streams.len() - 1];
    // The device executes the work here by a call that the runtime does not see, so the host has not found it complete.
    let raw = last.raw();
    // SAFETY: the stream is alive.
    unsafe { Driver::synchronize_stream(&*steps.driver, raw) }.unwrap();
    let table = steps.platform.streams();
    assert!(points.iter().all(|point| !table.is_known_complete(*point)));
    assert_eq!(table.is_complete(points[points.len() - 1]), Ok(true));
    assert!(points.iter().all(|point| table.is_known_complete(*point)));
    assert!(!table.is_known_complete(later));
}

/// A stream waits for twice as many streams as a clock has entries. It waits a second time for streams that the clock has
/// forgotten, and the result is the same.
#[test]
fn streams_that_a_clock_forgot_are_waited_for_again() {
    let steps = steps();
    let streams: Vec<_> = (0..2 * crate::stream::record::ENTRIES).map(|_| steps.stream()).collect();
    let a = steps.stream();
    let mut data: Vec<_> =
        streams.iter().map(|stream| steps.platform.buffer::<u8>(3, stream).unwrap()).collect();
    let mut sum = steps.platform.buffer::<u8>(3, &a).unwrap();
    for round in 0..3 {
        for (stream, data) in streams.iter().zip(&mut data) {
            stream.fill_bytes(data, 10 + round).unwrap();
        }
        for data in &data {
            a.copy(data, &mut sum).unwrap();
            assert_eq!(a.download_blocking(&sum).unwrap(), [10 + round; 3]);
        }
    }
    let last = streams[0].record().unwrap();
    a.wait(last).unwrap();
    steps.waits();
    a.wait(last).unwrap();
    assert_eq!(steps.waits(), 0);
}

/// A device that lags `by` records behind the host: queries of the latest `by` records find them not complete.
#[derive(Debug)]
struct Behind {
    below: HostDriver,
    by: u64,
    records: Mutex<(u64, std::collections::HashMap<RawEvent, u64>)>,
}

// SAFETY: a query that answers "not complete" promises nothing, and this layer passes all calls on.
unsafe impl Layer for Behind {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let mut records = self.records.lock().unwrap();
        records.0 += 1;
        let number = records.0;
        records.1.insert(event, number);
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.record_event(event, stream) }
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let records = self.records.lock().unwrap();
        Ok(records.1.get(&event).is_none_or(|number| number + self.by <= records.0))
    }
}

/// However far the device lags behind the host, the host at last finds old work complete.
#[test]
fn overwritten_records_are_found_complete_while_the_stream_goes_on() {
    for by in [1, 15, 16, 17, 40, 100] {
        let below = HostDriver::builder().policy(Policy::Eager).build();
        let platform = Platform::builder()
            .driver(Arc::new(Behind { below, by, records: Mutex::default() }))
            .unwrap();
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        let stream = pool.allocate("a test").unwrap();
        let mut points = std::collections::VecDeque::new();
        let mut found = 0;
        for _ in 0..1000 {
            points.push_back(stream.record().unwrap());
            while points.front().is_some_and(|point| platform.is_complete(*point).unwrap()) {
                points.pop_front();
                found += 1;
            }
        }
        assert!(
            found >= 1000 - 3 * by - 16,
            "{by} records behind: {found} of 1000 were found complete"
        );
    }
}
