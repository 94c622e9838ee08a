//! The types of a body's values, and the operators that each has.
#![allow(missing_docs, reason = "each function has the name and the meaning of one of Rust")]

use std::ops::Neg;

use super::KernelArg;
use super::faults::division_by_zero;

mod sealed {
    /// Restricts the traits of this module to numbers and `bool`.
    pub trait Sealed {}
}

/// A number, exact, in the widest type of its kind.
#[derive(Debug, Clone, Copy)]
pub enum Wide {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer, or a `bool` as 0 or 1.
    Unsigned(u64),
    /// A float.
    Float(f64),
}

/// A value of a body that operators take, in Rust and in CUDA.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a kernel's values, as `f32`, `u32` or `bool` is",
    label = "this value is of type `{Self}`",
    note = "use `f32`, `f64`, `bool` or an integer of at most 64 bits"
)]
pub trait Value: KernelArg + PartialEq + PartialOrd + sealed::Sealed {
    /// The value in a type that holds each value of its kind, for a cast.
    #[doc(hidden)]
    fn wide(self) -> Wide;
}

/// A number. Overflow of an integer wraps; a division by 0 is 0 and reported.
#[diagnostic::on_unimplemented(
    message = "this operator or method of a kernel is for numbers, and not for `{Self}`",
    label = "this value is of type `{Self}`",
    note = "cast it to a number first, as `x as u32`"
)]
pub trait Number: Value {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    #[track_caller]
    fn div(self, other: Self) -> Self;
    #[track_caller]
    fn rem(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    #[track_caller]
    fn rem_euclid(self, other: Self) -> Self;
    /// `as`
    fn narrow(wide: Wide) -> Self;
}

/// A number with a sign.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no sign, so a kernel has no `-`, `abs` or `signum` of it",
    label = "this value is of type `{Self}`",
    note = "make it signed by a cast first, as `-(x as i32)`"
)]
pub trait Signed: Number {
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn signum(self) -> Self;
}

/// The operators of bits, of integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "this operator of a kernel is for integers and `bool`, and not for `{Self}`",
    label = "this value is of type `{Self}`",
    note = "cast it to an integer first, as `x as u32`"
)]
pub trait Bits: Value {
    fn not(self) -> Self;
    fn bit_and(self, other: Self) -> Self;
    fn bit_or(self, other: Self) -> Self;
    fn bit_xor(self, other: Self) -> Self;
}

/// An integer.
#[diagnostic::on_unimplemented(
    message = "this operator or method of a kernel is for integers, and not for `{Self}`",
    label = "this value is of type `{Self}`",
    note = "cast it to an integer first, as `x as u32`"
)]
pub trait Integer: Number + Bits {
    /// Shifted by the lower bits of `by` alone, as `wrapping_shl`.
    fn shl(self, by: u32) -> Self;
    fn shr(self, by: u32) -> Self;
    fn pow(self, exponent: u32) -> Self;
    fn saturating_add(self, other: Self) -> Self;
    fn saturating_sub(self, other: Self) -> Self;
    fn count_ones(self) -> u32;
    fn leading_zeros(self) -> u32;
    fn trailing_zeros(self) -> u32;
    /// The number's lowest 32 bits, as an amount of a shift.
    fn amount(self) -> u32;
}

/// `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "this method of a kernel is for `f32` and `f64`, and not for `{Self}`",
    label = "this value is of type `{Self}`",
    note = "cast it first, as `(x as f32).sqrt()`"
)]
pub trait Float: Signed {
    /// The integer with the same bits.
    type Bits: Integer;
    fn to_bits(self) -> Self::Bits;
    fn mul_add(self, by: Self, more: Self) -> Self;
    fn sqrt(self) -> Self;
    fn one(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn trunc(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_infinite(self) -> bool;
    fn acos(self) -> Self;
    fn asin(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, other: Self) -> Self;
    fn cos(self) -> Self;
    fn cosh(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn ln(self) -> Self;
    fn log10(self) -> Self;
    fn log2(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn sin(self) -> Self;
    fn sinh(self) -> Self;
    fn tan(self) -> Self;
    fn tanh(self) -> Self;
    fn to_degrees(self) -> Self;
    fn to_radians(self) -> Self;
}

impl sealed::Sealed for bool {}
impl Value for bool {
    #[inline(always)]
    fn wide(self) -> Wide {
        Wide::Unsigned(self.into())
    }
}

impl Bits for bool {
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn bit_and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn bit_or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bit_xor(self, other: Self) -> Self {
        self ^ other
    }
}

/// Functions that have the name and the meaning of Rust's own.
macro_rules! same {
    ($($name:ident($($other:ident),*) -> $ty:ty;)*) => {
        $(#[inline(always)] fn $name(self $(, $other: Self)*) -> $ty { self.$name($($other),*) })*
    };
}

macro_rules! integer {
    ($($ty:ident $wide:ident $widest:ident;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Value for $ty {
            #[inline(always)] fn wide(self) -> Wide { Wide::$wide(self as $widest) }
        }

        impl Number for $ty {
            #[inline(always)] fn narrow(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(number) => number as $ty,
                    Wide::Unsigned(number) => number as $ty,
                    Wide::Float(number) => number as $ty,
                }
            }
            #[inline(always)] fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)] fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)] fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)] #[track_caller] fn div(self, other: Self) -> Self {
                if other == 0 { division_by_zero(); 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)] #[track_caller] fn rem(self, other: Self) -> Self {
                if other == 0 { division_by_zero(); 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)] fn min(self, other: Self) -> Self { if other < self { other } else { self } }
            #[inline(always)] fn max(self, other: Self) -> Self { if self < other { other } else { self } }
            #[inline(always)] #[track_caller] fn rem_euclid(self, other: Self) -> Self {
                if other == 0 { division_by_zero(); 0 } else { self.wrapping_rem_euclid(other) }
            }
        }

        impl Bits for $ty {
            #[inline(always)] fn not(self) -> Self { !self }
            #[inline(always)] fn bit_and(self, other: Self) -> Self { self & other }
            #[inline(always)] fn bit_or(self, other: Self) -> Self { self | other }
            #[inline(always)] fn bit_xor(self, other: Self) -> Self { self ^ other }
        }

        impl Integer for $ty {
            #[inline(always)] fn shl(self, by: u32) -> Self { self.wrapping_shl(by) }
            #[inline(always)] fn shr(self, by: u32) -> Self { self.wrapping_shr(by) }
            #[inline(always)] fn pow(self, exponent: u32) -> Self { self.wrapping_pow(exponent) }
            same! {
                saturating_add(other) -> Self;
                saturating_sub(other) -> Self;
                count_ones() -> u32;
                leading_zeros() -> u32;
                trailing_zeros() -> u32;
            }
            #[inline(always)] fn amount(self) -> u32 { self as u32 }
        }
    )*};
}

