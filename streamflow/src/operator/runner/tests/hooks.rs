//! Tests of the waits of a node between its hooks, and of the records of the work that its hooks have queued.

use std::time::Duration;

use super::*;
use crate::driver::{Call, Recorder};
use crate::operator::AsyncHandle;
use crate::schedule::{End, Workers};
use crate::time::{Clock, Timestamp};

/// Sends nothing, stores the time of each call, and stops the run in its 80th tick.
#[operator]
struct Silent {
    #[output]
    number: u64,
    called: Arc<Mutex<Vec<Timestamp>>>,
}

impl Compute for Silent {
    fn compute(&mut self, _: SilentIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.called.lock().unwrap().push(cx.now());
        if cx.tick() == 79 {
            cx.stop_graph();
        }
        Ok(())
    }
}

graph! {
    struct Silence(called: Arc<Mutex<Vec<Timestamp>>>) {
        let silent: Silent = Silent::new(called);
        silent.number >> _;
    }
}

/// A source that sends nothing waits longer and longer between its ticks, in simulated time. In each run the waits begin anew.
#[test]
fn a_source_that_sends_nothing_pauses_until_its_run_ends() {
    let clock = Clock::simulated();
    let platform = Platform::builder().clock(&clock).host().unwrap();
    let called = Arc::new(Mutex::new(Vec::new()));
    let mut graph = Silence::new(&platform, called.clone()).unwrap();
    for workers in [Workers::none(), Workers::none(), Workers::new(1), Workers::new(2)] {
        graph.workers(workers).unwrap();
        let begins = clock.now();
        graph.run().unwrap();
        let called = std::mem::take(&mut *called.lock().unwrap());
        assert_eq!((called.len(), called[0], called[1]), (80, begins, begins));
        let pauses: Vec<_> = called.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        assert!(pauses.is_sorted() && !pauses[78].is_zero(), "{pauses:?}");
    }
}

graph! {
    struct Unnoticed(notices: AsyncHandle, called: Arc<Mutex<Vec<Timestamp>>>) {
        #[when(asynchronous(notices))]
        let silent: Silent = Silent::new(called);
        silent.number >> _;
    }
}

/// The node waits for another thread, and no timer of the graph is due before the time of the run is over.
#[test]
fn the_time_of_a_run_ends_a_wait_for_another_thread() {
    for workers in [Workers::none(), Workers::new(1), Workers::new(2)] {
        let clock = Clock::simulated();
        let platform = Platform::builder().clock(&clock).host().unwrap();
        let notices = AsyncHandle::new();
        let mut graph = Unnoticed::new(&platform, notices.clone(), Arc::default()).unwrap();
        graph.workers(workers).unwrap();
        let report = graph.run_for(Duration::from_nanos(3_333_333)).unwrap();
        assert_eq!((report.end, clock.now()), (End::TimeOver, Timestamp(3_333_333)));
        drop(notices);
    }
}

/// Queues work in `start`, and stores in each tick how many events were recorded before.
#[operator]
struct Prepares {
    #[output]
    number: u64,
    recorder: Arc<Recorder>,
    records: Arc<Mutex<Vec<usize>>>,
    #[state]
    data: Option<Buffer<u8>>,
}

impl Compute for Prepares {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        let mut data = cx.buffer::<u8>(8, &stream)?;
        stream.fill_bytes(&mut data, 1)?;
        self.data = Some(data);
        Ok(())
    }

    fn compute(&mut self, io: PreparesIo<'_>, _: &ExecutionContext) -> Result<()> {
        let records = self.recorder.count(|call| matches!(call, Call::RecordEvent { .. }));
        self.records.lock().unwrap().push(records);
        io.number.emit(0)
    }
}

graph! {
    struct Prepared(recorder: Arc<Recorder>, records: Arc<Mutex<Vec<usize>>>) {
        #[when(count(2))] let one: Prepares = Prepares::new(recorder.clone(), records.clone());
        #[when(count(2))] let other: Prepares = Prepares::new(recorder, records);
        one.number >> _;
        other.number >> _;
    }
}

/// Law 8: the work of `start` is recorded when `start` ends, so that a later wait for it does not wait for the work of a tick.
#[test]
fn the_work_of_start_is_recorded_when_start_ends() {
    let recorder = Arc::new(Recorder::new(Arc::new(HostDriver::builder().build())));
    let platform = Platform::builder().race_check(false).driver(recorder.clone()).unwrap();
    let records = Arc::new(Mutex::new(Vec::new()));
    Prepared::new(&platform, recorder, records.clone()).unwrap().run().unwrap();
    // When the first node starts, only its stream exists, so no other stream can need its work, and nothing is recorded. The
    // first tick records that work.
    assert_eq!(*records.lock().unwrap(), [1, 2, 2, 2]);
}
