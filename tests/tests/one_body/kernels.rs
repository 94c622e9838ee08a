//! Kernels that have every operator, method and cast in an arm of a `match`, each beside the same in Rust's own words.
#![allow(
    clippy::unnecessary_cast,
    clippy::redundant_closure_call,
    clippy::bool_comparison,
    unused_parens,
    reason = "one text for each type"
)]

use streamflow::prelude::*;

use super::cases::{Inputs, Operation, Subject};

/// A kernel, and the table of its operations: `number "name" inputs { in the kernel } = { in Rust }`.
macro_rules! operations {
    (
        $kernel:ident $table:ident $from:ident $to:ident [$a:ident $b:ident $c:ident]
        [$x:ident = $load_x:expr, $y:ident = $load_y:expr, $z:ident = $load_z:expr]
        $($number:tt $name:literal $inputs:ident { $($body:tt)* } = { $($wanted:tt)* })*
    ) => {
        #[kernel(map)]
        #[allow(unused_variables, reason = "an operation has up to three operands")]
        fn $kernel(out: &mut $to, $a: &$from, $b: &$from, $c: &$from, op: u32) {
            let $x = $load_x;
            let $y = $load_y;
            let $z = $load_z;
            *out = match op {
                $($number => ({ $($body)* }) as $to,)*
                _ => 0 as $to,
            };
        }

        #[allow(unused_variables, reason = "an operation has up to three operands")]
        fn $table() -> Subject {
            let all: &[Operation<$from, $to>] = &[$(Operation {
                number: $number,
                name: $name,
                inputs: Inputs::$inputs,
                wanted: |$a, $b, $c| {
                    let ($x, $y, $z) = ($load_x, $load_y, $load_z);
                    ({ $($wanted)* }) as $to
                },
            },)*];
            Subject::of::<$kernel, $from, $to>(all)
        }
    };
}

macro_rules! integer {
    ($kernel:ident $table:ident $memory:ident $ty:ident) => {
        operations! {
            $kernel $table $memory $memory [a b c] [x = *a as $ty, y = *b as $ty, z = *c as $ty]
            0 "+" Two { x + y } = { x.wrapping_add(y) }
            1 "-" Two { x - y } = { x.wrapping_sub(y) }
            2 "*" Two { x * y } = { x.wrapping_mul(y) }
            3 "/" Divided { x / y } = { if y == 0 { 0 } else { x.wrapping_div(y) } }
            4 "%" Divided { x % y } = { if y == 0 { 0 } else { x.wrapping_rem(y) } }
            5 "rem_euclid" Divided { x.rem_euclid(y) } = { if y == 0 { 0 } else { x.wrapping_rem_euclid(y) } }
            6 "&" Two { x & y } = { x & y }
            7 "|" Two { x | y } = { x | y }
            8 "^" Two { x ^ y } = { x ^ y }
            9 "<<" Two { x << y } = { x.wrapping_shl(y as u32) }
            10 ">>" Two { x >> y } = { x.wrapping_shr(y as u32) }
            11 "!" One { !x } = { !x }
            12 "==" Two { x == y } = { x == y }
            13 "!=" Two { x != y } = { x != y }
            14 "<" Two { x < y } = { x < y }
            15 "<=" Two { x <= y } = { x <= y }
            16 ">" Two { x > y } = { x > y }
            17 ">=" Two { x >= y } = { x >= y }
            18 "+=" Two { let mut w = x; w += y; w } = { x.wrapping_add(y) }
            19 "-=" Two { let mut w = x; w -= y; w } = { x.wrapping_sub(y) }
            20 "*=" Two { let mut w = x; w *= y; w } = { x.wrapping_mul(y) }
            21 "/=" Divided { let mut w = x; w /= y; w } = { if y == 0 { 0 } else { x.wrapping_div(y) } }
            22 "%=" Divided { let mut w = x; w %= y; w } = { if y == 0 { 0 } else { x.wrapping_rem(y) } }
            23 "&=" Two { let mut w = x; w &= y; w } = { x & y }
            24 "|=" Two { let mut w = x; w |= y; w } = { x | y }
            25 "^=" Two { let mut w = x; w ^= y; w } = { x ^ y }
            26 "<<=" Two { let mut w = x; w <<= y; w } = { x.wrapping_shl(y as u32) }
            27 ">>=" Two { let mut w = x; w >>= y; w } = { x.wrapping_shr(y as u32) }
            28 "min" Two { x.min(y) } = { if y < x { y } else { x } }
            29 "max" Two { x.max(y) } = { if x < y { y } else { x } }
            30 "clamp" Limits { x.clamp(y, z) } = { if y <= z { x.clamp(y, z) } else { 0 } }
            31 "pow" Two { x.pow(y as u32) } = { x.wrapping_pow(y as u32) }
            32 "saturating_add" Two { x.saturating_add(y) } = { x.saturating_add(y) }
            33 "saturating_sub" Two { x.saturating_sub(y) } = { x.saturating_sub(y) }
            34 "wrapping_add" Two { x.wrapping_add(y) } = { x.wrapping_add(y) }
            35 "wrapping_sub" Two { x.wrapping_sub(y) } = { x.wrapping_sub(y) }
            36 "wrapping_mul" Two { x.wrapping_mul(y) } = { x.wrapping_mul(y) }
            37 "count_ones" One { x.count_ones() } = { x.count_ones() }
            38 "leading_zeros" One { x.leading_zeros() } = { x.leading_zeros() }
            39 "trailing_zeros" One { x.trailing_zeros() } = { x.trailing_zeros() }
            40 "(x + y) / z" Three { if z == 0 { 0 } else { (x + y) / z } }
                = { if z == 0 { 0 } else { x.wrapping_add(y).wrapping_div(z) } }
            41 "x + y > x" Two { x + y > x } = { x.wrapping_add(y) > x }
            42 "MIN" One { $ty::MIN } = { $ty::MIN }
            43 "MAX" One { $ty::MAX } = { $ty::MAX }
            44 "<< of u32" Two { x << (y as u32) } = { x.wrapping_shl(y as u32) }
        }
    };
}

