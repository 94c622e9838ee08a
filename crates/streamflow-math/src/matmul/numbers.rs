//! The number types that cuBLAS computes with, and their operations in the simulator's host bodies.

use crate::ffi::cublas::Number;

/// A type that [`Blas`](super::Blas) computes with: `f32` or `f64`.
pub trait BlasElement: Number + std::ops::Add<Output = Self> {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    fn of(x: f64) -> Self;
    #[doc(hidden)]
    fn add_product(self, x: Self, y: Self) -> Self;
    #[doc(hidden)]
    fn times(self, other: Self) -> Self;
    #[doc(hidden)]
    fn minus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn over(self, other: Self) -> Self;
    #[doc(hidden)]
    fn norm(x: &[Self]) -> Self;
}

macro_rules! element {
    ($($ty:ty)*) => {
        $(impl BlasElement for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn of(x: f64) -> Self {
                x as $ty
            }

            fn add_product(self, x: Self, y: Self) -> Self {
                self + x * y
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            fn minus(self, other: Self) -> Self {
                self - other
            }

            fn over(self, other: Self) -> Self {
                self / other
            }

            // The squares are computed in double precision, in which the square of an `f32` neither overflows nor vanishes.
            fn norm(x: &[Self]) -> Self {
                let largest = x.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x).abs()));
                if largest == 0.0 || !largest.is_finite() {
                    return x.iter().map(|x| x.abs()).sum();
                }
                let squares = x.iter().map(|&x| (f64::from(x) / largest).powi(2));
                (largest * squares.sum::<f64>().sqrt()) as $ty
            }
        })*
    };
}

element!(f32 f64);

/// Returns the sum of the products of the elements. The two halves are summed separately, down to blocks, so that the error grows
/// only with the square root of the length.
pub(super) fn sum_of_products<T: BlasElement>(x: &[T], y: &[T]) -> T {
    const BLOCK: usize = 256;
    if x.len() <= BLOCK {
        return x.iter().zip(y).fold(T::ZERO, |sum, (&x, &y)| sum.add_product(x, y));
    }
    let half = x.len() / 2;
    let ((x, rest_x), (y, rest_y)) = (x.split_at(half), y.split_at(half));
    let first = sum_of_products(x, y);
    first + sum_of_products(rest_x, rest_y)
}
