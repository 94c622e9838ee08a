//! The parts that all solvers of systems have, whatever their factors are.

use super::Factor;
use super::sizes::Sizes;
use super::taken::Matrices;
use crate::error::Result;
use streamflow::Buffer;
use streamflow::library::HostBody;
use streamflow::{ExecutionContext, Stream};

/// The sizes and the host bodies of a solver, and the statuses that the solver keeps in device memory.
#[derive(Debug)]
pub struct Common {
    pub(super) sizes: Sizes,
    /// The statuses of the matrices that the plan has factored: a status for each, and then a mark for each.
    pub(super) statuses: Buffer<i32>,
    /// The status of the call that solves. It reports wrong arguments, which the function's own return value also does.
    pub(super) solved: Buffer<i32>,
    pub(super) factor: HostBody,
    pub(super) solve: HostBody,
    /// Whether the solver reads only the lower triangle of a matrix.
    is_lower: bool,
}

impl Common {
    /// Creates the parts for matrices of `T`, with the host bodies of the factorisation and of the
    /// solution.
    pub(super) fn new<T: Factor>(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        sizes: Sizes,
        [factor, solve]: [HostBody; 2],
        is_lower: bool,
    ) -> Result<Self> {
        let statuses = cx.buffer(2 * sizes.matrices(), stream)?;
        let solved = cx.buffer(1, stream)?;
        let made = Self { sizes, statuses, solved, factor, solve, is_lower };
        made.matrices().warm_up::<T>(cx, stream)?;
        Ok(made)
    }

    /// Returns the number and the shape of the matrices of a call.
    pub(super) fn matrices(&self) -> Matrices {
        let (count, n) = (self.sizes.matrices(), self.sizes.n);
        Matrices { count, rows: n, columns: n, is_lower: self.is_lower }
    }
}
