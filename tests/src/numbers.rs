//! Random numbers of every element type, and a wider arithmetic to compare with.

use std::ops::{Add, Mul};

use streamflow::prelude::*;

use crate::random::Random;

/// An element type with test data, and how near `a * x + y` must come.
pub trait Number: Element + Mul<Output = Self> + Add<Output = Self> {
    /// A factor and a term whose `a * x + y` fits into the type.
    fn factor(random: &mut Random) -> Self;
    /// As [`factor`](Self::factor), for the term.
    fn term(random: &mut Random) -> Self;
    /// How far `found` is from `a * x + y`, and how far it may be.
    fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64);
}

/// Integers are exact. A term takes all bits but two, and a factor is below the square root of that:
/// 64-bit ones are beyond what a double holds.
macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn factor(random: &mut Random) -> Self {
                let root = 1_i128 << ((<$ty>::BITS - 2) / 2);
                let least = if <$ty>::MIN == 0 { 0 } else { -root };
                (least + i128::from(random.bits()) % (root - least)) as $ty
            }

            fn term(random: &mut Random) -> Self {
                let most = 1_i128 << (<$ty>::BITS - 2);
                let least = if <$ty>::MIN == 0 { 0 } else { -most };
                (least + i128::from(random.bits()) % (most - least)) as $ty
            }

            fn error(found: Self, a: Self, x: Self, y: Self) -> (f64, f64) {
                let exact = i128::from(a) * i128::from(x) + i128::from(y);
                ((i128::from(found) - exact) as f64, 0.0)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Floats: one rounding of the product and one of the sum, each half an ε of its value, so 1 ε of
/// `|a x| + |y|` is enough (c = 1, n = 1), and half the smallest number for each result that is
/// subnormal. The reference is exact: the product's and the sum's rounding errors are kept.
macro_rules! floats {
    ($($ty:ty: $to:expr, $from:expr, $epsilon:expr, $smallest:expr;)*) => {$(
        impl Number for $ty {
            fn factor(random: &mut Random) -> Self {
                // All 53 bits of a double are used.
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
                // Knuth's two-sum.
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
    f32: f64::from, |x| x as f32, f64::from(f32::EPSILON), 2e-45;
    f64: f64::from, |x| x, f64::EPSILON, 0.0;
}
