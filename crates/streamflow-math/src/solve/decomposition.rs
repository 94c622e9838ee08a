//! Decompositions of matrices: the parts that [`Qr`](super::Qr), [`Svd`](super::Svd) and [`Eigen`](super::Eigen) have in common.

use std::iter;

use arrayvec::ArrayVec;

use super::layout::{has_shape, has_statuses, in_batch};
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::{Checked, Real};
use crate::Plan;
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::Tensor;
use streamflow::library::{Call, Target};
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// A shape of one or two dimensions.
pub(super) type Shape = ArrayVec<usize, 2>;

/// A decomposition, with the parts that the methods of all its plans need.
pub trait Decomposes: Made {
    type Element: Real;
    type Parts: Parts<Element = Self::Element>;
    /// The decomposition's name in messages.
    const CALL: &'static str;

    /// The number of matrices in a batch. `None` for a single matrix.
    fn batch(&self) -> Option<usize> {
        None
    }

    /// Whether the decomposition also writes the marks, the second half of the statuses.
    fn marks(&self) -> bool {
        self.batch().is_some()
    }

    /// The shapes of the matrix and of each part of the result, without the dimension of the batch.
    fn shapes(&self) -> ArrayVec<Shape, 4>;

    /// Queues the work. The matrices have elements, and the caller has checked the shapes.
    #[track_caller]
    fn decompose(
        &mut self,
        stream: &CudaStream,
        a: &Tensor<Self::Element>,
        parts: &mut Self::Parts,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()>;
}

/// The parts of a decomposition's result, each a tensor.
pub trait Parts: Target + Sized {
    type Element: Real;

    /// Makes the tensors in the order of the fields.
    fn make(tensor: impl FnMut() -> Result<Tensor<Self::Element>>) -> Result<Self>;

    /// Returns the tensors with the names of their fields.
    fn tensors(&self) -> impl Iterator<Item = (&'static str, &Tensor<Self::Element>)>;
}

/// Implements [`Parts`] and [`Target`] for a struct of tensors with these fields.
macro_rules! parts {
    ($parts:ident: $($field:ident),*) => {
        impl<T: Real> $crate::solve::decomposition::Parts for $parts<T> {
            type Element = T;

            fn make(mut tensor: impl FnMut() -> Result<Tensor<T>>) -> Result<Self> {
                Ok(Self { $($field: tensor()?),* })
            }

            fn tensors(&self) -> impl Iterator<Item = (&'static str, &Tensor<T>)> {
                [$((stringify!($field), &self.$field)),*].into_iter()
            }
        }

        impl<T: Real> streamflow::library::Target for $parts<T> {
            fn parts(&mut self) -> impl Iterator<Item = streamflow::library::TargetPart<'_>> {
                [$(&mut self.$field),*].into_iter().flat_map(|tensor| tensor.parts())
            }
        }
    };
}
pub(super) use parts;

impl<D: Decomposes> Plan<D> {
    /// Creates a result for this plan. A result has its own memory, so a plan can write several results.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); the driver's error, when memory is exhausted.
    pub fn result(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Checked<D::Parts>> {
        result(self.lend(stream)?, cx, stream)
    }

    /// Queues the decomposition of `a`, on the plan's stream.
    #[track_caller]
    pub(super) fn decompose(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<D::Element>,
        out: &mut Checked<D::Parts>,
    ) -> Result<()> {
        let solver = Call::written(self.lend(stream), out)?;
        Call::written(decompose(solver, stream, a, out), out)
    }
}

fn result<D: Decomposes>(
    solver: &D,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Checked<D::Parts>> {
    let (batch, shapes) = (solver.batch(), solver.shapes());
    let mut of_parts = shapes[1..].iter().map(|shape| in_batch(batch, shape));
    let parts = D::Parts::make(|| cx.tensor(&*of_parts.next().unwrap_or_default(), stream))?;
    Checked::of_batch(batch.unwrap_or(1), parts, cx, stream)
}

#[track_caller]
fn decompose<D: Decomposes>(
    solver: &mut D,
    stream: &CudaStream,
    a: &Tensor<D::Element>,
    out: &mut Checked<D::Parts>,
) -> Result<()> {
    let (batch, shapes) = (solver.batch(), solver.shapes());
    for ((name, tensor), shape) in
        iter::once(("a", a)).chain(out.on_device().tensors()).zip(&shapes)
    {
        has_shape(D::CALL, name, tensor.shape(), &[&in_batch(batch, shape)])?;
    }
    has_statuses(D::CALL, out.matrices(), batch.unwrap_or(1))?;
    let (parts, statuses) = out.parts_mut();
    if a.is_empty() {
        stream.fill_bytes(statuses, 0)?;
    } else {
        solver.decompose(stream, a, parts, statuses)?;
    }
    out.computed(Origin { call: D::CALL, finds: Finds::NoConvergence, marks: solver.marks() });
    Ok(())
}

/// Decomposes `a` by the plan that the node keeps for this shape, and returns a new result.
#[track_caller]
pub(super) fn decomposed<D: Decomposes>(
    planner: Planner<D>,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<D::Element>,
) -> Result<Checked<D::Parts>> {
    let mut solver = planner.cached(cx, stream)?;
    let mut out = result(&*solver, cx, stream)?;
    decompose(&mut *solver, stream, a, &mut out)?;
    Ok(out)
}
