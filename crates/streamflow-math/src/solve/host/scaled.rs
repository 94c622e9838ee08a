//! Scales the numbers of a matrix in double precision, so that they are near 1, and their squares neither overflow nor vanish.

use crate::ffi::cusolver::element::Real;

/// A number that counts as 0 next to 1: its square is still a normal number, but the number is far below the rounding error of
/// any sum.
pub(super) const TINY: f64 = 1e-140;

/// Numbers, divided by a power of 2 so that the largest one is between 1 and 2. Numbers that are then below [`TINY`] become 0.
pub(super) struct Scaled {
    pub(super) numbers: Vec<f64>,
    exponent: i32,
}

impl Scaled {
    /// Scales numbers. Returns `None` if one of them is not finite.
    pub(super) fn new<T: Real>(numbers: &[T]) -> Option<Self> {
        let most = numbers.iter().fold(0.0_f64, |most, number| {
            let size = number.wide().abs();
            // The comparison is not `max`, since `max` drops a NaN.
            if size <= most { most } else { size }
        });
        if !most.is_finite() || numbers.iter().any(|number| number.wide().is_nan()) {
            return None;
        }
        let exponent = if most == 0.0 { 0 } else { most.log2().floor() as i32 };
        let numbers = numbers.iter().map(|number| {
            let number = times_power_of_two(number.wide(), -exponent);
            if number.abs() < TINY { 0.0 } else { number }
        });
        Some(Self { numbers: numbers.collect(), exponent })
    }

    /// Returns a number that was computed from the scaled numbers with the division undone. The result is infinite if it is
    /// larger than any number of `T`.
    pub(super) fn back<T: Real>(&self, number: f64) -> T {
        T::narrow(times_power_of_two(number, self.exponent))
    }
}

/// Multiplies by a power of two in two steps, since the power itself may be too large or too small for an `f64`.
fn times_power_of_two(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

/// Returns the sum of the products of the elements, up to the end of the shorter slice. Eight sums at a time are faster than one,
/// and have smaller errors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let both = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..both].as_chunks::<8>(), b[..both].as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}
