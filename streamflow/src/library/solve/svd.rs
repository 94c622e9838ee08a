//! Singular values.

use super::host::bodies;
use super::kernels::{transpose, warm_up_transpose};
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::{Checked, Real, layout};
use crate::context::{ExecutionContext, Stream};
use crate::error::Result;
use crate::library::ffi::cusolver::{Dense, Need};
use crate::library::{HostBody, Plan};
use crate::memory::{Buffer, Tensor};
use crate::stream::CudaStream;
use streamflow_macros::Message;

/// The name in messages.
const CALL: &str = "solve::Svd";

/// Finds the singular values and vectors of matrices of any shape, `A = U diag(s) VT`: cuSOLVER's `gesvd`, in the economy
/// form.
///
/// The signs of the vectors are free, and so are vectors of equal values among themselves; they differ between the
/// simulator and a GPU. A matrix with at least as many columns as rows is computed without being turned first.
#[derive(Debug)]
pub struct Svd<T: Real> {
    rows: usize,
    columns: usize,
    dense: Dense,
    /// A copy, which the library overwrites.
    copy: Buffer<T>,
    /// For a matrix with more rows than columns, whose result the library has in columns.
    turned: Option<Turned<T>>,
    body: HostBody,
}

#[derive(Debug)]
struct Turned<T: Real> {
    u: Buffer<T>,
    vt: Buffer<T>,
}

/// The result of [`Svd`], for a matrix of `m` by `n`, with `k` the smaller of the two. All is in rows.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct SingularValues<T: Real> {
    /// `[m, k]`, whose columns are orthonormal.
    pub u: Tensor<T>,
    /// `[k]`, the largest first.
    pub s: Tensor<T>,
    /// `[k, n]`, whose rows are orthonormal.
    pub vt: Tensor<T>,
}

impl<T: Real> Svd<T> {
    /// A plan for matrices of so many rows and columns.
    pub fn plan(rows: usize, columns: usize) -> Planner<Self> {
        Planner::new(rows, columns)
    }

    /// A place for the result.
    pub(super) fn result(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<SingularValues<T>>> {
        let k = self.rows.min(self.columns);
        let values = SingularValues {
            u: cx.tensor([self.rows, k], stream)?,
            s: cx.tensor([k], stream)?,
            vt: cx.tensor([k, self.columns], stream)?,
        };
        Checked::new(values, cx, stream)
    }

    /// `Plan::execute_blocking`, on the plan's stream.
    #[track_caller]
    pub(super) fn execute(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        out: &mut Checked<SingularValues<T>>,
    ) -> Result<()> {
        let (m, n) = (self.rows, self.columns);
        let k = m.min(n);
        layout::has_shape(CALL, "a", a.shape(), &[&[m, n]])?;
        layout::has_shape(CALL, "u", out.on_device().u.shape(), &[&[m, k]])?;
        layout::has_shape(CALL, "s", out.on_device().s.shape(), &[&[k]])?;
        layout::has_shape(CALL, "vt", out.on_device().vt.shape(), &[&[k, n]])?;
        layout::has_one_status(CALL, out.matrices())?;
        let (SingularValues { u, s, vt }, statuses) = out.parts_mut();
        let (body, copy) = (&self.body, &mut self.copy);
        if k == 0 {
            stream.fill_bytes(statuses, 0)?;
        } else if let Some(turned) = &mut self.turned {
            stream.launch::<transpose<T>>(m * n, (&mut *copy, a, m))?;
            let (left, right) = (&mut turned.u, &mut turned.vt);
            self.dense.gesvd(stream, body, (m, n), copy, s, left, right, statuses)?;
            stream.launch::<transpose<T>>(m * k, (u, &turned.u, k))?;
            stream.launch::<transpose<T>>(k * n, (vt, &turned.vt, n))?;
        } else {
            // The library sees the transposed matrix, V diag(s) transpose(U), and what it writes in columns are our rows.
            stream.copy(&**a, &mut **copy)?;
            self.dense.gesvd(stream, body, (n, m), copy, s, vt, u, statuses)?;
        }
        out.computed(Origin { call: CALL, finds: Finds::NoConvergence, marks: false });
        Ok(())
    }
}

impl<T: Real> Plan<Svd<T>> {
    /// A place for the result. It has memory of its own, so a plan can write several.
    ///
    /// # Errors
    /// [`Error::OtherStream`](crate::Error::OtherStream); the driver's, when memory is exhausted.
    pub fn result(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<SingularValues<T>>> {
        self.lend(stream)?.result(cx, stream)
    }

    /// Finds the singular values of `a`, in rows, with the plan's shape. Allocates nothing. On a GPU the library looks at
    /// results of its iteration on the host, so this may block until the stream's work is complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](crate::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's, perhaps for a matrix with a NaN; the driver's.
    #[track_caller]
    pub fn execute_blocking(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<SingularValues<T>>,
    ) -> Result<()> {
        self.lend(stream)?.execute(stream, a, out)
    }
}

impl<T: Real> Made for Svd<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (rows, columns) = (planner.rows, planner.columns);
        layout::fits(CALL, &[rows, columns])?;
        // The library needs at least as many rows as columns, and sees a matrix in rows transposed.
        let is_turned = rows > columns;
        let (long, short) = (rows.max(columns), rows.min(columns));
        let need = (short > 0).then_some(Need::Svd { rows: long, columns: short });
        let mut made = Self {
            rows,
            columns,
            dense: Dense::new::<T>(cx, stream, need.as_slice())?,
            copy: cx.buffer(rows * columns, stream)?,
            turned: None,
            body: bodies::gesvd::<T>(long, short),
        };
        if is_turned {
            let (u, vt) = (cx.buffer(long * short, stream)?, cx.buffer(short * short, stream)?);
            made.turned = Some(Turned { u, vt });
            warm_up_transpose(cx, stream, &mut made.copy)?;
        }
        Ok(made)
    }
}
