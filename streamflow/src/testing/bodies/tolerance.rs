//! How far two values may be from each other to count as equal.

use std::fmt;

#[cfg(feature = "half")]
use half::{bf16, f16};
use num_complex::Complex;

use crate::driver::Param;
use crate::error::BodyDifference;
use crate::memory::{Bool8, Element};

/// The permitted difference between the values of a kernel's two bodies.
///
/// Equal values, and two NaNs, are always close. Other values are close if any of the limits permits it, so limits can be
/// combined: `Tolerance::relative(1e-5).or_absolute(1e-6)`. A NaN or an infinity is never close to another number. The distance
/// of two complex numbers is that in the plane. The number of steps, from one number of the type to the next, is the larger one of the steps between the real parts and
/// between the imaginary parts.
///
/// By default NVRTC fuses `a * b + c` into one operation with one rounding, and rustc does not. So a body with sums of products
/// is not exact: its test needs a relative tolerance, or an absolute one where the sum can be near 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "pass it to `compare_bodies`"]
pub struct Tolerance {
    absolute: f64,
    relative: f64,
    ulps: u64,
    /// Whether the two zeros differ.
    has_two_zeros: bool,
}

impl Tolerance {
    /// No tolerance: only equal values are close.
    pub const EXACT: Self = Self { absolute: 0.0, relative: 0.0, ulps: 0, has_two_zeros: false };

    /// Only equal bits are close, and two NaNs.
    pub(in crate::testing) const BITS: Self = Self { has_two_zeros: true, ..Self::EXACT };

    /// Values that differ by at most this number are close.
    pub const fn absolute(difference: f64) -> Self {
        Self::EXACT.or_absolute(difference)
    }

    /// Values that differ by at most this part of the larger one are close.
    pub const fn relative(part: f64) -> Self {
        Self::EXACT.or_relative(part)
    }

    /// Values with at most this number of steps between them are close. A step leads to the next floating-point number. Integers
    /// have no steps.
    pub const fn ulps(steps: u64) -> Self {
        Self::EXACT.or_ulps(steps)
    }

    /// Adds a limit to this tolerance: values that [`absolute`](Self::absolute) permits are close, too.
    pub const fn or_absolute(mut self, difference: f64) -> Self {
        self.absolute = difference;
        self
    }

    /// Adds a limit to this tolerance: values that [`relative`](Self::relative) permits are close, too.
    pub const fn or_relative(mut self, part: f64) -> Self {
        self.relative = part;
        self
    }

    /// Adds a limit to this tolerance: values that [`ulps`](Self::ulps) permits are close, too.
    pub const fn or_ulps(mut self, steps: u64) -> Self {
        self.ulps = steps;
        self
    }

    fn is_close<T: Element>(self, a: T, b: T) -> bool {
        let (a, b) = (Number::of(a), Number::of(b));
        if a.is_same(b, self.has_two_zeros) {
            return true;
        }
        if self.has_two_zeros {
            return false;
        }
        let (off, largest) = a.distance(b);
        // A NaN fails both comparisons. An infinite distance may pass one of them, and `is_finite` excludes it.
        let by_size = off <= self.absolute || off / largest <= self.relative;
        by_size && off.is_finite() || a.steps(b).is_some_and(|steps| steps <= self.ulps)
    }

    /// Returns the first pair of values that are not close. `argument` is the name of the slice.
    pub(in crate::testing) fn first_difference<T: Element>(
        self,
        argument: &'static str,
        rust: &[T],
        cuda: &[T],
    ) -> Option<BodyDifference> {
        let mut different =
            rust.iter().zip(cuda).enumerate().filter(|(_, (a, b))| !self.is_close(**a, **b));
        let (index, (rust_value, cuda_value)) = different.next()?;
        let (a, b) = (Number::of(*rust_value), Number::of(*cuda_value));
        Some(BodyDifference {
            argument,
            index,
            rust: format!("{rust_value:?}"),
            cuda: format!("{cuda_value:?}"),
            off: format!("{:e}", a.distance(b).0),
            ulps: a.steps(b),
            count: 1 + different.count(),
            len: rust.len(),
            tolerance: self.to_string(),
        })
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { absolute, relative, ulps, has_two_zeros } = self;
        if *has_two_zeros {
            return f.write_str("0 bits");
        }
        let mut limits = Vec::new();
        if *absolute != 0.0 {
            limits.push(format!("{absolute:e}"));
        }
        if *relative != 0.0 {
            limits.push(format!("{relative:e} of the larger"));
        }
        if *ulps != 0 {
            limits.push(format!("{ulps} ulp"));
        }
        if limits.is_empty() { f.write_str("0") } else { f.write_str(&limits.join(" or ")) }
    }
}

