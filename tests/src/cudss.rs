//! Support for tests of cuDSS, which is not part of a CUDA toolkit, so a machine with a GPU may lack it.

use streamflow::driver::DriverError;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::solve::DirectSolver;
use streamflow_math::sparse::Csr;

use crate::Suite;

/// The environment variable that makes a missing cuDSS a failure.
const REQUIRE: &str = "STREAMFLOW_REQUIRE_CUDSS";

/// Adds tests that call cuDSS on a GPU. On a machine without cuDSS they are reported as ignored, with the library's own
/// error, or as failed with `STREAMFLOW_REQUIRE_CUDSS=1`. On the simulator they run without the library.
#[must_use]
pub fn needed(suite: Suite, add: impl FnOnce(Suite) -> Suite) -> Suite {
    suite.unless_on_cuda(REQUIRE, missing, add)
}

/// Returns the reason if a platform has no cuDSS. Returns `None` if it has cuDSS, and also for every other error, which
/// the test itself will then show.
pub fn missing(platform: &Platform) -> Option<String> {
    let ticked = OperatorHarness::new(platform, Plans::new()).and_then(|mut it| it.tick());
    let error = ticked.err()?;
    match error.find_cause::<DriverError>() {
        Some(unavailable @ DriverError::Unavailable { .. }) => Some(unavailable.to_string()),
        _ => None,
    }
}

/// An operator that makes a plan of cuDSS in its tick.
#[operator(streams(work))]
struct Plans {
    #[output]
    made: u32,
}

impl Compute for Plans {
    fn compute(&mut self, io: PlansIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let matrix = Csr::upload(cx, [1, 1], &[0, 1], &[0], &[1.0_f32])?;
        drop(DirectSolver::plan(&matrix).on_blocking(cx, &stream)?);
        io.made.emit(1)
    }
}