integer!(i8_operators of_i8 i8 i8);
integer!(i16_operators of_i16 i16 i16);
integer!(i32_operators of_i32 i32 i32);
integer!(i64_operators of_i64 i64 i64);
integer!(u8_operators of_u8 u8 u8);
integer!(u16_operators of_u16 u16 u16);
integer!(u32_operators of_u32 u32 u32);
integer!(u64_operators of_u64 u64 u64);
integer!(usize_operators of_usize u64 usize);

macro_rules! signed {
    ($kernel:ident $table:ident $ty:ident) => {
        operations! {
            $kernel $table $ty $ty [a b c] [x = *a, y = *b, z = *c]
            0 "-" One { -x } = { x.wrapping_neg() }
            1 "abs" One { x.abs() } = { x.wrapping_abs() }
            2 "signum" One { x.signum() } = { x.signum() }
            3 "a negative literal" Two { x + -7 - y } = { x.wrapping_sub(7).wrapping_sub(y) }
        }
    };
}

signed!(i8_signs signs_i8 i8);
signed!(i16_signs signs_i16 i16);
signed!(i32_signs signs_i32 i32);
signed!(i64_signs signs_i64 i64);

macro_rules! float {
    ($kernel:ident $table:ident $ty:ident) => {
        operations! {
            $kernel $table $ty $ty [a b c] [x = *a, y = *b, z = *c]
            0 "+" Two { x + y } = { x + y }
            1 "-" Two { x - y } = { x - y }
            2 "*" Two { x * y } = { x * y }
            3 "/" Two { x / y } = { x / y }
            4 "%" Two { x % y } = { x % y }
            5 "rem_euclid" Two { x.rem_euclid(y) } = { x.rem_euclid(y) }
            6 "-x" One { -x } = { -x }
            7 "x * y + z" Three { x * y + z } = { x * y + z }
            8 "mul_add" Three { x.mul_add(y, z) } = { x.mul_add(y, z) }
            9 "sqrt" One { x.sqrt() } = { x.sqrt() }
            10 "abs" One { x.abs() } = { x.abs() }
            11 "signum" One { x.signum() } = { x.signum() }
            // Of two that are equal, as 0 and -0, Rust leaves open which one it is. Here it is the first.
            12 "min" Two { x.min(y) } = { if x == y { x } else { x.min(y) } }
            13 "max" Two { x.max(y) } = { if x == y { x } else { x.max(y) } }
            14 "clamp" Limits { x.clamp(y, z) } = { if y <= z { x.clamp(y, z) } else { 0.0 } }
            15 "copysign" Two { x.copysign(y) } = { x.copysign(y) }
            16 "floor" One { x.floor() } = { x.floor() }
            17 "ceil" One { x.ceil() } = { x.ceil() }
            18 "round" One { x.round() } = { x.round() }
            19 "trunc" One { x.trunc() } = { x.trunc() }
            20 "fract" One { x.fract() } = { x.fract() }
            21 "recip" One { x.recip() } = { x.recip() }
            22 "to_degrees" One { x.to_degrees() } = { x.to_degrees() }
            23 "to_radians" One { x.to_radians() } = { x.to_radians() }
            24 "==" Two { if x == y { 1.0 } else { 0.0 } } = { if x == y { 1.0 } else { 0.0 } }
            25 "!=" Two { if x != y { 1.0 } else { 0.0 } } = { if x != y { 1.0 } else { 0.0 } }
            26 "<" Two { if x < y { 1.0 } else { 0.0 } } = { if x < y { 1.0 } else { 0.0 } }
            27 "<=" Two { if x <= y { 1.0 } else { 0.0 } } = { if x <= y { 1.0 } else { 0.0 } }
            28 ">" Two { if x > y { 1.0 } else { 0.0 } } = { if x > y { 1.0 } else { 0.0 } }
            29 ">=" Two { if x >= y { 1.0 } else { 0.0 } } = { if x >= y { 1.0 } else { 0.0 } }
            30 "is_nan" One { if x.is_nan() { 1.0 } else { 0.0 } } = { if x.is_nan() { 1.0 } else { 0.0 } }
            31 "is_finite" One { if x.is_finite() { 1.0 } else { 0.0 } } = { if x.is_finite() { 1.0 } else { 0.0 } }
            32 "is_infinite" One { if x.is_infinite() { 1.0 } else { 0.0 } } = { if x.is_infinite() { 1.0 } else { 0.0 } }
            33 "acos" One { x.acos() } = { x.acos() }
            34 "asin" One { x.asin() } = { x.asin() }
            35 "atan" One { x.atan() } = { x.atan() }
            36 "atan2" Two { x.atan2(y) } = { x.atan2(y) }
            37 "cos" One { x.cos() } = { x.cos() }
            38 "cosh" One { x.cosh() } = { x.cosh() }
            39 "exp" One { x.exp() } = { x.exp() }
            40 "exp2" One { x.exp2() } = { x.exp2() }
            41 "hypot" Two { x.hypot(y) } = { x.hypot(y) }
            42 "ln" One { x.ln() } = { x.ln() }
            43 "log10" One { x.log10() } = { x.log10() }
            44 "log2" One { x.log2() } = { x.log2() }
            45 "powf" Two { x.powf(y) } = { x.powf(y) }
            46 "sin" One { x.sin() } = { x.sin() }
            47 "sinh" One { x.sinh() } = { x.sinh() }
            48 "tan" One { x.tan() } = { x.tan() }
            49 "tanh" One { x.tanh() } = { x.tanh() }
            50 "+=, -=" Three { let mut w = x; w += y; w -= z; w } = { x + y - z }
            51 "*=, /=" Three { let mut w = x; w *= y; w /= z; w } = { x * y / z }
            52 "powi of 3" One { x.powi(3) } = { x * (x * x) }
            53 "powi of -2" One { x.powi(-2) } = { 1.0 / (x * x) }
            54 "constants" One { x * 0.1 + $ty::MAX } = { x * 0.1 + $ty::MAX }
        }
    };
}

