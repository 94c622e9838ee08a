//! Results of solvers. Only the device knows whether the solver has succeeded, and the host learns it where it opens the result.

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
/// The host does not wait for the status. Work of the device goes on with the [value](Self::on_device), the status travels
/// with the values computed from it ([`then`](Self::then), messages), and the `Err` comes where the host opens the result:
/// at [`download`](Self::download), when the copy is read, or at [`open_blocking`](Self::open_blocking). So a result can't
/// be read on the host without its check. After a failed call the result is [not
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
    /// One status per matrix, and behind these, if the solver copies its matrices, one number per matrix that tells of
    /// a NaN. 0 is success.
    statuses: Buffer<i32>,
    /// The call of the solver; `None` until a solver has queued its work.
    origin: HostData<Option<Origin>>,
}

impl<V> Checked<V> {
    /// Creates the memory for the result of a solver and its status. `value` has the memory that the solver writes.
    ///
    /// # Errors
    /// The driver's error, when memory is exhausted.
    #[track_caller]
    pub fn new(value: V, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        Self::of_batch(1, value, cx, stream)
    }

    /// Creates the memory as [`new`](Self::new) does, for a batch of `count` matrices, at most 2³¹ − 1, each with its
    /// own status.
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

    /// The value, for work of the device. Such work goes on before the host knows whether the check has failed. If the
    /// check has failed, the value's elements are meaningless, so values that are computed from them must be opened
    /// with the same check: see [`then`](Self::then).
    pub fn on_device(&self) -> &V {
        &self.value
    }

    /// The statuses that the solver writes, for kernels that read them: all are 0 for success. The first half has a
    /// status for each matrix, as LAPACK's `info`. A solver that copies its matrices also writes a second half: a
    /// number for each matrix, which is not 0 if the matrix has a NaN.
    pub fn statuses(&self) -> View<'_, i32> {
        self.written()
    }

    /// Puts the same check over a value computed from this one: `checked.then(|x| …)` queues work on `x`, and returns the
    /// result of that work with this check.
    ///
    /// # Errors
    /// The errors of `compute`.
    pub fn then<W>(self, compute: impl FnOnce(V) -> Result<W>) -> Result<Checked<W>> {
        let Self { value, statuses, origin } = self;
        Ok(Checked { value: compute(value)?, statuses, origin })
    }

    /// Waits until the statuses are known, and returns the value if all statuses are 0. The work on `stream` before
    /// this call is then complete. The call does not read the value: [`download`](Self::download) also finds a NaN that
    /// has no status.
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

    /// The part of `statuses` that the solver has written.
    fn written(&self) -> View<'_, i32> {
        let len = self.statuses.len();
        let written = if self.origin.0.is_some_and(|origin| origin.marks) { len } else { len / 2 };
        let Some(view) = self.statuses.slice(..written) else { unreachable!("it is not longer") };
        view
    }

    /// The number of matrices that the result was made for.
    pub(super) fn matrices(&self) -> usize {
        self.statuses.len() / 2
    }

    /// The memory that a solver overwrites, and the statuses for it. The result can't be opened until
    /// [`computed`](Self::computed) is called.
    pub(super) fn parts_mut(&mut self) -> (&mut V, &mut Buffer<i32>)
    where
        V: Target,
    {
        Call::overwrites(self);
        self.origin = HostData(None);
        (&mut self.value, &mut self.statuses)
    }

    /// Notes that a solver has queued the work that computes this result.
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
    /// Queues a copy of the value to the host, with its statuses. Does not block. The [`CheckedDownload`] is read when the
    /// copy is complete, and a check that failed is its `Err`.
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
