//! `stop` is called for each operator that was started, also if its device can't be used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::DriverError;
use streamflow::driver::host::HostDriver;
use streamflow::prelude::*;
use streamflow_tests::kernels::{fill, trap};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use crate::log;

/// On the simulator alone: on a GPU the sticky error would be that of the whole process.
pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .host(
            "after_a_sticky_error_each_operator_is_stopped_and_the_error_is_reported_once",
            sticky,
        )
        .host("a_sticky_error_that_is_met_after_a_hook_failed_is_logged", met_after_a_failure)
        .seeded("an_operator_is_stopped_although_its_device_can_t_be_bound", unbound)
}

/// What a worker does in its third tick.
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

/// Downloads each tensor, and reads the last one in `stop`.
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
        // The device is unusable after the fault.
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

/// How often `stop` was called, and what the reader has read there.
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
        // What had arrived before the failure.
        check_equal(self.read.load(Ordering::Relaxed), 1)
    }
}

fn sticky(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    // Not an `Error::Run`, which would list the refused calls of `stop`.
    let is_right = |error: &Error| {
        let cause = error.find_cause::<DriverError>();
        matches!(error, Error::Operator { .. }) && matches!(cause, Some(DriverError::Call { .. }))
    };
    let text = check_error("the run", seen.run(platform, Third::Faults)?, is_right)?;
    check_text(&text, &["`worker`", "tick 2", "KERNEL_PANICKED"])?;
    seen.check()
}

fn unbound(seed: u64) -> Result<(), Failed> {
    let driver = Arc::new(HostDriver::builder().seed(seed).build());
    let failing = Arc::new(FailNth::new(driver, CallKind::Bind, u64::MAX));
    let platform = Platform::builder().driver(failing.clone())?;
    let seen = Seen::default();
    let done = seen.run(&platform, Third::Unbinds(failing.clone()))?;
    let text = check_error("the run", done, |error| matches!(error, Error::Operator { .. }))?;
    check(failing.has_failed(), || "inconclusive: no call has failed".into())?;
    check_text(&text, &["`stop`", "bind", "INJECTED"])?;
    seen.check()
}

/// Breaks the device, and fails with an error of its own before a call has met that.
#[operator(streams(work, other))]
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
    // The kernel runs in the launch.
    let platform = Platform::host().seed(0).build()?;
    log::take();
    let text = check_error("the run", Breaks::new(&platform)?.run(), |error| {
        matches!(error, Error::Operator { .. })
    })?;
    check_text(&text, &["out of paper"])?;
    let lines = log::take();
    let reports =
        lines.iter().filter(|line| line.is_error && line.text.contains("KERNEL_PANICKED"));
    check(reports.count() == 1, || format!("logged: {lines:?}"))
}