float!(f32_operators of_f32 f32);
float!(f64_operators of_f64 f64);

/// Casts to each type. The bits of a NaN are 1 here, since no platform promises them.
macro_rules! casts {
    ($kernel:ident $table:ident $from:ident $($ty:ident)?) => {
        operations! {
            $kernel $table $from u64 [a b c] [x = *a $(as $ty)?, y = *b, z = *c]
            0 "as i8" One { x as i8 } = { x as i8 }
            1 "as i16" One { x as i16 } = { x as i16 }
            2 "as i32" One { x as i32 } = { x as i32 }
            3 "as i64" One { x as i64 } = { x as i64 }
            4 "as u8" One { x as u8 } = { x as u8 }
            5 "as u16" One { x as u16 } = { x as u16 }
            6 "as u32" One { x as u32 } = { x as u32 }
            7 "as u64" One { x as u64 } = { x as u64 }
            8 "as usize" One { x as usize } = { x as usize }
            9 "as f32" One { let w = x as f32; if w.is_nan() { 1 } else { w.to_bits() } }
                = { let w = x as f32; if w.is_nan() { 1 } else { w.to_bits() } }
            10 "as f64" One { let w = x as f64; if w.is_nan() { 1 } else { w.to_bits() } }
                = { let w = x as f64; if w.is_nan() { 1 } else { w.to_bits() } }
        }
    };
}

casts!(i8_casts casts_of_i8 i8);
casts!(i16_casts casts_of_i16 i16);
casts!(i32_casts casts_of_i32 i32);
casts!(i64_casts casts_of_i64 i64);
casts!(u8_casts casts_of_u8 u8);
casts!(u16_casts casts_of_u16 u16);
casts!(u32_casts casts_of_u32 u32);
casts!(u64_casts casts_of_u64 u64);
casts!(usize_casts casts_of_usize u64 usize);
casts!(f32_casts casts_of_f32 f32);
casts!(f64_casts casts_of_f64 f64);

