//! The decomposition `Qr`.

use arrayvec::ArrayVec;

use super::decomposition::{Decomposes, Shape, parts};
use super::host::bodies;
use super::kernels::{transpose, upper, warm_up_transpose};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::{Checked, Real, layout};
use crate::Plan;
use crate::error::{Result, wrong_operand};
use crate::ffi::cusolver::{Dense, Need};
use streamflow::CudaStream;
use streamflow::Message;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Tensor};
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::Qr";

/// Factors matrices with at least as many rows as columns into `A = Q R`: cuSOLVER's `geqrf` and `orgqr`, in the economy
/// form.
///
/// The signs of the rows of `R` are not determined: the simulator and a GPU may choose differently.
#[derive(Debug)]
pub struct Qr<T: Real> {
    rows: usize,
    columns: usize,
    dense: Dense,
    /// The matrix in columns, which the library overwrites.
    turned: Buffer<T>,
    tau: Buffer<T>,
    factor: HostBody,
    unpack: HostBody,
}

/// The result of [`Qr`], for a matrix of `m` by `n`. The two tensors are stored in rows.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct QrFactors<T: Real> {
    /// The factor `Q`, `[m, n]`, with orthonormal columns.
    pub q: Tensor<T>,
    /// The factor `R`, `[n, n]`, with zeros below the diagonal.
    pub r: Tensor<T>,
}

parts!(QrFactors: q, r);

impl<T: Real> Qr<T> {
    /// Begins a plan for matrices with this number of rows and columns.
    pub fn plan(rows: usize, columns: usize) -> Planner<Self> {
        Planner::new(rows, columns)
    }
}

impl<T: Real> Decomposes for Qr<T> {
    type Element = T;
    type Parts = QrFactors<T>;
    const CALL: &'static str = CALL;

    fn marks(&self) -> bool {
        true
    }

    fn shapes(&self) -> ArrayVec<Shape, 4> {
        let (m, n) = (self.rows, self.columns);
        [[m, n], [m, n], [n, n]].map(Shape::from).into_iter().collect()
    }

    #[track_caller]
    fn decompose(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<T>,
        QrFactors { q, r }: &mut QrFactors<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        let (m, n) = (self.rows, self.columns);
        let Some((mut first, mut second)) = statuses.split_at_mut(1) else {
            unreachable!("there are two for each matrix")
        };
        // The kernel below overwrites the whole buffer, so earlier marks of unwritten memory don't count.
        self.turned.assume_written();
        stream.launch::<transpose<T>>(m * n, (&mut self.turned, a, m))?;
        let (turned, tau) = (&mut self.turned, &mut self.tau);
        self.dense.geqrf(stream, &self.factor, (m, n), turned, tau, &mut first)?;
        stream.launch::<upper<T>>(n * n, (r, &self.turned, n, m, T::ZERO))?;
        let (turned, tau) = (&mut self.turned, &self.tau);
        self.dense.orgqr(stream, &self.unpack, (m, n), turned, tau, &mut second)?;
        stream.launch::<transpose<T>>(m * n, (q, &self.turned, n))
    }
}

impl<T: Real> Plan<Qr<T>> {
    /// Queues the factorisation of `a`, in rows, with the plan's shape. Allocates nothing, and does not block.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other
    /// shapes; the library's error; the driver's error.
    #[track_caller]
    pub fn execute(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<T>,
        out: &mut Checked<QrFactors<T>>,
    ) -> Result<()> {
        self.decompose(stream, a, out)
    }
}

impl<T: Real> Made for Qr<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (rows, columns) = (planner.rows, planner.columns);
        layout::fits(CALL, &[rows, columns])?;
        if rows < columns {
            let problem = format!(
                "has {rows} rows and {columns} columns, but QR needs at least as many rows as columns; factor the transposed \
                 matrix, or use `Svd`"
            );
            return Err(wrong_operand(CALL, "plan", problem));
        }
        let need = (columns > 0).then_some(Need::Qr { rows, columns });
        if columns > 0 {
            warm_up_transpose::<T>(cx, stream)?;
        }
        Ok(Self {
            rows,
            columns,
            dense: Dense::new::<T>(cx, stream, need.as_slice())?,
            turned: cx.buffer(rows * columns, stream)?,
            // On the simulator, the host body of `geqrf` stores `Q` in `tau`.
            tau: cx.buffer(
                if stream.device_info()?.is_simulated { rows * columns } else { columns },
                stream,
            )?,
            factor: bodies::geqrf::<T>(rows, columns),
            unpack: bodies::orgqr::<T>(),
        })
    }
}
