//! Eigenvalues of symmetric matrices.

use std::marker::PhantomData;

use super::host::bodies;
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::{Checked, Real, layout};
use crate::context::{ExecutionContext, Stream};
use crate::error::Result;
use crate::library::ffi::cusolver::{Dense, Need};
use crate::library::{HostBody, Plan};
use crate::memory::Tensor;
use crate::stream::CudaStream;
use streamflow_macros::Message;

/// The name in messages.
const CALL: &str = "solve::Eigen";

/// Finds the eigenvalues and eigenvectors of symmetric matrices: cuSOLVER's `syevd`. Only the lower triangle is read.
///
/// The signs of the eigenvectors are free, and so are vectors of equal values among themselves; they differ between the
/// simulator and a GPU.
#[derive(Debug)]
pub struct Eigen<T: Real> {
    n: usize,
    dense: Dense,
    body: HostBody,
    element: PhantomData<fn() -> T>,
}

/// The result of [`Eigen`].
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Eigenpairs<T: Real> {
    /// `[n]`, the smallest first.
    pub values: Tensor<T>,
    /// `[n, n]`: row `i` is the eigenvector of value `i`, of length 1.
    pub vectors: Tensor<T>,
}

impl<T: Real> Eigen<T> {
    /// A plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }

    /// A place for the result.
    pub(super) fn result(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<Eigenpairs<T>>> {
        let (values, vectors) =
            (cx.tensor([self.n], stream)?, cx.tensor([self.n, self.n], stream)?);
        Checked::new(Eigenpairs { values, vectors }, cx, stream)
    }

    /// `Plan::execute_blocking`, on the plan's stream.
    #[track_caller]
    pub(super) fn execute(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        out: &mut Checked<Eigenpairs<T>>,
    ) -> Result<()> {
        let n = self.n;
        layout::has_shape(CALL, "a", a.shape(), &[&[n, n]])?;
        layout::has_shape(CALL, "values", out.on_device().values.shape(), &[&[n]])?;
        layout::has_shape(CALL, "vectors", out.on_device().vectors.shape(), &[&[n, n]])?;
        layout::has_one_status(CALL, out.matrices())?;
        let (Eigenpairs { values, vectors }, statuses) = out.parts_mut();
        if n == 0 {
            stream.fill_bytes(statuses, 0)?;
        } else {
            // The library's columns are our rows, and a symmetric matrix is its own transpose.
            stream.copy(a, vectors)?;
            self.dense.syevd(stream, &self.body, n, vectors, values, statuses)?;
        }
        out.computed(Origin { call: CALL, finds: Finds::NoConvergence, marks: false });
        Ok(())
    }
}

impl<T: Real> Plan<Eigen<T>> {
    /// A place for the result. It has memory of its own, so a plan can write several.
    ///
    /// # Errors
    /// [`Error::OtherStream`](crate::Error::OtherStream); the driver's, when memory is exhausted.
    pub fn result(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<Eigenpairs<T>>> {
        self.lend(stream)?.result(cx, stream)
    }

    /// Finds the eigenvalues of `a`, `[n, n]`. Allocates nothing. On a GPU the library looks at results of its iteration
    /// on the host, so this may block until the stream's work is complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](crate::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's, perhaps for a matrix with a NaN; the driver's.
    #[track_caller]
    pub fn execute_blocking(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<Eigenpairs<T>>,
    ) -> Result<()> {
        self.lend(stream)?.execute(stream, a, out)
    }
}

impl<T: Real> Made for Eigen<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let n = planner.rows;
        layout::fits(CALL, &[n, n])?;
        let need = (n > 0).then_some(Need::Eigen { n });
        let dense = Dense::new::<T>(cx, stream, need.as_slice())?;
        Ok(Self { n, dense, body: bodies::syevd::<T>(n), element: PhantomData })
    }
}