operations! {
    bool_operators of_bool u8 u8 [a b c] [x = *a != 0, y = *b != 0, z = *c != 0]
    0 "&" Two { x & y } = { x & y }
    1 "|" Two { x | y } = { x | y }
    2 "^" Two { x ^ y } = { x ^ y }
    3 "!" One { !x } = { !x }
    4 "==" Two { x == y } = { x == y }
    5 "!=" Two { x != y } = { x != y }
    6 "<" Two { x < y } = { x < y }
    7 ">=" Two { x >= y } = { x >= y }
    8 "&&" Two { x && y } = { x && y }
    9 "||" Two { x || y } = { x || y }
    10 "as i8, u64" Two { (x as i8) as u64 + y as u64 } = { (x as i8) as u64 + y as u64 }
}

/// Random bodies, which `build.rs` has written.
#[allow(
    clippy::all,
    unused,
    unconditional_panic,
    arithmetic_overflow,
    unused_comparisons,
    reason = "nobody has written this code"
)]
pub(super) mod random {
    use super::*;

    // Of two that are equal, as 0 and -0, the first; and the number where the other is none.
    fn min_f32(a: f32, b: f32) -> f32 {
        if b < a || a.is_nan() { b } else { a }
    }

    fn max_f32(a: f32, b: f32) -> f32 {
        if a < b || a.is_nan() { b } else { a }
    }

    fn min_f64(a: f64, b: f64) -> f64 {
        if b < a || a.is_nan() { b } else { a }
    }

    fn max_f64(a: f64, b: f64) -> f64 {
        if a < b || a.is_nan() { b } else { a }
    }

    /// Functions that the bodies call, each beside the same in Rust's own words.
    macro_rules! shared {
        ($($name:ident $own:ident $ty:ident $add:expr, $sub:expr, $mul:expr;)*) => {$(
            #[kernel_fn]
            fn $name(a: $ty, mut b: $ty) -> $ty {
                let mut x = a;
                for i in 0..3_u8 {
                    if x > b {
                        x -= b;
                    } else {
                        b = x * (i as $ty);
                        x += b + 1 as $ty;
                    }
                }
                x
            }

            fn $own(a: $ty, mut b: $ty) -> $ty {
                let (add, sub, mul) = ($add, $sub, $mul);
                let mut x = a;
                for i in 0..3_u8 {
                    if x > b {
                        x = sub(x, b);
                    } else {
                        b = mul(x, i as $ty);
                        x = add(x, add(b, 1 as $ty));
                    }
                }
                x
            }
        )*};
    }

    shared! {
        shared_i8 own_i8 i8 i8::wrapping_add, i8::wrapping_sub, i8::wrapping_mul;
        shared_i16 own_i16 i16 i16::wrapping_add, i16::wrapping_sub, i16::wrapping_mul;
        shared_i32 own_i32 i32 i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul;
        shared_i64 own_i64 i64 i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul;
        shared_u8 own_u8 u8 u8::wrapping_add, u8::wrapping_sub, u8::wrapping_mul;
        shared_u16 own_u16 u16 u16::wrapping_add, u16::wrapping_sub, u16::wrapping_mul;
        shared_u32 own_u32 u32 u32::wrapping_add, u32::wrapping_sub, u32::wrapping_mul;
        shared_u64 own_u64 u64 u64::wrapping_add, u64::wrapping_sub, u64::wrapping_mul;
        shared_f32 own_f32 f32 |a, b| a + b, |a, b| a - b, |a, b| a * b;
        shared_f64 own_f64 f64 |a, b| a + b, |a, b| a - b, |a, b| a * b;
    }

    include!(concat!(env!("OUT_DIR"), "/random_bodies.rs"));
}

pub(super) fn integers() -> Vec<Subject> {
    let of = [of_i8, of_i16, of_i32, of_i64, of_u8, of_u16, of_u32, of_u64, of_usize];
    of.into_iter().chain([signs_i8, signs_i16, signs_i32, signs_i64]).map(|table| table()).collect()
}

pub(super) fn floats() -> Vec<Subject> {
    vec![of_f32(), of_f64()]
}

pub(super) fn casts() -> Vec<Subject> {
    let of_signed = [casts_of_i8, casts_of_i16, casts_of_i32, casts_of_i64];
    let of_others = [casts_of_u8, casts_of_u16, casts_of_u32, casts_of_u64, casts_of_usize];
    let all = of_signed.into_iter().chain(of_others).chain([casts_of_f32, casts_of_f64, of_bool]);
    all.map(|table| table()).collect()
}
