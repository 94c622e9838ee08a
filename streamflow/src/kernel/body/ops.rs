//! The operators and methods of a body, as functions: `cuda/body.cuh` has each one under the same name.
//!
//! A function has one type for all its operands, so that rustc infers the types of literals as for Rust's own operators.
#![allow(missing_docs, reason = "each function has the name and the meaning of one of Rust")]

use super::cast;
use super::number::{Bits, Float, Integer, Number, Signed, Value};

// The functions are written without a macro: rustc would name the macro as the origin of its errors.

#[inline(always)]
#[track_caller]
pub fn add<T: Number>(value: T, other: T) -> T {
    Number::add(value, other)
}

#[inline(always)]
#[track_caller]
pub fn sub<T: Number>(value: T, other: T) -> T {
    Number::sub(value, other)
}

#[inline(always)]
#[track_caller]
pub fn mul<T: Number>(value: T, other: T) -> T {
    Number::mul(value, other)
}

#[inline(always)]
#[track_caller]
pub fn div<T: Number>(value: T, other: T) -> T {
    Number::div(value, other)
}

#[inline(always)]
#[track_caller]
pub fn rem<T: Number>(value: T, other: T) -> T {
    Number::rem(value, other)
}

#[inline(always)]
#[track_caller]
pub fn min<T: Number>(value: T, other: T) -> T {
    Number::min(value, other)
}

#[inline(always)]
#[track_caller]
pub fn max<T: Number>(value: T, other: T) -> T {
    Number::max(value, other)
}

#[inline(always)]
#[track_caller]
pub fn rem_euclid<T: Number>(value: T, other: T) -> T {
    Number::rem_euclid(value, other)
}

#[inline(always)]
#[track_caller]
pub fn neg<T: Signed>(value: T) -> T {
    Signed::neg(value)
}

#[inline(always)]
#[track_caller]
pub fn abs<T: Signed>(value: T) -> T {
    Signed::abs(value)
}

#[inline(always)]
#[track_caller]
pub fn signum<T: Signed>(value: T) -> T {
    Signed::signum(value)
}

#[inline(always)]
#[track_caller]
pub fn bit_and<T: Bits>(value: T, other: T) -> T {
    Bits::bit_and(value, other)
}

#[inline(always)]
#[track_caller]
pub fn bit_or<T: Bits>(value: T, other: T) -> T {
    Bits::bit_or(value, other)
}

#[inline(always)]
#[track_caller]
pub fn bit_xor<T: Bits>(value: T, other: T) -> T {
    Bits::bit_xor(value, other)
}

#[inline(always)]
#[track_caller]
pub fn pow<T: Integer>(value: T, exponent: u32) -> T {
    Integer::pow(value, exponent)
}

#[inline(always)]
#[track_caller]
pub fn saturating_add<T: Integer>(value: T, other: T) -> T {
    Integer::saturating_add(value, other)
}

#[inline(always)]
#[track_caller]
pub fn saturating_sub<T: Integer>(value: T, other: T) -> T {
    Integer::saturating_sub(value, other)
}

#[inline(always)]
#[track_caller]
pub fn count_ones<T: Integer>(value: T) -> u32 {
    Integer::count_ones(value)
}

#[inline(always)]
#[track_caller]
pub fn leading_zeros<T: Integer>(value: T) -> u32 {
    Integer::leading_zeros(value)
}

#[inline(always)]
#[track_caller]
pub fn trailing_zeros<T: Integer>(value: T) -> u32 {
    Integer::trailing_zeros(value)
}

#[inline(always)]
#[track_caller]
pub fn mul_add<T: Float>(value: T, by: T, more: T) -> T {
    Float::mul_add(value, by, more)
}

#[inline(always)]
#[track_caller]
pub fn sqrt<T: Float>(value: T) -> T {
    Float::sqrt(value)
}

#[inline(always)]
#[track_caller]
pub fn floor<T: Float>(value: T) -> T {
    Float::floor(value)
}

#[inline(always)]
#[track_caller]
pub fn ceil<T: Float>(value: T) -> T {
    Float::ceil(value)
}

#[inline(always)]
#[track_caller]
pub fn round<T: Float>(value: T) -> T {
    Float::round(value)
}

#[inline(always)]
#[track_caller]
pub fn trunc<T: Float>(value: T) -> T {
    Float::trunc(value)
}

