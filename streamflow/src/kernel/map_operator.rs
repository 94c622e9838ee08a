//! The shape that tensors broadcast to, for the `compute` that `#[operator(map = …)]` makes.

use crate::error::{Error, Result};
use crate::memory::{MAX_RANK, Shape};

/// Returns the shape that all of these broadcast to, each with the name of its port: the dimensions are compared from the last one,
/// and each is of one length, or 1, or absent.
///
/// # Errors
/// [`Error::Shapes`] of this kernel, with the names of two ports that differ; [`Error::Shape`].
pub fn broadcast(kernel: &'static str, inputs: &[(&str, &[usize])]) -> Result<Shape> {
    let rank = inputs.iter().map(|(_, dims)| dims.len()).max().unwrap_or(0).min(MAX_RANK);
    let mut dims = [1; MAX_RANK];
    let dims = &mut dims[..rank];
    for (_, other) in inputs {
        for (len, other) in dims.iter_mut().rev().zip(other.iter().rev()) {
            if *other != 1 {
                *len = *other;
            }
        }
    }
    let fits = |other: &[usize]| {
        let mut pairs = dims.iter().rev().zip(other.iter().rev());
        pairs.all(|(len, other)| *other == 1 || other == len)
    };
    match inputs.iter().find(|(_, other)| !fits(other)) {
        None => Shape::new(dims),
        Some(one) => Err(differ(kernel, inputs, *one)),
    }
}

/// The error of shapes that don't fit, with the first input that differs from `one` in a dimension.
#[cold]
fn differ(kernel: &'static str, inputs: &[(&str, &[usize])], one: (&str, &[usize])) -> Error {
    let differs = |other: &[usize]| {
        let mut pairs = one.1.iter().rev().zip(other.iter().rev());
        pairs.any(|(len, other)| len != other && *len != 1 && *other != 1)
    };
    let (name, shape) = one;
    let (other, of_other) = inputs.iter().find(|(_, other)| differs(other)).unwrap_or(&one);
    let problem = format!(
        "`{name}` is {shape:?} and `{other}` is {of_other:?}: each dimension, from the last, is of one length or 1"
    );
    Error::Shapes { kernel, problem }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn shapes_broadcast_from_the_last_dimension() {
        let of =
            |inputs: &[(&str, &[usize])]| broadcast("k", inputs).map(|shape| shape.dims().to_vec());
        assert_eq!(of(&[("a", &[2, 3])]).unwrap(), [2, 3]);
        assert_eq!(of(&[("a", &[3]), ("b", &[2, 3]), ("c", &[])]).unwrap(), [2, 3]);
        assert_eq!(of(&[("a", &[4, 1]), ("b", &[1, 5])]).unwrap(), [4, 5]);
        assert_eq!(of(&[("a", &[0, 3]), ("b", &[1, 3])]).unwrap(), [0, 3]);
        let text = of(&[("a", &[2, 3]), ("b", &[1]), ("c", &[2])]).unwrap_err().to_string();
        assert!(text.contains("`a` is [2, 3] and `c` is [2]"), "{text}");
        assert!(of(&[("a", &[0]), ("b", &[2])]).is_err());
    }
}