/// An element as a number that can be compared.
#[derive(Debug, Clone, Copy)]
enum Number {
    Integer(i128),
    Float(Float),
    Complex(Complex<Float>),
}

/// A floating-point number, and its position in the order of all values of its type.
#[derive(Debug, Clone, Copy)]
struct Float(f64, i64);

impl Float {
    fn of_f32(value: f32) -> Self {
        Self(value.into(), place(value.to_bits().into(), 1 << 31))
    }

    fn of_f64(value: f64) -> Self {
        Self(value, place(value.to_bits(), 1 << 63))
    }

    fn is_same(self, other: Self, has_two_zeros: bool) -> bool {
        let is_equal = self.0 == other.0
            && (!has_two_zeros || self.0.is_sign_negative() == other.0.is_sign_negative());
        is_equal || self.0.is_nan() && other.0.is_nan()
    }

    /// How many steps lead from this number to the other one. `None` if one of them is not finite.
    fn steps(self, other: Self) -> Option<u64> {
        (self.0.is_finite() && other.0.is_finite()).then(|| self.1.abs_diff(other.1))
    }
}

impl Number {
    fn of<T: Element>(value: T) -> Self {
        let bits = Param::new(value);
        match T::DTYPE {
            #[cfg(feature = "half")]
            "float16" => {
                let value = bits.get::<f16>();
                Self::Float(Float(value.to_f64(), place(value.to_bits().into(), 1 << 15)))
            }
            #[cfg(feature = "half")]
            "bfloat16" => {
                let value = bits.get::<bf16>();
                Self::Float(Float(value.to_f64(), place(value.to_bits().into(), 1 << 15)))
            }
            "float32" => Self::Float(Float::of_f32(bits.get())),
            "float64" => Self::Float(Float::of_f64(bits.get())),
            "complex64" => {
                let Complex { re, im } = bits.get::<Complex<f32>>();
                Self::Complex(Complex { re: Float::of_f32(re), im: Float::of_f32(im) })
            }
            "complex128" => {
                let Complex { re, im } = bits.get::<Complex<f64>>();
                Self::Complex(Complex { re: Float::of_f64(re), im: Float::of_f64(im) })
            }
            "bool" => Self::Integer(bits.get::<Bool8>().get().into()),
            "int8" => Self::Integer(bits.get::<i8>().into()),
            "int16" => Self::Integer(bits.get::<i16>().into()),
            "int32" => Self::Integer(bits.get::<i32>().into()),
            "int64" => Self::Integer(bits.get::<i64>().into()),
            "uint8" => Self::Integer(bits.get::<u8>().into()),
            "uint16" => Self::Integer(bits.get::<u16>().into()),
            "uint32" => Self::Integer(bits.get::<u32>().into()),
            _ => Self::Integer(bits.get::<u64>().into()),
        }
    }

    /// The value as a point of the complex plane.
    fn in_plane(self) -> Complex<f64> {
        match self {
            Self::Integer(value) => Complex { re: value as f64, im: 0.0 },
            Self::Float(value) => Complex { re: value.0, im: 0.0 },
            Self::Complex(Complex { re, im }) => Complex { re: re.0, im: im.0 },
        }
    }

    fn is_same(self, other: Self, has_two_zeros: bool) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.is_same(b, has_two_zeros),
            (Self::Complex(a), Self::Complex(b)) => {
                a.re.is_same(b.re, has_two_zeros) && a.im.is_same(b.im, has_two_zeros)
            }
            _ => false,
        }
    }

    /// Returns the magnitude of the difference, and the larger of the two values' magnitudes.
    fn distance(self, other: Self) -> (f64, f64) {
        let (a, b) = (self.in_plane(), other.in_plane());
        let off = match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => (a - b).unsigned_abs() as f64,
            _ => (a - b).norm(),
        };
        (off, a.norm().max(b.norm()))
    }

    /// How many steps lead from one floating-point number to the other. `None` if one is not finite, and for integers.
    fn steps(self, other: Self) -> Option<u64> {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.steps(b),
            (Self::Complex(a), Self::Complex(b)) => Some(a.re.steps(b.re)?.max(a.im.steps(b.im)?)),
            _ => None,
        }
    }
}

