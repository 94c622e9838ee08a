//! Tests with several threads in one checker: the owner of the journal, other threads, and a thread that becomes the owner.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Metadata, Subscriber};

use super::RaceChecker;
use crate::driver::host::HostDriver;
use crate::driver::{
    CopyKind, CopyOp, DeviceId, Driver, MemoryRange, MemorySource, Note, RawEvent, RawStream,
    StreamOptions,
};

const DEVICE: DeviceId = DeviceId(0);
const ROUNDS: usize = 500;

/// Returns a checker over a simulator. The device is bound on the calling thread.
fn checker() -> Arc<dyn Driver> {
    let driver = Arc::new(RaceChecker::new(Arc::new(HostDriver::builder().build())));
    driver.bind(DEVICE).unwrap();
    driver
}

/// Writes memory on a stream, and records an event after the write.
fn write(driver: &dyn Driver, stream: RawStream, memory: MemoryRange, event: RawEvent) {
    driver.bind(DEVICE).unwrap();
    // SAFETY: all objects are of this driver, and nothing is given back before the driver is dropped.
    unsafe {
        driver.fill(stream, memory, 1).unwrap();
        driver.record_event(event, stream).unwrap();
    }
}

fn wait(driver: &dyn Driver, stream: RawStream, event: RawEvent) {
    driver.bind(DEVICE).unwrap();
    // SAFETY: as in `write`.
    unsafe { driver.wait_event(stream, event).unwrap() };
}

/// Two threads with a stream each write the same memory alternately. Each makes its stream wait for the other thread's
/// record. The second thread leaves out every `forget`th wait. Returns how many races were found.
fn alternate(driver: &Arc<dyn Driver>, forget: usize) -> u64 {
    driver.bind(DEVICE).unwrap();
    let stream = || driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    let event = || driver.create_event(DEVICE).unwrap();
    let (a, b, of_a, of_b) = (stream(), stream(), event(), event());
    // SAFETY: as in `write`.
    let memory = unsafe { driver.allocate(a, 4096, MemorySource::Unused) }.unwrap();
    let (to_b, from_a) = mpsc::channel();
    let (to_a, from_b) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for round in 1..=ROUNDS {
                from_a.recv().unwrap();
                if !round.is_multiple_of(forget) {
                    wait(&**driver, b, of_a);
                }
                write(&**driver, b, memory, of_b);
                to_a.send(()).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            write(&**driver, a, memory, of_a);
            to_b.send(()).unwrap();
            from_b.recv().unwrap();
            wait(&**driver, a, of_b);
        }
    });
    let races = driver.observer().take_races();
    races.races.iter().map(|race| race.times).sum::<u64>() + races.more
}

#[test]
fn events_order_the_work_of_two_threads() {
    assert_eq!(alternate(&checker(), usize::MAX), 0);
}

#[test]
fn a_missing_wait_is_found_whichever_thread_owns_the_journal() {
    assert_eq!(alternate(&checker(), 5), ROUNDS as u64 / 5);
    // A third thread owns the journal.
    let driver = checker();
    let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    wait(&*driver, stream, driver.create_event(DEVICE).unwrap());
    let found = thread::scope(|scope| scope.spawn(|| alternate(&driver, 5)).join().unwrap());
    assert_eq!(found, ROUNDS as u64 / 5);
}

#[test]
fn calls_noted_by_an_ended_thread_are_applied() {
    let driver = checker();
    let stream = || driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    let (a, b, event) = (stream(), stream(), driver.create_event(DEVICE).unwrap());
    // SAFETY: as in `write`.
    let memory = unsafe { driver.allocate(a, 4096, MemorySource::Unused) }.unwrap();
    // Each round has a new thread, and that thread owns the journal once it has queued something.
    for round in 0..20 {
        let ordered = round % 2 == 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                write(&*driver, a, memory, event);
                write(&*driver, a, memory, event);
            });
        });
        if ordered {
            wait(&*driver, b, event);
        }
        // SAFETY: as in `write`.
        unsafe { driver.fill(b, memory, 2).unwrap() };
        assert_eq!(driver.observer().take_races().is_empty(), ordered, "round {round}");
        write(&*driver, b, memory, event);
        wait(&*driver, a, event);
    }
}

