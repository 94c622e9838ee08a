//! The parts of each solver of systems except its factors.

use super::Factor;
use super::sizes::Sizes;
use super::taken::Matrices;
use crate::error::Result;
use streamflow::Buffer;
use streamflow::library::HostBody;
use streamflow::{ExecutionContext, Stream};

/// The sizes and the host bodies of a solver, and the statuses of the matrices and solutions that
/// it keeps.
#[derive(Debug)]
pub struct Common {
    pub(super) sizes: Sizes,
    /// The statuses of the matrices that the solver keeps: a status for each, and then a number for each that tells of a NaN.
    pub(super) statuses: Buffer<i32>,
    /// The status of the solution itself. It reports only wrong arguments, which the call's own status reports, too.
    pub(super) solved: Buffer<i32>,
    pub(super) factor: HostBody,
    pub(super) solve: HostBody,
    /// Whether only the lower triangle of a matrix is read.
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

    /// The number and the sizes of the matrices that a call takes.
    pub(super) fn matrices(&self) -> Matrices {
        let (count, n) = (self.sizes.matrices(), self.sizes.n);
        Matrices { count, rows: n, columns: n, is_lower: self.is_lower }
    }
}