/// The position of a floating-point number in the order of all: 0 for both zeros, 1 for the smallest positive number. `sign` is
/// the mask of the sign bit.
fn place(bits: u64, sign: u64) -> i64 {
    let size = (bits & !sign).cast_signed();
    if bits & sign == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(x: f32, steps: i32) -> f32 {
        f32::from_bits((x.to_bits().cast_signed() + steps).cast_unsigned())
    }

    #[test]
    fn equal_values_and_nans_are_close_and_nothing_else_is_exact() {
        let exact = |a: f32, b: f32| Tolerance::EXACT.is_close(a, b);
        assert!(exact(1.5, 1.5) && exact(0.0, -0.0) && exact(f32::INFINITY, f32::INFINITY));
        assert!(exact(f32::NAN, -f32::NAN));
        assert!(!exact(1.0, next(1.0, 1)) && !exact(1.0, f32::NAN));
        assert!(Tolerance::EXACT.is_close(u64::MAX, u64::MAX));
        assert!(!Tolerance::EXACT.is_close(u64::MAX, u64::MAX - 1));
        assert!(!Tolerance::EXACT.is_close(-1_i8, 1));
    }

    #[test]
    fn bits_have_two_zeros_and_one_nan() {
        let is_close = |a: f32, b: f32| Tolerance::BITS.is_close(a, b);
        assert!(is_close(0.0, 0.0) && is_close(-0.0, -0.0) && is_close(f32::NAN, -f32::NAN));
        assert!(!is_close(0.0, -0.0) && !is_close(1.0, next(1.0, 1)) && !is_close(1.0, f32::NAN));
        assert!(Tolerance::BITS.is_close(7_u8, 7) && !Tolerance::BITS.is_close(7_u8, 8));
        assert_eq!(Tolerance::BITS.to_string(), "0 bits");
    }

    #[test]
    fn each_limit_permits_up_to_its_number() {
        assert!(Tolerance::absolute(0.5).is_close(1.0_f64, 1.5));
        assert!(!Tolerance::absolute(0.49).is_close(1.0_f64, 1.5));
        assert!(Tolerance::absolute(1.0).is_close(7_u8, 8));
        assert!(!Tolerance::absolute(1.0).is_close(6_u8, 8));
        assert!(Tolerance::relative(0.125).is_close(-7.0_f32, -8.0));
        assert!(!Tolerance::relative(0.124).is_close(-7.0_f32, -8.0));
        assert!(Tolerance::ulps(3).is_close(1.0_f32, next(1.0, 3)));
        assert!(!Tolerance::ulps(3).is_close(1.0_f32, next(1.0, 4)));
        #[cfg(feature = "half")]
        {
            let (least, negated) = (f16::from_bits(0x0001), f16::from_bits(0x8001));
            assert!(Tolerance::ulps(2).is_close(least, negated));
            assert!(!Tolerance::ulps(1).is_close(least, negated));
            let (one, two) = (bf16::from_bits(0x3f80), bf16::from_bits(0x3f82));
            assert!(Tolerance::ulps(2).is_close(one, two));
            assert!(!Tolerance::ulps(1).is_close(one, two));
        }
        assert!(!Tolerance::ulps(1000).is_close(5_i32, 6));
        let either = Tolerance::absolute(1e-3).or_relative(1e-2);
        assert!(either.is_close(0.0_f32, 1e-3 * 0.99) && either.is_close(100.0_f32, 100.9));
        assert!(!either.is_close(0.0_f32, 2e-3) && !either.is_close(100.0_f32, 102.0));
        assert_eq!(either.to_string(), "1e-3 or 1e-2 of the larger");
    }

    #[test]
    fn complex_numbers_are_close_in_the_plane() {
        let a = Complex::new(3.0_f32, 4.0);
        let b = Complex::new(3.0_f32, 4.5);
        assert!(
            Tolerance::absolute(0.5).is_close(a, b) && !Tolerance::absolute(0.4).is_close(a, b)
        );
        assert!(
            Tolerance::relative(0.1).is_close(a, b) && !Tolerance::relative(0.08).is_close(a, b)
        );
        let near = Complex::new(next(3.0, 1), next(4.0, 3));
        assert!(Tolerance::ulps(3).is_close(a, near) && !Tolerance::ulps(2).is_close(a, near));
        let nan = Complex::new(f64::NAN, 1.0);
        assert!(Tolerance::EXACT.is_close(nan, nan));
        assert!(!Tolerance::absolute(9.0).is_close(nan, Complex::new(f64::NAN, 2.0)));
        assert!(Tolerance::EXACT.is_close(Bool8::from(true), Bool8::from(true)));
        assert!(!Tolerance::EXACT.is_close(Bool8::from(true), Bool8::from(false)));
    }

    #[test]
    fn no_limit_permits_a_nan_or_an_infinity_beside_a_number() {
        let wide = Tolerance::absolute(f64::INFINITY).or_relative(2.0).or_ulps(u64::MAX);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!wide.is_close(odd, 1.0) && !wide.is_close(f64::MAX, odd), "{odd}");
        }
        assert!(!wide.is_close(f64::INFINITY, f64::NEG_INFINITY));
    }
}
