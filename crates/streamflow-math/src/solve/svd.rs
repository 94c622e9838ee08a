//! The decomposition `Svd`.

use std::iter;

use arrayvec::ArrayVec;

use super::decomposition::{Decomposes, Shape, parts};
use super::host::bodies;
use super::kernels::{transpose, warm_up_transpose};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::svd_batch::BatchVectors;
use super::{Checked, Real, layout};
use crate::Plan;
use crate::error::Result;
use crate::ffi::cusolver::{Dense, Need};
use streamflow::CudaStream;
use streamflow::Message;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Tensor};
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::Svd";

/// Finds the singular values and vectors of matrices of any shape, `A = U diag(s) VT`: cuSOLVER's `gesvd`, in the economy
/// form, or `gesvdjBatched` for a batch.
///
/// The signs of the vectors are not determined, and neither are the vectors of equal values among themselves: the simulator
/// and a GPU may choose differently. A matrix with at least as many columns as rows is not transposed first.
#[derive(Debug)]
pub struct Svd<T: Real> {
    rows: usize,
    columns: usize,
    dense: Dense,
    /// The plan's copy of the matrix, which the library overwrites.
    copy: Buffer<T>,
    vectors: Vectors<T>,
    body: HostBody,
}

/// The memory for vectors that the library does not write as rows of the result.
#[derive(Debug)]
enum Vectors<T: Real> {
    /// The library's vectors are rows of the result, so the library writes into the result itself.
    InPlace,
    /// For a matrix with more rows than columns, the library writes its vectors as columns, into these buffers.
    Turned {
        u: Buffer<T>,
        vt: Buffer<T>,
    },
    Batch(BatchVectors<T>),
}

/// The result of [`Svd`], for a matrix of `m` by `n`, with `k` the smaller of the two. All tensors are in rows. In a batch,
/// each shape begins with the number of matrices.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct SingularValues<T: Real> {
    /// The left vectors, `[m, k]`, with orthonormal columns.
    pub u: Tensor<T>,
    /// The singular values, `[k]`, the largest first.
    pub s: Tensor<T>,
    /// The right vectors, `[k, n]`, with orthonormal rows.
    pub vt: Tensor<T>,
}

parts!(SingularValues: u, s, vt);

impl<T: Real> Svd<T> {
    /// Begins a plan for matrices with this number of rows and columns.
    pub fn plan(rows: usize, columns: usize) -> Planner<Self> {
        Planner::new(rows, columns)
    }
}

impl<T: Real> Decomposes for Svd<T> {
    type Element = T;
    type Parts = SingularValues<T>;
    const CALL: &'static str = CALL;

    fn batch(&self) -> Option<usize> {
        match &self.vectors {
            Vectors::Batch(vectors) => Some(vectors.count()),
            Vectors::InPlace | Vectors::Turned { .. } => None,
        }
    }

    fn shapes(&self) -> ArrayVec<Shape, 4> {
        let (m, n) = (self.rows, self.columns);
        let k = m.min(n);
        let line = iter::once(k).collect();
        [[m, n].into(), [m, k].into(), line, [k, n].into()].into_iter().collect()
    }

    #[track_caller]
    fn decompose(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        SingularValues { u, s, vt }: &mut SingularValues<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        let (m, n) = (self.rows, self.columns);
        let k = m.min(n);
        let (dense, body, copy) = (&mut self.dense, &self.body, &mut self.copy);
        match &mut self.vectors {
            Vectors::InPlace => {
                // The library reads the matrix as its transpose, V diag(s) transpose(U), and the columns of vectors that it
                // writes are rows here.
                stream.copy(&**a, &mut **copy)?;
                dense.gesvd(stream, body, (n, m), copy, s, vt, u, statuses)
            }
            Vectors::Turned { u: left, vt: right } => {
                // The kernel below overwrites the whole buffer, so earlier marks of unwritten memory don't count.
                copy.assume_written();
                stream.launch::<transpose<T>>(m * n, (&mut *copy, a, m))?;
                dense.gesvd(stream, body, (m, n), copy, s, left, right, statuses)?;
                stream.launch::<transpose<T>>(m * k, (u, &*left, k))?;
                stream.launch::<transpose<T>>(k * n, (vt, &*right, n))
            }
            Vectors::Batch(vectors) => {
                vectors.matrices().take(stream, a, copy, statuses)?;
                vectors.execute(dense, stream, body, copy, (u, s, vt), statuses)
            }
        }
    }
}

impl<T: Real> Planner<Svd<T>> {
    /// Plans for `count` matrices at a time, each with its own status: cuSOLVER's `gesvdjBatched`, which takes matrices of at
    /// most 32 rows and columns.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Real> Plan<Svd<T>> {
    /// Finds the singular values of `a`, in rows, with the plan's shape; in a [batch](Planner::batch) of `m` matrices,
    /// the shape begins with `m`. Allocates nothing. On a GPU the library reads results of its iteration on the host,
    /// so the call may block until the stream's work is complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's error, perhaps for a matrix with a NaN; the driver's error.
    #[track_caller]
    pub fn execute_blocking(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<SingularValues<T>>,
    ) -> Result<()> {
        self.decompose(stream, a, out)
    }
}

impl<T: Real> Made for Svd<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (rows, columns, batch) = (planner.rows, planner.columns, planner.batch);
        layout::fits(CALL, &layout::in_batch(batch, &[rows, columns]))?;
        // The library needs at least as many rows as columns, and it reads a matrix in rows as its transpose.
        let (long, short) = (rows.max(columns), rows.min(columns));
        let (need, body) = match batch {
            None => (Need::Svd { rows: long, columns: short }, bodies::gesvd::<T>(long, short)),
            Some(count) => {
                BatchVectors::<T>::check(CALL, rows, columns)?;
                let need = Need::SvdBatched { rows: columns, columns: rows, count };
                (need, bodies::gesvdj_batched::<T>(columns, rows))
            }
        };
        let elements = rows * columns * batch.unwrap_or(1);
        let need = (elements > 0).then_some(need);
        let dense = Dense::new::<T>(cx, stream, need.as_slice())?;
        let copy = cx.buffer(elements, stream)?;
        let vectors = match batch {
            Some(count) => Vectors::Batch(BatchVectors::new(cx, stream, rows, columns, count)?),
            None if rows > columns => {
                warm_up_transpose::<T>(cx, stream)?;
                let u = cx.buffer(long * short, stream)?;
                Vectors::Turned { u, vt: cx.buffer(short * short, stream)? }
            }
            None => Vectors::InPlace,
        };
        Ok(Self { rows, columns, dense, copy, vectors, body })
    }
}