integer! {
    i8 Signed i64;
    i16 Signed i64;
    i32 Signed i64;
    i64 Signed i64;
    u8 Unsigned u64;
    u16 Unsigned u64;
    u32 Unsigned u64;
    u64 Unsigned u64;
    usize Unsigned u64;
}

macro_rules! signed {
    ($($ty:ident $neg:path, $abs:path;)*) => {$(
        impl Signed for $ty {
            #[inline(always)] fn neg(self) -> Self { $neg(self) }
            #[inline(always)] fn abs(self) -> Self { $abs(self) }
            #[inline(always)] fn signum(self) -> Self { $ty::signum(self) }
        }
    )*};
}

signed! {
    i8 i8::wrapping_neg, i8::wrapping_abs;
    i16 i16::wrapping_neg, i16::wrapping_abs;
    i32 i32::wrapping_neg, i32::wrapping_abs;
    i64 i64::wrapping_neg, i64::wrapping_abs;
    f32 Neg::neg, f32::abs;
    f64 Neg::neg, f64::abs;
}

macro_rules! float {
    ($($ty:ident $bits:ident;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Value for $ty {
            #[inline(always)] fn wide(self) -> Wide { Wide::Float(self as f64) }
        }

        impl Number for $ty {
            #[inline(always)] fn narrow(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(number) => number as $ty,
                    Wide::Unsigned(number) => number as $ty,
                    Wide::Float(number) => number as $ty,
                }
            }
            #[inline(always)] fn add(self, other: Self) -> Self { self + other }
            #[inline(always)] fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)] fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)] fn div(self, other: Self) -> Self { self / other }
            #[inline(always)] fn rem(self, other: Self) -> Self { self % other }
            // The number where one is none, and the first of two that are equal, as 0 and -0.
            #[inline(always)] fn min(self, other: Self) -> Self {
                if other < self || self.is_nan() { other } else { self }
            }
            #[inline(always)] fn max(self, other: Self) -> Self {
                if self < other || self.is_nan() { other } else { self }
            }
            #[inline(always)] fn rem_euclid(self, other: Self) -> Self {
                let rest = self % other;
                if rest < 0.0 { rest + other.abs() } else { rest }
            }
        }

        #[diagnostic::do_not_recommend]
        impl Float for $ty {
            type Bits = $bits;
            #[inline(always)] fn to_bits(self) -> $bits { self.to_bits() }
            #[inline(always)] fn mul_add(self, by: Self, more: Self) -> Self { self.mul_add(by, more) }
            #[inline(always)] fn one(self) -> Self { 1.0 }
            #[inline(always)] fn to_degrees(self) -> Self { self.to_degrees() }
            #[inline(always)] fn to_radians(self) -> Self { self.to_radians() }
            same! {
                sqrt() -> Self;
                floor() -> Self;
                ceil() -> Self;
                round() -> Self;
                trunc() -> Self;
                copysign(sign) -> Self;
                is_nan() -> bool;
                is_finite() -> bool;
                is_infinite() -> bool;
                acos() -> Self;
                asin() -> Self;
                atan() -> Self;
                atan2(other) -> Self;
                cos() -> Self;
                cosh() -> Self;
                exp() -> Self;
                exp2() -> Self;
                hypot(other) -> Self;
                ln() -> Self;
                log10() -> Self;
                log2() -> Self;
                powf(exponent) -> Self;
                sin() -> Self;
                sinh() -> Self;
                tan() -> Self;
                tanh() -> Self;
            }
        }
    )*};
}

float! {
    f32 u32;
    f64 u64;
}
