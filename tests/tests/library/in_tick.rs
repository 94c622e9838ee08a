//! Runs a function in the ticks of an operator with two streams.

use std::thread;

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::Failed;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};

/// A function that is called in each tick, with the operator's streams `work` and `other`.
type Body = Box<dyn FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send>;

// The third stream leaves room in the pool for the internal stream, which functions for the host use.
#[operator(streams(work, other, spare))]
struct Runs {
    #[output]
    done: u32,
    body: Body,
}

impl Compute for Runs {
    fn compute(&mut self, io: RunsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let work = cx.allocate_cuda_stream(io.work)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        (self.body)(cx, &work, &other)?;
        io.done.emit(1)
    }
}

/// Runs a function in `count` ticks of one operator.
pub(crate) fn in_ticks(
    platform: &Platform,
    ticks: u32,
    body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Runs::new(Box::new(body)))?;
    for _ in 0..ticks {
        harness.tick()?;
        harness.take(|ports| &mut ports.done);
    }
    Ok(harness.stop()?)
}

/// Runs a function in `count` ticks of one operator, each tick on a thread of its own.
pub(crate) fn ticks_on_threads(
    platform: &Platform,
    ticks: u32,
    body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Runs::new(Box::new(body)))?;
    for _ in 0..ticks {
        let ticked = thread::scope(|scope| {
            let tick = scope.spawn(|| {
                harness.tick()?;
                harness.take(|ports| &mut ports.done);
                Ok::<_, Error>(())
            });
            tick.join().map_err(|_| Failed::msg("the thread panicked"))
        });
        ticked??;
    }
    Ok(harness.stop()?)
}

/// Runs a function in one tick.
pub(crate) fn in_tick(
    platform: &Platform,
    body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    in_ticks(platform, 1, body)
}

/// Checks that a value which a function computes in a tick is right.
pub(crate) fn holds_in_tick(
    platform: &Platform,
    mut body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<bool> + Send + 'static,
) -> Result<bool> {
    let (tell, told) = std::sync::mpsc::channel();
    in_tick(platform, move |cx, work, other| Ok(tell.send(body(cx, work, other)?)?))?;
    Ok(told.recv()?)
}

/// Returns the text of the error that a call in a tick has returned. Fails if the call has succeeded.
pub(crate) fn text<T: std::fmt::Debug>(done: Result<T, Error>) -> Result<String> {
    match done {
        Err(error) => Ok(error.to_string()),
        Ok(value) => Err(Failure::msg(format!("no error, but {value:?}"))),
    }
}

/// Loads the kernels that tests of order launch. A GPU loads a kernel at its first launch, and may wait for
/// earlier work before. A control without order would then have the right data.
pub(crate) fn load_kernels(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    let (mut a, mut b) = (cx.tensor([1], stream)?, cx.tensor([1], stream)?);
    stream.launch::<slow_fill>(1, (&mut a, 0.0, 0))?;
    stream.launch::<slow_copy>(1, (&mut b, &a, 0))?;
    stream.launch::<add_one>(1, (&mut b,))?;
    stream.synchronize_blocking()?;
    Ok(())
}

/// Returns whether the mathematics package has refused an operand.
pub(crate) fn is_operand(error: &Error) -> bool {
    matches!(error.find_cause(), Some(streamflow_math::Error::Operand { .. }))
}

/// Returns whether a solver has found no result.
pub(crate) fn is_unsolvable(error: &Error) -> bool {
    matches!(error.find_cause(), Some(streamflow_math::Error::Unsolvable { .. }))
}
