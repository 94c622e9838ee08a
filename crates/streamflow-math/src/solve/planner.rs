//! The type `Planner`: the sizes that a solver's plan is made for.

use std::fmt;
use std::marker::PhantomData;

use crate::Plan;
use crate::error::Result;
use streamflow::context::Lent;
use streamflow::{ExecutionContext, Stream};

pub(super) mod sealed {
    use super::{ExecutionContext, Planner, Result, Stream};

    /// A solver that a planner can make.
    pub trait Made: Sized + Send + 'static {
        fn make(
            planner: &Planner<Self>,
            cx: &ExecutionContext,
            stream: &Stream<'_>,
        ) -> Result<Self>;
    }
}

/// The sizes that a solver is planned for. [`Lu::plan`](super::Lu::plan) and similar functions return a planner, and
/// [`on`](Self::on) makes the [`Plan`].
#[must_use = "`on` makes the plan"]
pub struct Planner<S> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The number of right-hand sides. `None` if `b` and `x` are vectors.
    pub(super) sides: Option<usize>,
    /// The number of matrices in a batch. `None` for a single matrix.
    pub(super) batch: Option<usize>,
    pub(super) solver: PhantomData<fn() -> S>,
}

impl<S> Planner<S> {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, sides: None, batch: None, solver: PhantomData }
    }
}

impl<S: sealed::Made> Planner<S> {
    /// Makes the plan on a stream of the operator, with its work areas: the call is for
    /// [`start`](streamflow::Compute::start).
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for sizes that the library can't take; an error if the library is not
    /// there; the library's own error; the driver's error, when memory is exhausted.
    pub fn on(self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Plan<S>> {
        Ok(Plan::new(stream, S::make(&self, cx, stream)?))
    }

    /// Returns the plan that the node keeps for these sizes, and makes it if there is none yet.
    pub(super) fn cached<'c>(
        self,
        cx: &'c ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Lent<'c, Self, S>> {
        cx.cached(stream, self, |planner| S::make(planner, cx, stream))
    }
}

// `Clone` is implemented by hand, since a derive would require that `S` is `Clone`.
impl<S> Clone for Planner<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Planner<S> {}

impl<S> PartialEq for Planner<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.columns, self.sides, self.batch)
            == (other.rows, other.columns, other.sides, other.batch)
    }
}

impl<S> fmt::Debug for Planner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .field("right_hand_sides", &self.sides)
            .field("batch", &self.batch)
            .finish()
    }
}
