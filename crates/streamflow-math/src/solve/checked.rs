//! The type `Checked`: a solver's result whose status is in device memory, so that the host does not know it yet.

use super::layout::LONGEST;
use super::outcome::{self, Origin};
use super::{CheckedDownload, Factor};
use crate::error::{Result, wrong_operand};
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::HostData;
use streamflow::Message;
use streamflow::library::{Call, Target, TargetPart};
use streamflow::memory::{CopySource, View};
use streamflow::{ExecutionContext, Stream};

/// A result with the status of its solver, which the solver writes to device memory, for example whether the matrix was
/// singular.
///
/// The host does not wait for the status. Work of the device goes on with the [value](Self::on_device), and the status travels
/// with the values computed from it, in messages and by [`then`](Self::then). The `Err` comes where the host opens the result: at
/// [`open_blocking`](Self::open_blocking), or where the copy that [`download`](Self::download) has queued is read. So no result
/// can be read on the host without its check. After a failed call, the result is [not
/// written](streamflow::guide::failures#errors-that-an-operator-drops), even if an earlier call had written it.
///
/// A `Checked` is made before the solver writes it, so that a solver allocates nothing:
///
/// ```
/// # use streamflow_math::Plan;
/// # use streamflow_math::solve::{Checked, Lu};
/// # use streamflow::prelude::*;
/// # fn example(solver: &mut Plan<Lu<f32>>, a: &Tensor<f32>, b: &Tensor<f32>, cx: &ExecutionContext, stream: &Stream<'_>)
/// #     -> Result<()> {
/// let mut x = Checked::new(cx.tensor([3], stream)?, cx, stream)?;
/// solver.solve(stream, a, b, &mut x)?;
/// let download = x.download(stream)?;
/// // Later, perhaps in another operator: the error of a singular matrix comes here.
/// let values: &[f32] = download.wait_blocking()?;
/// # let _ = values;
/// # Ok(())
/// # }
/// ```
///
/// A copy to the host without the check does not compile:
/// ```compile_fail,E0277
/// # use streamflow_math::solve::Checked;
/// # use streamflow::prelude::*;
/// fn read(x: &Checked<Tensor<f32>>, stream: &Stream<'_>) -> Result<Vec<f32>, Error> {
///     stream.download_blocking(x)
/// }
/// ```
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Checked<V> {
    value: V,
    /// A status for each matrix. The second half has a mark for each matrix, if the solver makes marks. 0 means success.
    statuses: Buffer<i32>,
    /// The call of the solver. `None` until a solver has queued its work.
    origin: HostData<Option<Origin>>,
}

impl<V> Checked<V> {
    /// Creates memory for the statuses of a result. `value` is the memory that the solver writes.
    ///
    /// # Errors
    /// The driver's error, when memory is exhausted.
    #[track_caller]
    pub fn new(value: V, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        Self::of_batch(1, value, cx, stream)
    }

    /// Creates a result as [`new`](Self::new) does, for a batch of `count` matrices, at most 2³¹ − 1. Each matrix has its own
    /// status.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for more matrices; the errors of [`new`](Self::new).
    #[track_caller]
    pub fn of_batch(
        count: usize,
        value: V,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Self> {
        if count > LONGEST {
            let problem =
                format!("is {count}, but a batch has at most {LONGEST} matrices; divide the batch");
            return Err(wrong_operand("solve::Checked", "count", problem));
        }
        Ok(Self { value, statuses: cx.buffer(2 * count, stream)?, origin: HostData(None) })
    }

    /// Returns the value, for work of the device. The work goes on before the host knows whether the check has failed. If it has
    /// failed, the value's elements are meaningless, so values computed from them must be opened with this check:
    /// [`then`](Self::then).
    pub fn on_device(&self) -> &V {
        &self.value
    }

    /// Returns the statuses that the solver writes, for kernels that read them. All are 0 for success. The first half has a
    /// status for each matrix, as LAPACK's `info`. If the solver copies its matrices, the second half has a mark for each matrix
    /// with a NaN.
    pub fn statuses(&self) -> View<'_, i32> {
        self.written()
    }

