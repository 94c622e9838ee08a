//! Random numbers of every element type, and exact arithmetic with which results are compared.

use std::ops::{Add, Mul};

use streamflow::f16;
use streamflow::memory::{Complex, bf16};
use streamflow::prelude::*;

use crate::random::Random;

/// An element type with random test data and an error bound for `a * x + y`.
pub trait Number: Element + Mul<Output = Self> + Add<Output = Self> {
    /// A random factor, small enough that `a * x + y` fits into the type.
    fn factor(random: &mut Random) -> Self;
    /// A random term, small enough that `a * x + y` fits into the type.
    fn term(random: &mut Random) -> Self;
    /// Returns the distance of `found` from `a * x + y`, and the largest distance that is correct.
    fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64);
}

/// Integers, which must be exact. A term uses all bits of the type but two, and a factor is below the square root of
/// that. 64-bit numbers do not fit into a double, so differences are computed as integers.
macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn factor(random: &mut Random) -> Self {
                let root = 1_i128 << ((<$ty>::BITS - 2) / 2);
                let min = if <$ty>::MIN == 0 { 0 } else { -root };
                (min + i128::from(random.bits()) % (root - min)) as $ty
            }

            fn term(random: &mut Random) -> Self {
                let max = 1_i128 << (<$ty>::BITS - 2);
                let min = if <$ty>::MIN == 0 { 0 } else { -max };
                (min + i128::from(random.bits()) % (max - min)) as $ty
            }

            fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64) {
                let exact = i128::from(a) * i128::from(x) + i128::from(y);
                ((i128::from(found) - exact) as f64, 0.0)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Floats. The product and the sum are each rounded once, by at most half an ε of their value, so an error of 1 ε of `|a
/// x| + |y|` is correct (c = 1, n = 1), plus half the smallest number for each subnormal result. The reference is exact:
/// it includes the rounding errors of the product and the sum.
macro_rules! floats {
    ($($ty:ty: $to:expr, $from:expr, $epsilon:expr, $smallest:expr;)*) => {$(
        impl Number for $ty {
            fn factor(random: &mut Random) -> Self {
                // The numbers use all 53 bits of a double.
                let bits = (random.bits() >> 11) as f64 / (1_u64 << 52) as f64;
                $from(bits - 1.0)
            }

            fn term(random: &mut Random) -> Self {
                Self::factor(random)
            }

            fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64) {
                let (found, a, x, y): (f64, f64, f64, f64) = ($to(found), $to(a), $to(x), $to(y));
                let product = a * x;
                let product_error = a.mul_add(x, -product);
                let sum = product + y;
                // Knuth's two-sum computes the rounding error of the sum.
                let part = sum - product;
                let sum_error = (product - (sum - part)) + (y - part);
                let off = (found - sum) - (product_error + sum_error);
                (off, $epsilon * (product.abs() + y.abs()) + $smallest)
            }
        }
    )*};
}
floats! {
    f16: f16::to_f64, f16::from_f64, f64::from(f16::EPSILON), f64::from(f16::MIN_POSITIVE_SUBNORMAL);
    bf16: bf16::to_f64, bf16::from_f64, f64::from(bf16::EPSILON), f64::from(bf16::MIN_POSITIVE_SUBNORMAL);
    f32: f64::from, |x| x as f32, f64::from(f32::EPSILON), 2e-45;
    f64: f64::from, |x| x, f64::EPSILON, 0.0;
}

/// Complex numbers. Each part is a sum of two products and a term, with each operation rounded once. The reference is
/// computed in doubles. That is exact enough for floats; for doubles the bound includes the reference's own roundings.
macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Number for Complex<$part> {
            fn factor(random: &mut Random) -> Self {
                Self { re: <$part>::factor(random), im: <$part>::factor(random) }
            }

            fn term(random: &mut Random) -> Self {
                Self::factor(random)
            }

            fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64) {
                let wide = |z: Self| Complex::new(f64::from(z.re), f64::from(z.im));
                let (found, a, x, y) = (wide(found), wide(a), wide(x), wide(y));
                let size = a.norm() * x.norm() + y.norm();
                ((found - (a * x + y)).norm(), 4.0 * f64::from(<$part>::EPSILON) * size)
            }
        }
    )*};
}
complex!(f32, f64);
