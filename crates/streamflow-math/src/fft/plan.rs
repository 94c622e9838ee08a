//! The type `Planner`: the lengths and layouts that a plan of transforms is made for.

use std::fmt;
use std::marker::PhantomData;

use super::norm::Norm;
use crate::Plan;
use crate::error::Result;
use crate::ffi::cufft::layout::Layout;
use crate::ffi::cufft::problem::Sizes;
use streamflow::memory::IntoShape;
use streamflow::{ExecutionContext, Stream};

pub(super) mod sealed {
    use super::{ExecutionContext, Norm, Result, Sizes, Stream};

    /// A kind of transforms that a planner can make.
    pub trait Made: Sized + Send + 'static {
        fn make(
            cx: &ExecutionContext,
            stream: &Stream<'_>,
            sizes: &Sizes,
            norm: Norm,
        ) -> Result<Self>;
    }
}

/// The lengths and layouts that transforms are planned for. [`Fft::plan`](super::Fft::plan) and similar functions return a
/// planner, and [`on`](Self::on) makes the [`Plan`].
#[must_use = "`on` makes the plan"]
pub struct Planner<F> {
    sizes: Sizes,
    norm: Norm,
    transform: PhantomData<fn() -> F>,
}

impl<F> Planner<F> {
    pub(super) fn new(shape: impl IntoShape) -> Self {
        Self { sizes: Sizes::new(shape), norm: Norm::None, transform: PhantomData }
    }

    /// Sets the number of transforms that a call does: 1 without this method. With 0, the plan's calls do nothing.
    pub fn batch(mut self, transforms: usize) -> Self {
        self.sizes.batch = transforms;
        self
    }

    /// Sets the layout of the input's elements. Without this method, the input is dense. Transforms may read one element several
    /// times, unless the input is overwritten.
    pub fn input(mut self, layout: Layout) -> Self {
        self.sizes.input = Some(layout);
        self
    }

    /// Sets the layout of the output's elements. Without this method, the output is dense. No two elements may have the same
    /// address.
    pub fn output(mut self, layout: Layout) -> Self {
        self.sizes.output = Some(layout);
        self
    }

    /// Sets the normalisation of the results. Without this method, the results are not divided.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    pub(super) fn in_one_memory(mut self) -> Self {
        self.sizes.is_in_place = true;
        self
    }
}

impl<F: sealed::Made> Planner<F> {
    /// Makes the plan on a stream of the operator, with its work area: the call is for [`start`](streamflow::Compute::start). On
    /// a GPU the plan is executed once, on zeros, so that all code is loaded in `start`.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for a shape or a layout that no plan can have; an error if the library is not
    /// there, or can't make the plan; the driver's error, when memory is exhausted.
    pub fn on(self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Plan<F>> {
        Ok(Plan::new(stream, self.make(cx, stream)?))
    }

    pub(super) fn make(&self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<F> {
        F::make(cx, stream, &self.sizes, self.norm)
    }
}

// `Clone` is implemented by hand, since a derive would require that `F` is `Clone`.
impl<F> Clone for Planner<F> {
    fn clone(&self) -> Self {
        Self { sizes: self.sizes.clone(), norm: self.norm, transform: PhantomData }
    }
}

impl<F> fmt::Debug for Planner<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner").field("sizes", &self.sizes).field("norm", &self.norm).finish()
    }
}