#[test]
fn a_synchronisation_of_one_thread_orders_nothing_for_another() {
    let driver = checker();
    let stream = || driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    let (a, b) = (stream(), stream());
    // SAFETY: as in `write`.
    unsafe {
        let memory = driver.allocate(a, 4096, MemorySource::Unused).unwrap();
        driver.fill(a, memory, 1).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                driver.bind(DEVICE).unwrap();
                driver.synchronize_stream(a).unwrap();
            });
        });
        driver.fill(b, memory, 2).unwrap();
        assert_eq!(driver.observer().take_races().races.len(), 1);
        // Now the thread that queues the next fill synchronises.
        driver.synchronize_stream(b).unwrap();
        driver.fill(a, memory, 3).unwrap();
        assert!(driver.observer().take_races().is_empty());
    }
}

/// A subscriber that takes the races at each log message.
struct TakesRaces(Arc<dyn Driver>);

impl Subscriber for TakesRaces {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        assert!(
            self.0.observer().take_races().is_empty(),
            "races are logged after they were taken"
        );
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn a_subscriber_may_take_races() {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let driver = checker();
        let stream = || driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
        let (a, b) = (stream(), stream());
        let races = with_default(TakesRaces(driver.clone()), || {
            // SAFETY: as in `write`.
            unsafe {
                let memory = driver.allocate(a, 4096, MemorySource::Unused).unwrap();
                driver.fill(a, memory, 1).unwrap();
                driver.fill(b, memory, 2).unwrap();
            }
            driver.observer().take_races()
        });
        done.send(races.races.len()).unwrap();
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(10)), Ok(1));
}

/// The second record is refused, because its stream is of another device. The event keeps its first record.
#[test]
fn a_record_that_fails_leaves_the_event_as_it_was() {
    let driver: Arc<dyn Driver> =
        Arc::new(RaceChecker::new(Arc::new(HostDriver::builder().devices(2).build())));
    let stream = |device| {
        driver.bind(DeviceId(device)).unwrap();
        driver.create_stream(DeviceId(device), StreamOptions::default()).unwrap()
    };
    let (far, a, b) = (stream(1), stream(0), stream(0));
    let event = driver.create_event(DEVICE).unwrap();
    // SAFETY: all objects are of this driver, and nothing is given back before the driver is dropped.
    let memory = unsafe { driver.allocate(a, 4096, MemorySource::Unused) }.unwrap();
    write(&*driver, a, memory, event);
    // SAFETY: as in `write`.
    unsafe { driver.record_event(event, far) }.unwrap_err();
    wait(&*driver, b, event);
    // SAFETY: as in `write`.
    unsafe { driver.fill(b, memory, 2) }.unwrap();
    assert!(driver.observer().take_races().is_empty());
}

#[test]
fn a_measurement_with_a_stale_event_is_reported() {
    for stale in [false, true] {
        let driver = checker();
        let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
        let [start, end] = [(); 2].map(|()| driver.create_timing_event(DEVICE).unwrap());
        // SAFETY: the simulator refuses a handle of an object that was destroyed.
        unsafe {
            driver.record_event(start, stream).unwrap();
            driver.record_event(end, stream).unwrap();
            driver.synchronize_event(end).unwrap();
            if stale {
                driver.destroy_event(start).unwrap();
            }
            assert_eq!(driver.elapsed(start, end).is_err(), stale);
        }
        let races = driver.observer().take_races();
        assert_eq!(races.races.len(), usize::from(stale), "{races}");
        assert_eq!(races.to_string().contains("a measurement of time uses its handle"), stale);
    }
}

/// The example of the folder's README. The event is recorded before the second fill or, with `record_last`, also after it.
/// Returns the report.
fn example(record_last: bool) -> String {
    let driver = checker();
    let stream = |label| {
        let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
        // SAFETY: the note states a fact: the stream has this label.
        unsafe { driver.observer().observe(&Note::StreamLabel { stream, label }) };
        stream
    };
    let (a, b, event) = (stream("a"), stream("b"), driver.create_event(DEVICE).unwrap());
    // SAFETY: as in `write`.
    unsafe {
        let source = driver.allocate(a, 4096, MemorySource::Unused).unwrap();
        let target = driver.allocate(b, 4096, MemorySource::Unused).unwrap();
        write(&*driver, a, source, event);
        driver.fill(a, source, 2).unwrap();
        if record_last {
            driver.record_event(event, a).unwrap();
        }
        wait(&*driver, b, event);
        let kind = CopyKind::DeviceToDevice;
        driver.copy(b, &CopyOp { kind, target, source, rows: None }).unwrap();
    }
    driver.observer().take_races().races.iter().map(ToString::to_string).collect()
}

#[test]
fn the_readme_has_the_report_of_its_example() {
    let report = example(false);
    assert!(include_str!("README.md").contains(&report), "{report}");
    assert_eq!(example(true), "");
}
