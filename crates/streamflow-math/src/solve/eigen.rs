//! Eigenvalues of symmetric matrices.

use std::marker::PhantomData;

use super::host::bodies;
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::taken::Matrices;
use super::{Checked, Real, layout};
use crate::Plan;
use crate::error::Result;
use crate::ffi::cusolver::{Dense, Need};
use streamflow::Message;
use streamflow::context::{ExecutionContext, Stream};
use streamflow::library::HostBody;
use streamflow::library::target::{Part, Target, written};
use streamflow::memory::Tensor;
use streamflow::stream::CudaStream;

/// The name in messages.
const CALL: &str = "solve::Eigen";

/// Finds the eigenvalues and eigenvectors of symmetric matrices: cuSOLVER's `syevd`, or `syevjBatched` for a batch. Only the
/// lower triangle is read.
///
/// The signs of the eigenvectors are free, and so are vectors of equal values among themselves; they differ between the
/// simulator and a GPU.
#[derive(Debug)]
pub struct Eigen<T: Real> {
    n: usize,
    batch: Option<usize>,
    dense: Dense,
    body: HostBody,
    element: PhantomData<fn() -> T>,
}

/// The result of [`Eigen`]. In a batch each shape has the number of matrices before it.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Eigenpairs<T: Real> {
    /// `[n]`, the smallest first.
    pub values: Tensor<T>,
    /// `[n, n]`: row `i` is the eigenvector of value `i`, of length 1.
    pub vectors: Tensor<T>,
}

impl<T: Real> Target for Eigenpairs<T> {
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.values.parts().chain(self.vectors.parts())
    }
}

impl<T: Real> Eigen<T> {
    /// A plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }

    fn matrices(&self) -> Matrices {
        Matrices { count: self.batch.unwrap_or(1), rows: self.n, columns: self.n, is_lower: true }
    }

    /// A place for the result.
    pub(super) fn result(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<Eigenpairs<T>>> {
        let (n, batch) = (self.n, self.batch);
        let values = cx.tensor(&*layout::in_batch(batch, [n]), stream)?;
        let vectors = cx.tensor(&*layout::in_batch(batch, [n, n]), stream)?;
        Checked::of_batch(self.matrices().count, Eigenpairs { values, vectors }, cx, stream)
    }

    /// `Plan::execute_blocking`, on the plan's stream.
    #[track_caller]
    pub(super) fn execute(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        out: &mut Checked<Eigenpairs<T>>,
    ) -> Result<()> {
        let (n, matrices) = (self.n, self.matrices());
        let (line, square) =
            (layout::in_batch(self.batch, [n]), layout::in_batch(self.batch, [n, n]));
        layout::has_shape(CALL, "a", a.shape(), &[&square])?;
        layout::has_shape(CALL, "values", out.on_device().values.shape(), &[&line])?;
        layout::has_shape(CALL, "vectors", out.on_device().vectors.shape(), &[&square])?;
        layout::has_statuses(CALL, out.matrices(), matrices.count)?;
        let (Eigenpairs { values, vectors }, statuses) = out.parts_mut();
        let body = &self.body;
        // The library's columns are our rows, and a symmetric matrix is its own transpose.
        if a.is_empty() {
            stream.fill_bytes(statuses, 0)?;
        } else if self.batch.is_some() {
            matrices.take(stream, a, vectors, statuses)?;
            let lengths = (n, matrices.count);
            self.dense.syevj_batched(stream, body, lengths, vectors, values, statuses)?;
        } else {
            stream.copy(a, vectors)?;
            self.dense.syevd(stream, body, n, vectors, values, statuses)?;
        }
        let marks = self.batch.is_some();
        out.computed(Origin { call: CALL, finds: Finds::NoConvergence, marks });
        Ok(())
    }
}

impl<T: Real> Planner<Eigen<T>> {
    /// For `count` matrices at a time, each with a status of its own: cuSOLVER's `syevjBatched`, which is for many small
    /// matrices. It is fastest up to 32 rows.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Real> Plan<Eigen<T>> {
    /// A place for the result. It has memory of its own, so a plan can write several.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); the driver's, when memory is exhausted.
    pub fn result(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<Eigenpairs<T>>> {
        self.lend(stream)?.result(cx, stream)
    }

    /// Finds the eigenvalues of `a`, `[n, n]`, or `[m, n, n]` in a [batch](Planner::batch) of `m`. Allocates nothing. On a
    /// GPU the library looks at results of its iteration on the host, so this may block until the stream's work is
    /// complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's, perhaps for a matrix with a NaN; the driver's.
    #[track_caller]
    pub fn execute_blocking(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<Eigenpairs<T>>,
    ) -> Result<()> {
        let solver = written(self.lend(stream), out)?;
        written(solver.execute(stream, a, out), out)
    }
}

impl<T: Real> Made for Eigen<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, batch) = (planner.rows, planner.batch);
        layout::fits(CALL, &layout::in_batch(batch, [n, n]))?;
        let (need, body) = match batch {
            None => (Need::Eigen { n }, bodies::syevd::<T>(n)),
            Some(count) => (Need::EigenBatched { n, count }, bodies::syevj_batched::<T>(n)),
        };
        let need = (n * batch.unwrap_or(1) > 0).then_some(need);
        let dense = Dense::new::<T>(cx, stream, need.as_slice())?;
        let made = Self { n, batch, dense, body, element: PhantomData };
        if batch.is_some() {
            made.matrices().warm_up::<T>(cx, stream)?;
        }
        Ok(made)
    }
}
