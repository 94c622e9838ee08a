//! Calls of libraries' plans, with their operands. The benchmark `libraries` measures these calls, and a test traces the
//! CUDA calls that they make.

mod fft;
mod matmul;
mod problem;
mod solve;
mod sparse;

pub use problem::{Problem, Values};

use streamflow::prelude::*;

/// A plan with its operands.
pub trait Workload: Send {
    /// Prepares the operands of `calls` calls, if a call overwrites its operand. The second time with the same number of
    /// calls, it allocates nothing.
    ///
    /// # Errors
    /// Those of the driver.
    fn prepare(&mut self, calls: usize, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
        let _ = (calls, cx, stream);
        Ok(())
    }

    /// Queues one call.
    ///
    /// # Errors
    /// Those of the plan.
    fn call(&mut self, stream: &Stream<'_>) -> Result<()>;

    /// Returns the values that the first call after `prepare` wrote.
    ///
    /// # Errors
    /// Those of the driver.
    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values>;
}

/// A function that makes the workload of a problem.
type Make = fn(&Problem, &ExecutionContext, &Stream<'_>) -> Result<Box<dyn Workload>>;

/// The kinds of problems, and the function that makes the workload of each kind.
const KINDS: &[(&str, Make)] = &[
    ("fft", fft::fft),
    ("matmul", matmul::matmul),
    ("spmv", sparse::spmv),
    ("cholesky", solve::cholesky),
];

/// The error for a problem whose sizes and inputs do not fit its kind.
fn of_another_kind() -> Failure {
    Failure::msg("sizes and inputs of another problem")
}

impl Problem {
    /// Makes the problem's plan on a stream of an operator, and uploads its operands.
    ///
    /// # Errors
    /// A problem of an unknown kind; the errors of the plan and of the driver.
    pub fn workload(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Box<dyn Workload>> {
        let known = KINDS.iter().find(|(kind, _)| *kind == self.kind);
        let Some((_, make)) = known else {
            return Err(Failure::msg(format!("there is no plan for `{}`", self.kind)));
        };
        make(self, cx, stream)
    }

    /// Returns small problems of each kind.
    pub fn small() -> Vec<Self> {
        vec![
            Self::fft(1, &[120]),
            Self::fft(3, &[6, 10]),
            Self::matmul(24, 16, 40, 1),
            Self::matmul(8, 8, 8, 5),
            Self::matmul_bf16(24, 16, 40, 1),
            Self::spmv(300, 7),
            Self::cholesky(20),
        ]
    }
}
