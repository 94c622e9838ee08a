//! The decomposition `Eigen`, for symmetric matrices.

use std::iter;
use std::marker::PhantomData;

use arrayvec::ArrayVec;

use super::decomposition::{Decomposes, Shape, parts};
use super::host::bodies;
use super::planner::Planner;
use super::planner::sealed::Made;
use super::taken::Matrices;
use super::{Checked, Real, layout};
use crate::Plan;
use crate::error::Result;
use crate::ffi::cusolver::{Dense, Need};
use streamflow::CudaStream;
use streamflow::Message;
use streamflow::Tensor;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::Eigen";

/// Finds the eigenvalues and eigenvectors of symmetric matrices: cuSOLVER's `syevd`, or `syevjBatched` for a batch. Only the
/// lower triangle is read.
///
/// The signs of the eigenvectors are not determined, and neither are the vectors of equal values among themselves: the
/// simulator and a GPU may choose differently.
#[derive(Debug)]
pub struct Eigen<T: Real> {
    n: usize,
    batch: Option<usize>,
    dense: Dense,
    body: HostBody,
    element: PhantomData<fn() -> T>,
}

/// The result of [`Eigen`]. In a batch, each shape begins with the number of matrices.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Eigenpairs<T: Real> {
    /// The eigenvalues, `[n]`, the smallest first.
    pub values: Tensor<T>,
    /// The eigenvectors, `[n, n]`. Row `i` is the vector of value `i`, and has length 1.
    pub vectors: Tensor<T>,
}

parts!(Eigenpairs: values, vectors);

impl<T: Real> Eigen<T> {
    /// Begins a plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }

    fn matrices(&self) -> Matrices {
        Matrices { count: self.batch.unwrap_or(1), rows: self.n, columns: self.n, is_lower: true }
    }
}

impl<T: Real> Decomposes for Eigen<T> {
    type Element = T;
    type Parts = Eigenpairs<T>;
    const CALL: &'static str = CALL;

    fn batch(&self) -> Option<usize> {
        self.batch
    }

    fn shapes(&self) -> ArrayVec<Shape, 4> {
        let (line, square) = (iter::once(self.n).collect(), Shape::from([self.n, self.n]));
        [square.clone(), line, square].into_iter().collect()
    }

    #[track_caller]
    fn decompose(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        Eigenpairs { values, vectors }: &mut Eigenpairs<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        let (n, matrices, body) = (self.n, self.matrices(), &self.body);
        // The library's matrices are in columns, so its columns are rows here. A symmetric matrix is equal to its transpose.
        if self.batch.is_none() {
            stream.copy(a, vectors)?;
            return self.dense.syevd(stream, body, n, vectors, values, statuses);
        }
        matrices.take(stream, a, vectors, statuses)?;
        let lengths = (n, matrices.count);
        self.dense.syevj_batched(stream, body, lengths, vectors, values, statuses)
    }
}

impl<T: Real> Planner<Eigen<T>> {
    /// Plans for `count` matrices at a time, each with its own status: cuSOLVER's `syevjBatched`, a routine for many small
    /// matrices that is fastest up to 32 rows.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Real> Plan<Eigen<T>> {
    /// Finds the eigenvalues and eigenvectors of `a`, `[n, n]`, or `[m, n, n]` in a [batch](Planner::batch) of `m`. Allocates
    /// nothing. On a GPU the library reads results of its iteration on the host, so the call may block until the stream's
    /// work is complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's error, perhaps for a matrix with a NaN; the driver's error.
    #[track_caller]
    pub fn execute_blocking(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<Eigenpairs<T>>,
    ) -> Result<()> {
        self.decompose(stream, a, out)
    }
}

impl<T: Real> Made for Eigen<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, batch) = (planner.rows, planner.batch);
        layout::fits(CALL, &layout::in_batch(batch, &[n, n]))?;
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
