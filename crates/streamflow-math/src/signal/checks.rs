//! The shapes that operators of signals receive, and the errors of wrong ones: the operator, the port, and both sides.

use streamflow::memory::Shape;
use streamflow::{Failure, Result};

use super::Sample;

/// Returns the number of signals in a tensor `[…, length]`, and their length.
pub(crate) fn signals(operator: &str, port: &str, shape: &[usize]) -> Result<(usize, usize)> {
    match shape.split_last() {
        Some((len, others)) => Ok((others.iter().product(), *len)),
        None => Err(scalar(operator, port)),
    }
}

#[cold]
fn scalar(operator: &str, port: &str) -> Failure {
    Failure::msg(format!(
        "`{operator}` works on signals, and its input `{port}` received a tensor of the shape []; send signals, […, length]"
    ))
}

/// Returns `shape` with other dimensions in place of `axis`.
pub(crate) fn replaced(shape: &[usize], axis: usize, by: &[usize]) -> Result<Shape> {
    let mut lengths = [0; 2 * streamflow::memory::MAX_RANK];
    let (before, after) = (&shape[..axis], &shape[axis + 1..]);
    let all = before.iter().chain(by).chain(after);
    let rank = shape.len() - 1 + by.len();
    lengths.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
    Ok(Shape::new(&lengths[..rank])?)
}

/// Refuses constants that are not finite, and no constants.
pub(crate) fn finite<W: Sample>(operator: &str, what: &str, values: &[W]) -> Result<()> {
    if values.is_empty() {
        return Err(Failure::msg(format!("`{operator}` has no {what}; give it at least one")));
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Failure::msg(format!(
            "`{operator}` has {} {what}, and number {index} is {:?}; give it finite numbers",
            values.len(),
            values[index]
        ))),
    }
}
