//! The operators and methods of a body, as functions: `cuda/body.cuh` has each one under the same name.
//!
//! A function has one type for all its operands, so that rustc infers the types of literals as for Rust's own operators.
#![allow(missing_docs, reason = "each function has the name and the meaning of one of Rust")]

use super::number::{Bits, Float, Integer, Number, Signed};

/// Functions of one trait, each with the trait's function of the same name.
macro_rules! functions {
    ($($trait:ident { $($name:ident($($other:ident: $ty:ty),*) -> $result:ty;)* })*) => {$($(
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: $trait>(value: T $(, $other: $ty)*) -> $result {
            $trait::$name(value $(, $other)*)
        }
    )*)*};
}

functions! {
    Number {
        add(other: T) -> T;
        sub(other: T) -> T;
        mul(other: T) -> T;
        div(other: T) -> T;
        rem(other: T) -> T;
        min(other: T) -> T;
        max(other: T) -> T;
        rem_euclid(other: T) -> T;
    }
    Signed {
        neg() -> T;
        abs() -> T;
        signum() -> T;
    }
    Bits {
        bit_and(other: T) -> T;
        bit_or(other: T) -> T;
        bit_xor(other: T) -> T;
    }
    Integer {
        pow(exponent: u32) -> T;
        saturating_add(other: T) -> T;
        saturating_sub(other: T) -> T;
        count_ones() -> u32;
        leading_zeros() -> u32;
        trailing_zeros() -> u32;
    }
    Float {
        mul_add(by: T, more: T) -> T;
        sqrt() -> T;
        floor() -> T;
        ceil() -> T;
        round() -> T;
        trunc() -> T;
        copysign(sign: T) -> T;
        is_nan() -> bool;
        is_finite() -> bool;
        is_infinite() -> bool;
        acos() -> T;
        asin() -> T;
        atan() -> T;
        atan2(other: T) -> T;
        cos() -> T;
        cosh() -> T;
        exp() -> T;
        exp2() -> T;
        hypot(other: T) -> T;
        ln() -> T;
        log10() -> T;
        log2() -> T;
        powf(exponent: T) -> T;
        sin() -> T;
        sinh() -> T;
        tan() -> T;
        tanh() -> T;
        to_degrees() -> T;
        to_radians() -> T;
        to_bits() -> T::Bits;
    }
}

/// `!`
#[inline(always)]
pub fn not_<T: Bits>(value: T) -> T {
    value.not()
}

/// `<<`
#[inline(always)]
pub fn shl<T: Integer, A: Integer>(value: T, by: A) -> T {
    value.shl(by.amount())
}

/// `>>`
#[inline(always)]
pub fn shr<T: Integer, A: Integer>(value: T, by: A) -> T {
    value.shr(by.amount())
}

#[inline(always)]
pub fn wrapping_add<T: Integer>(value: T, other: T) -> T {
    value.add(other)
}

#[inline(always)]
pub fn wrapping_sub<T: Integer>(value: T, other: T) -> T {
    value.sub(other)
}

#[inline(always)]
pub fn wrapping_mul<T: Integer>(value: T, other: T) -> T {
    value.mul(other)
}

#[inline(always)]
pub fn clamp<T: Number>(value: T, low: T, high: T) -> T {
    // NaN stays NaN, as in Rust.
    let value = if value < low { low } else { value };
    if value > high { high } else { value }
}

#[inline(always)]
pub fn recip<T: Float>(value: T) -> T {
    value.one().div(value)
}

#[inline(always)]
pub fn fract<T: Float>(value: T) -> T {
    value.sub(value.trunc())
}

/// A power by repeated squaring, in the same order as in CUDA.
#[inline(always)]
pub fn powi<T: Float>(value: T, exponent: i32) -> T {
    let (mut power, mut rest, mut result) = (value, exponent.unsigned_abs(), value.one());
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.mul(power);
        }
        power = power.mul(power);
        rest >>= 1;
    }
    if exponent < 0 { result.one().div(result) } else { result }
}
