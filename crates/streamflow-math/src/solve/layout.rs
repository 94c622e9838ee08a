//! Checks that operands have the shapes that a plan was made for.

use std::fmt::Write;

use arrayvec::ArrayVec;

use crate::error::{Result, wrong_operand};
use streamflow::Error;

/// The largest length of a dimension that all of cuSOLVER's routines take.
pub(super) const LONGEST: usize = i32::MAX as usize;

/// Checks that an operand has one of these shapes.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand), with the operand's shape and the allowed shapes.
#[inline]
pub(super) fn has_shape(
    call: &'static str,
    argument: &'static str,
    shape: &[usize],
    allowed: &[&[usize]],
) -> Result<()> {
    if allowed.contains(&shape) { Ok(()) } else { Err(other_shape(call, argument, shape, allowed)) }
}

#[cold]
fn other_shape(
    call: &'static str,
    argument: &'static str,
    shape: &[usize],
    allowed: &[&[usize]],
) -> Error {
    let mut problem = format!("has shape {shape:?}, but the plan was made for ");
    for (index, allowed) in allowed.iter().enumerate() {
        let or = if index > 0 { " or " } else { "" };
        // Writing to a `String` can't fail.
        let _ = write!(problem, "{or}{allowed:?}");
    }
    problem.push_str("; make a plan for each shape");
    wrong_operand(call, argument, problem)
}

/// Checks that the lengths, and their product in bytes, are within the limits of the routines.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand).
pub(super) fn fits(call: &'static str, lengths: &[usize]) -> Result<()> {
    let elements = lengths.iter().try_fold(1_usize, |product, &length| {
        (length <= LONGEST).then(|| product.checked_mul(length.max(1))).flatten()
    });
    if elements.is_some_and(|elements| elements < isize::MAX as usize / 16) {
        return Ok(());
    }
    let problem = format!(
        "is {lengths:?}, but cuSOLVER takes at most {LONGEST} in each dimension, and memory fewer elements; divide the \
         problem"
    );
    Err(wrong_operand(call, "plan", problem))
}

/// Returns the shape of an operand of a plan: the shape `one` for a single matrix, with the number of matrices before it in a
/// batch.
pub(super) fn in_batch(batch: Option<usize>, one: &[usize]) -> ArrayVec<usize, 3> {
    batch.iter().chain(one).copied().collect()
}

/// Checks that a result was made for the number of matrices that the plan has.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand).
pub(super) fn has_statuses(call: &'static str, found: usize, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    let problem = format!(
        "has statuses for {found} matrices, but the plan has {needed}; make it by `result`"
    );
    Err(wrong_operand(call, "out", problem))
}