#[inline(always)]
#[track_caller]
pub fn copysign<T: Float>(value: T, sign: T) -> T {
    Float::copysign(value, sign)
}

#[inline(always)]
#[track_caller]
pub fn is_nan<T: Float>(value: T) -> bool {
    Float::is_nan(value)
}

#[inline(always)]
#[track_caller]
pub fn is_finite<T: Float>(value: T) -> bool {
    Float::is_finite(value)
}

#[inline(always)]
#[track_caller]
pub fn is_infinite<T: Float>(value: T) -> bool {
    Float::is_infinite(value)
}

#[inline(always)]
#[track_caller]
pub fn acos<T: Float>(value: T) -> T {
    Float::acos(value)
}

#[inline(always)]
#[track_caller]
pub fn asin<T: Float>(value: T) -> T {
    Float::asin(value)
}

#[inline(always)]
#[track_caller]
pub fn atan<T: Float>(value: T) -> T {
    Float::atan(value)
}

#[inline(always)]
#[track_caller]
pub fn atan2<T: Float>(value: T, other: T) -> T {
    Float::atan2(value, other)
}

#[inline(always)]
#[track_caller]
pub fn cos<T: Float>(value: T) -> T {
    Float::cos(value)
}

#[inline(always)]
#[track_caller]
pub fn cosh<T: Float>(value: T) -> T {
    Float::cosh(value)
}

#[inline(always)]
#[track_caller]
pub fn exp<T: Float>(value: T) -> T {
    Float::exp(value)
}

#[inline(always)]
#[track_caller]
pub fn exp2<T: Float>(value: T) -> T {
    Float::exp2(value)
}

#[inline(always)]
#[track_caller]
pub fn hypot<T: Float>(value: T, other: T) -> T {
    Float::hypot(value, other)
}

#[inline(always)]
#[track_caller]
pub fn ln<T: Float>(value: T) -> T {
    Float::ln(value)
}

#[inline(always)]
#[track_caller]
pub fn log10<T: Float>(value: T) -> T {
    Float::log10(value)
}

#[inline(always)]
#[track_caller]
pub fn log2<T: Float>(value: T) -> T {
    Float::log2(value)
}

#[inline(always)]
#[track_caller]
pub fn powf<T: Float>(value: T, exponent: T) -> T {
    Float::powf(value, exponent)
}

#[inline(always)]
#[track_caller]
pub fn sin<T: Float>(value: T) -> T {
    Float::sin(value)
}

#[inline(always)]
#[track_caller]
pub fn sinh<T: Float>(value: T) -> T {
    Float::sinh(value)
}

#[inline(always)]
#[track_caller]
pub fn tan<T: Float>(value: T) -> T {
    Float::tan(value)
}

#[inline(always)]
#[track_caller]
pub fn tanh<T: Float>(value: T) -> T {
    Float::tanh(value)
}

#[inline(always)]
#[track_caller]
pub fn to_degrees<T: Float>(value: T) -> T {
    Float::to_degrees(value)
}

#[inline(always)]
#[track_caller]
pub fn to_radians<T: Float>(value: T) -> T {
    Float::to_radians(value)
}

#[inline(always)]
#[track_caller]
pub fn to_bits<T: Float>(value: T) -> T::Bits {
    Float::to_bits(value)
}

/// `==`
#[inline(always)]
pub fn eq<T: Value>(value: T, other: T) -> bool {
    value == other
}

/// `!=`
#[inline(always)]
pub fn ne<T: Value>(value: T, other: T) -> bool {
    value != other
}

/// `<`
#[inline(always)]
pub fn lt<T: Value>(value: T, other: T) -> bool {
    value < other
}

/// `<=`
#[inline(always)]
pub fn le<T: Value>(value: T, other: T) -> bool {
    value <= other
}

/// `>`
#[inline(always)]
pub fn gt<T: Value>(value: T, other: T) -> bool {
    value > other
}

/// `>=`
#[inline(always)]
pub fn ge<T: Value>(value: T, other: T) -> bool {
    value >= other
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

/// The number with this index among `count` numbers from `start` to `stop`, at the same distance from each other. The last number
/// is `stop`.
#[inline]
pub fn linspace<T: Float>(start: T, stop: T, index: usize, count: usize) -> T {
    if count > 1 && index == count - 1 {
        return stop;
    }
    let step = div(sub(stop, start), cast::<usize, T>(max(count, 2) - 1));
    add(start, mul(cast::<usize, T>(index), step))
}
