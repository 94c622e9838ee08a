//! An operator that runs a test's code in a tick: plans need a hook's streams.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;

type Body = Box<dyn FnOnce(&ExecutionContext) -> Result<()> + Send>;

#[operator(streams(a, b))]
struct Within {
    #[output]
    done: u64,
    body: Option<Body>,
}

impl Compute for Within {
    fn compute(&mut self, io: WithinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if let Some(body) = self.body.take() {
            body(cx)?;
        }
        io.done.emit(cx.tick())
    }
}

/// Returns the result of `body`, which is called in a tick of an operator with the streams `a` and `b`.
pub(super) fn within<R: Send + 'static>(
    platform: &Platform,
    body: impl FnOnce(&ExecutionContext) -> Result<R> + Send + 'static,
) -> Result<R> {
    let result = Arc::new(Mutex::new(None));
    let to = result.clone();
    let body: Body = Box::new(move |cx| {
        let found = body(cx)?;
        *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        Ok(())
    });
    let mut harness = OperatorHarness::new(platform, Within::new(Some(body)))?;
    harness.tick()?;
    harness.stop()?;
    let found = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    found.ok_or_else(|| Failure::msg("the operator did not run"))
}

/// Returns the operator's stream of this name: `a` or `b`.
pub(super) fn stream<'c>(cx: &'c ExecutionContext, name: &str) -> Result<Stream<'c>> {
    Ok(cx.allocate_cuda_stream_named(name)?)
}
