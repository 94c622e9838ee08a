//! Checks that `stop` is called for each operator that was started, also if the device can't be used any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::DriverError;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_tests::kernels::{fill, trap};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::log;

/// Adds the tests on the simulator only. On a GPU the sticky error would be that of the whole process.
pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .host(
            "after_a_sticky_error_each_operator_is_stopped_and_the_error_is_reported_once",
            sticky,
        )
        .host("a_device_that_is_lost_after_a_hook_failed_is_named_by_the_run", met_after_a_failure)
        .seeded("an_operator_is_stopped_although_its_device_can_t_be_bound", unbound)
        .seeded("an_operator_that_was_not_started_is_not_stopped", not_started)
}

/// What goes wrong in the third tick of a worker.
#[derive(Debug, Clone)]
enum Third {
    Faults,
    /// The next call of `bind` fails.
    Unbinds(Arc<FailNth>),
}

#[operator(streams(work))]
struct Worker {
    #[output]
    data: Tensor<f32>,
    third: Third,
    stops: Arc<AtomicU64>,
}

impl Compute for Worker {
    fn compute(&mut self, io: WorkerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([64], &stream)?;
        stream.launch::<fill>(64, (&mut data, cx.tick() as f32))?;
        if cx.tick() == 2 {
            match &self.third {
                Third::Faults => {
                    stream.launch::<trap>(1, (&mut data,))?;
                    stream.synchronize_blocking()?;
                }
                Third::Unbinds(failing) => {
                    failing.fail_next();
                    cx.stop_graph();
                }
            }
        }
        io.data.set_cuda_stream(&stream).emit(data)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.stops.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A sink that downloads each tensor, and reads the last download in `stop`.
#[operator]
struct Reader {
    #[input]
    data: &Tensor<f32>,
    last: Option<Download<f32>>,
    stops: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let last = cx.download(data, &stream)?;
        last.wait_blocking()?;
        self.last = Some(last);
        Ok(())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        self.stops.fetch_add(1, Ordering::Relaxed);
        if let Some(last) = &mut self.last {
            self.read.store(last.wait_blocking()?[0] as u64, Ordering::Relaxed);
        }
        // The device is unusable after the fault, so this allocation fails.
        cx.pinned::<u8>(1 << 20).map(drop)?;
        Ok(())
    }
}

graph! {
    struct Stops(third: Third, stops: Arc<AtomicU64>, read: Arc<AtomicU64>) {
        #[when(count(4))]
        let worker: Worker = Worker::new(third, stops.clone());
        let reader: Reader = Reader::new(None, stops, read);
        worker.data >> reader.data;
    }
}

/// The number of calls of `stop`, and of downloads that the reader could read there.
#[derive(Default)]
struct Seen {
    stops: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
}

impl Seen {
    fn run(&self, platform: &Platform, third: Third) -> Result<Result<(), Error>> {
        let mut graph = Stops::new(platform, third, self.stops.clone(), self.read.clone())?;
        Ok(graph.run().map(drop))
    }

    fn check(&self) -> Result<(), Failed> {
        check_equal(self.stops.load(Ordering::Relaxed), 2)?;
        // `stop` could read the last download, of a tensor that had arrived before the failure.
        check_equal(self.read.load(Ordering::Relaxed), 1)
    }
}

fn sticky(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    // The error is no `Error::Run`, which would also list the refused calls of `stop`.
    let is_right = |error: &Error| {
        let cause = error.find_cause::<DriverError>();
        matches!(error, Error::Operator { .. }) && matches!(cause, Some(DriverError::Call { .. }))
    };
    let text = check_error("the run", seen.run(platform, Third::Faults)?, is_right)?;
    check_text(&text, &["`worker`", "tick 2", "KERNEL_PANICKED"])?;
    seen.check()
}

fn unbound(seed: u64) -> Result<(), Failed> {
    let driver = Arc::new(Replaying::new(HostDriver::builder().seed(seed).build()));
    let failing = Arc::new(FailNth::new(driver, CallKind::Bind, u64::MAX));
    let platform = Platform::builder().driver(failing.clone())?;
    let seen = Seen::default();
    let done = seen.run(&platform, Third::Unbinds(failing.clone()))?;
    let text = check_error("the run", done, |error| matches!(error, Error::Operator { .. }))?;
    check(failing.has_failed(), || "inconclusive: no call has failed".into())?;
    check_text(&text, &["`stop`", "bind", "INJECTED"])?;
    seen.check()
}

/// The number of calls of `start`, and of `stop`.
#[derive(Debug, Clone, Default)]
struct Calls(Arc<[AtomicU64; 2]>);

impl Calls {
    fn count(&self, hook: usize) -> Result<()> {
        self.0[hook].fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn check(&self, each: u64) -> Result<(), Failed> {
        check_equal(self.0.each_ref().map(|calls| calls.load(Ordering::Relaxed)), [each; 2])
    }
}

#[operator]
struct Sends {
    #[output]
    number: u64,
    calls: Calls,
}

impl Compute for Sends {
    fn start(&mut self, _: SendsStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.calls.count(0)
    }

