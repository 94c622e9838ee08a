//! Copies the matrices that a solver gets, and marks each matrix that has a NaN.

use super::Factor;
use super::kernels::{take, warm_up};
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// The number and the shape of the matrices of a call. The matrices are in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrices {
    pub(super) count: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Whether the solver reads only the lower triangle of a matrix.
    pub(super) is_lower: bool,
}

impl Matrices {
    /// Copies the matrices, sets the first half of the statuses to 0, and marks the matrices with a NaN in the second half.
    #[track_caller]
    pub(super) fn take<T: Factor>(
        self,
        stream: &CudaStream,
        a: &DeviceSlice<T>,
        copy: &mut DeviceSlice<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        let Self { count, rows, columns, is_lower } = self;
        stream.fill_bytes(statuses, 0)?;
        if a.is_empty() {
            return Ok(());
        }
        let Some((_, mut marks)) = statuses.split_at_mut(count) else {
            unreachable!("there are twice as many statuses")
        };
        let lower = u8::from(is_lower);
        // The kernel below overwrites these two buffers, so earlier marks of unwritten memory don't count.
        copy.assume_written();
        marks.assume_written();
        stream.launch::<take<T>>(a.len(), (copy, &mut marks, a, rows, columns, lower))
    }

    /// Launches the kernel of [`take`](Self::take) for the first time, so that a missing compiler is an error of `start`.
    pub(super) fn warm_up<T: Factor>(
        self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<()> {
        if self.count * self.rows * self.columns == 0 {
            return Ok(());
        }
        let one = Self { count: 1, rows: 1, columns: 1, ..self };
        warm_up::<T>(cx, stream, |copy, zero| {
            one.take(stream, zero, copy, &mut cx.buffer(2, stream)?)
        })
    }
}
