//! Calls of libraries' plans, with operands of their own: the benchmark `libraries` measures them, and a test traces the
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
    /// Prepares so many calls, where a call overwrites its operand. After the first time with this number of calls it
    /// makes no resources.
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

    /// The values that the first call after `prepare` wrote.
    ///
    /// # Errors
    /// Those of the driver.
    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values>;
}

/// How the workload of a problem is made.
type Make = fn(&Problem, &ExecutionContext, &Stream<'_>) -> Result<Box<dyn Workload>>;

/// The kinds of problems, and how their workloads are made.
const KINDS: &[(&str, Make)] = &[
    ("fft", fft::fft),
    ("matmul", matmul::matmul),
    ("spmv", sparse::spmv),
    ("cholesky", solve::cholesky),
];

/// The error for a problem with sizes and inputs of another kind.
fn of_another_kind() -> Failure {
    Failure::msg("sizes and inputs of another problem")
}

impl Problem {
    /// Makes the plan on a stream of an operator, and uploads the operands.
    ///
    /// # Errors
    /// A problem of no known kind; those of the plan; those of the driver.
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

    /// Small problems of each kind.
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
