//! Copies of the matrices that a solver gets, and the search for NaNs in these matrices.

use super::Factor;
use super::kernels::{take, warm_up};
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// The matrices of a call, in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrices {
    pub(super) count: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Whether only the lower triangle of a matrix is read.
    pub(super) is_lower: bool,
}

impl Matrices {
    /// Copies the matrices, and writes into the second half of the statuses which of them have a NaN. The first half is
    /// set to 0.
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
        // The kernel `take` overwrites `copy` and `marks` whole, so their earlier content is not needed.
        copy.assume_written();
        marks.assume_written();
        stream.launch::<take<T>>(a.len(), (copy, &mut marks, a, rows, columns, lower))
    }

    /// Makes the first launch for [`take`](Self::take), so that a missing compiler is an error of `start`.
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