    fn compute(&mut self, io: SendsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.calls.count(1)
    }
}

#[operator]
struct Takes {
    #[input]
    number: u64,
    calls: Calls,
}

impl Compute for Takes {
    fn start(&mut self, _: TakesStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.calls.count(0)
    }

    fn compute(&mut self, io: TakesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.calls.count(1)
    }
}

graph! {
    struct Pair(calls: Calls) {
        #[when(count(1))]
        let sends: Sends = Sends::new(calls.clone());
        let takes: Takes = Takes::new(calls);
        sends.number >> takes.number;
    }
}

/// Checks that as many operators are stopped as were started, if the device can't be bound for the start of one
/// of two operators.
fn not_started(seed: u64) -> Result<(), Failed> {
    for nth in 0..2 {
        let driver = Arc::new(Replaying::new(HostDriver::builder().seed(seed).build()));
        let failing = Arc::new(FailNth::new(driver, CallKind::Bind, u64::MAX));
        let platform = Platform::builder().driver(failing.clone())?;
        let calls = Calls::default();
        let mut graph = Pair::new(&platform, calls.clone())?;
        failing.fail_nth(nth);
        let text = check_error("the run", graph.run(), |error| error.to_string().contains("bind"))?;
        check_text(&text, &["`start`", "INJECTED"])?;
        calls.check(nth)?;
        // The next run starts and stops both operators.
        graph.run()?;
        calls.check(nth + 2)?;
    }
    Ok(())
}

/// An operator that breaks the device, and then fails with an error of its own before any call has met the broken
/// device. It stays on the thread whose log the test reads.
#[operator(streams(work, other), stays)]
struct Careless {
    #[output]
    data: Tensor<f32>,
}

impl Compute for Careless {
    fn compute(&mut self, io: CarelessIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([64], &stream)?;
        stream.launch::<trap>(1, (&mut data,))?;
        Err(Failure::msg("out of paper"))
    }
}

graph! {
    struct Breaks {
        #[when(count(1))]
        let careless: Careless = Careless::new();
        let reader: Reader = Reader::new(None, Arc::default(), Arc::default());
        careless.data >> reader.data;
    }
}

fn met_after_a_failure(_: &Platform) -> Result<(), Failed> {
    // With this seed a kernel runs during its launch.
    let platform = Platform::host().seed(0).build()?;
    log::take();
    let text = check_error("the run", Breaks::new(&platform)?.run(), |error| {
        let Error::Run { cause, followed } = error else { return false };
        let lost = |error: &Error| matches!(error.find_cause(), Some(DriverError::Sticky { .. }));
        matches!(**cause, Error::Operator { .. }) && matches!(&followed[..], [one] if lost(one))
    })?;
    check_text(&text, &["out of paper", "1 error more followed", "KERNEL_PANICKED"])?;
    let lines = log::take();
    let reports =
        lines.iter().filter(|line| line.is_error && line.text.contains("KERNEL_PANICKED"));
    check(reports.count() == 1, || format!("logged: {lines:?}"))
}
