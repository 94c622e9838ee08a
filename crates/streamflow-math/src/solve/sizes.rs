//! The sizes of a solver of systems, and checks of its operands against them.

use super::layout::{fits, has_shape, in_batch};
use super::planner::Planner;
use crate::error::{Result, wrong_operand};

/// The sizes that a solver's operands must have.
#[derive(Debug)]
pub(super) struct Sizes {
    pub(super) n: usize,
    pub(super) sides: Option<usize>,
    pub(super) batch: Option<usize>,
}

impl Sizes {
    pub(super) fn of<S>(planner: &Planner<S>) -> Self {
        Self { n: planner.rows, sides: planner.sides, batch: planner.batch }
    }

    /// Returns the number of right-hand sides.
    pub(super) fn sides(&self) -> usize {
        self.sides.unwrap_or(1)
    }

    pub(super) fn matrices(&self) -> usize {
        self.batch.unwrap_or(1)
    }

    /// Whether there is nothing to compute: no matrices, or matrices without elements.
    pub(super) fn is_empty(&self) -> bool {
        self.n * self.matrices() == 0
    }

    /// Checks that the sizes are not too large, and that a batch has one right-hand side for each matrix.
    pub(super) fn check(&self, call: &'static str) -> Result<()> {
        if let (Some(batch), Some(sides)) = (self.batch, self.sides) {
            let problem = format!(
                "has a batch of {batch} and {sides} right-hand sides, but in a batch each matrix has one: leave \
                 `right_hand_sides` out, or `batch`"
            );
            return Err(wrong_operand(call, "plan", problem));
        }
        fits(call, &in_batch(self.batch, &[self.n, self.n]))?;
        fits(call, &[self.sides(), self.n])
    }

    pub(super) fn check_matrix(&self, call: &'static str, shape: &[usize]) -> Result<()> {
        let n = self.n;
        match self.batch {
            None => has_shape(call, "a", shape, &[&[n, n]]),
            Some(batch) => has_shape(call, "a", shape, &[&[batch, n, n]]),
        }
    }

    pub(super) fn check_sides(
        &self,
        call: &'static str,
        argument: &'static str,
        shape: &[usize],
    ) -> Result<()> {
        let n = self.n;
        match self.batch.or(self.sides) {
            None => has_shape(call, argument, shape, &[&[n]]),
            Some(count) => has_shape(call, argument, shape, &[&[count, n]]),
        }
    }

    pub(super) fn check_statuses(
        &self,
        call: &'static str,
        argument: &'static str,
        matrices: usize,
    ) -> Result<()> {
        if matrices == self.matrices() {
            return Ok(());
        }
        let (needed, batch) = (self.matrices(), self.batch.unwrap_or(1));
        let problem = format!(
            "has a status for each of {matrices} matrices, but the plan has {needed}; make it by \
             `Checked::of_batch({batch}, …)`"
        );
        Err(wrong_operand(call, argument, problem))
    }
}
