//! An operator whose `compute` is a closure, for calls that need a hook.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, check};

/// A closure that is called in `compute`, with two streams of the operator.
type Body = Box<dyn FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send>;

// The third stream leaves room in the pool for the internal stream, on which some calls work.
#[operator(streams(work, other, unused))]
pub(super) struct Hook {
    #[output]
    done: u64,
    body: Body,
}

impl Compute for Hook {
    fn compute(&mut self, io: HookIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (work, other) = (cx.allocate_cuda_stream(io.work)?, cx.allocate_cuda_stream(io.other)?);
        (self.body)(cx, &work, &other)?;
        io.done.emit(cx.tick())
    }
}

/// Runs a closure for this many ticks.
pub(super) fn ticks(
    platform: &Platform,
    count: u64,
    body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Hook::new(Box::new(body)))?;
    for _ in 0..count {
        check(harness.tick()?, || "the source was not ready".into())?;
        harness.take(|ports| &mut ports.done);
    }
    Ok(harness.stop()?)
}

/// Runs a closure for one tick.
pub(crate) fn once(
    platform: &Platform,
    body: impl FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<()> + Send + 'static,
) -> Result<(), Failed> {
    ticks(platform, 1, body)
}

/// Returns a tensor of this shape with these values.
pub(super) fn tensor<T: Element>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    shape: &[usize],
    values: &[T],
) -> Result<Tensor<T>> {
    let mut tensor = cx.tensor(shape, stream)?;
    stream.upload_blocking(values, &mut tensor)?;
    Ok(tensor)
}