    /// Passes this check on to a value computed from this one: `checked.then(|x| …)` queues work on `x`, and returns the result
    /// of that work with this check.
    ///
    /// # Errors
    /// The errors of `compute`.
    pub fn then<W>(self, compute: impl FnOnce(V) -> Result<W>) -> Result<Checked<W>> {
        let Self { value, statuses, origin } = self;
        Ok(Checked { value: compute(value)?, statuses, origin })
    }

    /// Waits until the statuses are known, and returns the value if all are 0. The work that was queued on `stream` before this
    /// call is then complete. This call does not read the value: only [`download`](Self::download) finds a NaN that no status
    /// reports.
    ///
    /// # Errors
    /// [`Error::Unsolvable`](crate::Error::Unsolvable), with the row; the driver's error.
    #[track_caller]
    pub fn open_blocking(self, stream: &CudaStream) -> Result<V> {
        let origin = self.computed_by()?;
        let statuses = stream.download_blocking(&self.written())?;
        outcome::check(origin, &statuses)?;
        Ok(self.value)
    }

    /// Queues a copy of a part of the value to the host, for example only of the [singular values](super::SingularValues):
    /// see [`download`](Self::download).
    ///
    /// # Errors
    /// The errors of [`download`](Self::download).
    #[track_caller]
    pub fn download_of<T: Factor, S: CopySource<T> + ?Sized>(
        &self,
        part: impl FnOnce(&V) -> &S,
        stream: &CudaStream,
    ) -> Result<CheckedDownload<T>> {
        let origin = self.computed_by()?;
        let values = stream.download(part(&self.value))?;
        Ok(CheckedDownload::new(values, stream.download(&self.written())?, origin))
    }

    /// Returns the solver's call that computed this result.
    ///
    /// # Errors
    /// [`Error::Unsolvable`](crate::Error::Unsolvable) if there was no call, or it has failed;
    /// [`Error::Unwritten`](streamflow::Error::Unwritten) if the call has failed, and its hook has dropped the error.
    fn computed_by(&self) -> Result<Origin> {
        Call::needs(&*self.statuses)?;
        self.origin.0.ok_or_else(outcome::not_computed)
    }

    /// Returns the part of the statuses that the solver writes: both halves if it makes marks, and else the first half.
    fn written(&self) -> View<'_, i32> {
        let len = self.statuses.len();
        let written = if self.origin.0.is_some_and(|origin| origin.marks) { len } else { len / 2 };
        let Some(view) = self.statuses.slice(..written) else { unreachable!("it is not longer") };
        view
    }

    /// Returns the number of matrices that the result was made for.
    pub(super) fn matrices(&self) -> usize {
        self.statuses.len() / 2
    }

    /// Returns the memory that a solver overwrites, and the statuses. The result can't be opened until the solver calls
    /// [`computed`](Self::computed).
    pub(super) fn parts_mut(&mut self) -> (&mut V, &mut Buffer<i32>)
    where
        V: Target,
    {
        Call::overwrites(self);
        self.origin = HostData(None);
        (&mut self.value, &mut self.statuses)
    }

    /// Notes that the solver of `origin` has queued its work.
    pub(super) fn computed(&mut self, origin: Origin) {
        self.origin = HostData(Some(origin));
    }
}

impl<V: Target> Target for Checked<V> {
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        self.value.parts().chain((*self.statuses).parts())
    }
}

impl<S> Checked<S> {
    /// Queues a copy of the value to the host, with its statuses. Does not block. The [`CheckedDownload`] can be read when the
    /// copy is complete, and returns an `Err` if the check has failed.
    ///
    /// # Errors
    /// The errors of [`CudaStream::download`].
    #[track_caller]
    pub fn download<T: Factor>(&self, stream: &CudaStream) -> Result<CheckedDownload<T>>
    where
        S: CopySource<T>,
    {
        self.download_of(|value| value, stream)
    }
}
