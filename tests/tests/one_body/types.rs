//! Instances of generic kernels, arrays, tables and structs, each beside the same in Rust's own words.

use streamflow::__private::{KernelInfo, MapKernel};
use streamflow::kernel::{Float, Integer, Number};
use streamflow::prelude::*;

use super::cases::{Inputs, Operation, Subject};

#[kernel_fn]
fn between<T: Number>(a: T, b: T) -> T {
    a + (b - a) * 3 as T
}

/// A power, by a number that is a part of the type.
#[kernel_fn]
fn raised<T: Number, const N: u8>(a: T) -> T {
    let mut product = 1 as T;
    for _ in 0..N {
        product *= a;
    }
    product
}

/// The quotient of an instance, whose division by 0 is reported for integers alone.
#[kernel_fn]
fn divided<T: Number>(a: T, b: T) -> T {
    a / b
}

#[kernel(map)]
fn number<T: Number, const SHIFT: usize>(out: &mut T, a: &T, b: &T, c: &T, op: u32) {
    *out = match op {
        0 => between(*a, *b),
        1 => raised::<_, 3>(*a) - raised::<T, 0>(*b),
        2 => divided(*a, *b),
        3 => (*a as f32) as T,
        4 => (*a as i16) as T,
        5 => (between(*a as f64, *b as f64) + between(1_u8, 200) as f64) as T,
        6 => *a + SHIFT as T + [*b, *c][SHIFT % 2],
        _ => 0 as T,
    };
}

#[kernel(map)]
fn floating<T: Float>(out: &mut T, a: &T, b: &T, c: &T, op: u32) {
    *out = match op {
        0 => (*a).mul_add(*b, *c),
        1 => (*a).abs().sqrt(),
        2 => (*a).min(0.1 as T) * 2.5_f32 as T,
        _ => -*a,
    };
}

#[kernel(map)]
fn integer<T: Integer>(out: &mut T, a: &T, b: &T, c: &T, op: u32) {
    *out = match op {
        0 => *a << *b & *c,
        1 => (*a).count_ones() as T ^ !*b,
        _ => *a | *b,
    };
}

const TAPS: [i32; 5] = [3, -7, i32::MIN, i32::MAX, 11];
const LIMITS: [f32; 4] = [f32::NAN, f32::INFINITY, -0.0, 1.0e-45];

/// A struct whose fields have gaps between them in C, in an order that Rust changes.
#[derive(Clone, Copy, KernelArg)]
struct Mixed {
    sign: i8,
    wide: f64,
    small: u16,
    inner: Inner,
    taps: [i32; 3],
    last: u8,
}

#[derive(Clone, Copy, KernelArg)]
struct Inner {
    is_on: bool,
    more: [[i16; 2]; 2],
}

const MIXED: Mixed = Mixed {
    sign: -5,
    wide: 1.0e300,
    small: 65_535,
    inner: Inner { is_on: true, more: [[1, -2], [30, -40]] },
    taps: [100, -200, i32::MIN],
    last: 255,
};

/// The sum of a struct's fields, each with a weight of its own.
#[kernel_fn]
fn weighed(mixed: Mixed) -> i32 {
    const WEIGHTS: [i32; 3] = [1, 5, 25];
    let mut sum = mixed.sign as i32 * 2 + mixed.small as i32 * 3 + mixed.last as i32 * 7;
    for i in 0..3 {
        sum += mixed.taps[i] * WEIGHTS[i];
    }
    if mixed.inner.is_on && mixed.wide > 1.0 {
        sum += mixed.inner.more[0][1] as i32 * 11 + mixed.inner.more[1][0] as i32 * 13;
    }
    sum
}

fn weighed_in_rust(mixed: &Mixed) -> i32 {
    let taps = mixed.taps.iter().zip([1, 5, 25]);
    let own = i32::from(mixed.sign) * 2 + i32::from(mixed.small) * 3 + i32::from(mixed.last) * 7;
    let sum = taps.fold(own, |sum, (tap, by): (&i32, i32)| sum.wrapping_add(tap.wrapping_mul(by)));
    let more = if mixed.inner.is_on && mixed.wide > 1.0 { -2 * 11 + 30 * 13 } else { 0 };
    sum.wrapping_add(more)
}

#[kernel(map)]
fn places(out: &mut i32, a: &i32, b: &i32, c: &i32, op: u32) {
    // Out of range where the operand is 0.
    let three = if *b == 0 { 3 } else { (*b as u32 % 3) as usize };
    let mut own = [*a, *b, *c];
    let mut rows = [[7; 3]; 2];
    let mut mixed = MIXED;
    *out = match op {
        0 => TAPS[if *b == 0 { 5 } else { (*b as u32 % 5) as usize }] + TAPS[4],
        1 => own[three],
        2 => {
            own[three] = 9;
            own[0] + own[1] + own[2]
        }
        3 => {
            own[three] *= 3;
            own[0] ^ own[1] ^ own[2]
        }
        4 => {
            for i in 0..2 {
                for j in 0..2 {
                    rows[i][j] = own[j] + (i * 3 + j) as i32;
                }
            }
            rows[1][three] + rows[0][2] + rows[1].len() as i32
        }
        5 => weighed(mixed),
        6 => {
            mixed.small = *a as u16;
            mixed.inner.more[1][0] = 30;
            mixed.inner.is_on = *b < *c;
            mixed.taps[2] = *c;
            weighed(mixed)
        }
        7 => {
            // The right side is evaluated before the index, and the index once.
            let mut next = 0;
            own[{
                next += 1;
                next
            }] = {
                next += 1;
                next * 10 - 10
            } as i32;
            own[2] + own[1] * 2
        }
        8 => {
            let kind = LIMITS[(*a as u32 % 4) as usize];
            if kind.is_nan() { 1 } else { (kind * 2.0).to_bits() as i32 }
        }
        _ => 0,
    };
}

/// The struct is an argument, and not a constant of the text.
#[kernel(map)]
fn by_value(out: &mut i32, a: &i32, b: &i32, c: &i32, op: u32, mixed: Mixed) {
    *out = match op {
        0 => *a + weighed(mixed),
        1 => *a * *b + mixed.taps[1] * *c,
        _ => 0,
    };
}

/// The second operand is a table. In launches of two columns each element of the table is there twice.
#[kernel(map)]
fn table(out: &mut i32, a: &i32, b: &[i32], c: &i32, op: u32, #[at] [row, x]: [usize; 2]) {
    // Both rows read the same element of two.
    let i = row + x * (op / 100 + 1) as usize;
    let y = b[i];
    *out = match op % 100 {
        0 => *a + y,
        // Out of range by one, by as much as an index can be, and by a cast of a negative number.
        1 => *a + b[if y == 0 { b.len() } else { i }],
        2 => *c + b[if y == 0 { usize::MAX } else { i }],
        3 => *c + b[if y == 0 { -1_i32 as usize } else { i }],
        _ => 0,
    };
}

/// The operators of a type in Rust's own words, where those of integers wrap.
trait Own: Copy {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
}

macro_rules! own {
    ($($ty:ident |$a:ident, $b:ident| $plus:expr, $minus:expr, $times:expr, $over:expr;)*) => {$(
        impl Own for $ty {
            fn plus(self, $b: Self) -> Self { let $a = self; $plus }
            fn minus(self, $b: Self) -> Self { let $a = self; $minus }
            fn times(self, $b: Self) -> Self { let $a = self; $times }
            fn over(self, $b: Self) -> Self { let $a = self; $over }
        }
    )*};
}

own! {
    i32 |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), if b == 0 { 0 } else { a.wrapping_div(b) };
    u8 |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.checked_div(b).unwrap_or(0);
    f32 |a, b| a + b, a - b, a * b, a / b;
    f64 |a, b| a + b, a - b, a * b, a / b;
}

macro_rules! number_of {
    ($($ty:ident)*) => {
        vec![$(Subject::of::<number<$ty, 3>, $ty, $ty>(&[
            operation(0, "between", Inputs::Two, |a: &$ty, b, _| a.plus(b.minus(*a).times(3 as $ty))),
            operation(1, "raised", Inputs::Two, |a, _, _| {
                (1 as $ty).times(*a).times(*a).times(*a).minus(1 as $ty)
            }),
            operation(2, "divided", Inputs::Divided, |a, b, _| a.over(*b)),
            operation(3, "to f32 and back", Inputs::One, |a, _, _| (*a as f32) as $ty),
            operation(4, "to i16 and back", Inputs::One, |a, _, _| (*a as i16) as $ty),
            operation(5, "two instances", Inputs::Two, |a, b, _| {
                let (a, b) = (*a as f64, *b as f64);
                (a + (b - a) * 3.0 + 86.0) as $ty
            }),
            operation(6, "a const parameter", Inputs::Three, |a, _, c| a.plus(3 as $ty).plus(*c)),
        ])),*]
    };
}

macro_rules! float_of {
    ($($ty:ident)*) => {
        vec![$(Subject::of::<floating<$ty>, $ty, $ty>(&[
            operation(0, "mul_add", Inputs::Three, |a: &$ty, b, c| a.mul_add(*b, *c)),
            operation(1, "sqrt", Inputs::One, |a, _, _| a.abs().sqrt()),
            operation(2, "min", Inputs::One, |a, _, _| {
                let low = 0.1_f64 as $ty;
                (if low < *a || a.is_nan() { low } else { *a }) * 2.5
            }),
            operation(3, "-", Inputs::One, |a, _, _| -*a),
        ])),*]
    };
}

macro_rules! integer_of {
    ($($ty:ident)*) => {
        vec![$(Subject::of::<integer<$ty>, $ty, $ty>(&[
            operation(0, "<<", Inputs::Three, |a: &$ty, b, c| a.wrapping_shl(*b as u32) & c),
            operation(1, "count_ones", Inputs::Two, |a, b, _| a.count_ones() as $ty ^ !b),
            operation(2, "|", Inputs::Two, |a, b, _| a | b),
        ])),*]
    };
}

fn operation<S, O>(
    number: u32,
    name: &'static str,
    inputs: Inputs,
    wanted: fn(&S, &S, &S) -> O,
) -> Operation<S, O> {
    Operation { number, name, inputs, wanted }
}

/// The place of an operand in an array of three.
fn of_three(b: i32) -> usize {
    (b as u32 % 3) as usize
}

fn of_places() -> Subject {
    Subject::of::<places, i32, i32>(&[
        operation(0, "a constant array", Inputs::Divided, |_, b, _| {
            let tap = if *b == 0 { 0 } else { TAPS[(*b as u32 % 5) as usize] };
            tap.wrapping_add(11)
        }),
        operation(1, "an element", Inputs::Divided, |a, b, c| {
            if *b == 0 { 0 } else { [*a, *b, *c][of_three(*b)] }
        }),
        operation(2, "an assignment", Inputs::Divided, |a, b, c| {
            let mut own = [*a, *b, *c];
            if *b != 0 {
                own[of_three(*b)] = 9;
            }
            own[0].wrapping_add(own[1]).wrapping_add(own[2])
        }),
        operation(3, "*=", Inputs::Divided, |a, b, c| {
            let mut own = [*a, *b, *c];
            if *b != 0 {
                own[of_three(*b)] = own[of_three(*b)].wrapping_mul(3);
            }
            own[0] ^ own[1] ^ own[2]
        }),
        operation(4, "an array of arrays", Inputs::Divided, |a, b, _| {
            let row = [a.wrapping_add(3), b.wrapping_add(4), 7];
            let element = if *b == 0 { 0 } else { row[of_three(*b)] };
            element.wrapping_add(7 + 3)
        }),
        operation(5, "a constant struct", Inputs::One, |_, _, _| weighed_in_rust(&MIXED)),
        operation(6, "fields", Inputs::Three, |a, b, c| {
            let mut mixed = MIXED;
            (mixed.small, mixed.inner.is_on, mixed.taps[2]) = (*a as u16, b < c, *c);
            weighed_in_rust(&mixed)
        }),
        operation(7, "the order of evaluation", Inputs::Two, |_, b, _| b.wrapping_mul(2)),
        operation(8, "floats without literals", Inputs::One, |a, _, _| {
            let kind = LIMITS[(*a as u32 % 4) as usize];
            if kind.is_nan() { 1 } else { (kind * 2.0).to_bits() as i32 }
        }),
    ])
}

fn of_by_value() -> Subject {
    let operations = [
        operation(0, "fields of an argument", Inputs::One, |a: &i32, _, _| {
            a.wrapping_add(weighed_in_rust(&MIXED))
        }),
        operation(1, "an array of an argument", Inputs::Three, |a, b, c| {
            a.wrapping_mul(*b).wrapping_add(MIXED.taps[1].wrapping_mul(*c))
        }),
    ];
    let subject = Subject::passed::<i32, i32>(
        <by_value as MapKernel>::LINEAR,
        &operations,
        |stream, out, operands, number| {
            let [x, y, z] = operands.map(|operand| operand.view().transpose());
            Ok(stream.map::<by_value>((out, x, y, z, number, MIXED))?)
        },
    );
    subject.with_struct(MIXED)
}

fn of_table() -> Subject {
    Subject::passed::<i32, i32>(
        <table as MapKernel>::LINEAR,
        &[
            operation(0, "a table", Inputs::Two, |a, b, _| a.wrapping_add(*b)),
            operation(1, "one beyond a table", Inputs::Divided, |a, b, _| a.wrapping_add(*b)),
            operation(2, "far beyond a table", Inputs::Divided, |_, b, c| c.wrapping_add(*b)),
            operation(3, "before a table", Inputs::Divided, |_, b, c| c.wrapping_add(*b)),
        ],
        |stream, out, [a, b, c], number| {
            let columns = out.shape()[0] as u32;
            let (x, z) = (a.view().transpose(), c.view().transpose());
            Ok(stream.map::<table>((out, x, b, z, number + 100 * (columns - 1)))?)
        },
    )
}

pub(super) fn all() -> Vec<Subject> {
    let mut all = number_of![i32 u8 f32 f64];
    all.extend(float_of![f32 f64]);
    all.extend(integer_of![i8 u64]);
    all.extend([of_places(), of_by_value(), of_table()]);
    all
}

/// Instances, each with another one whose text a compiler accepts in its place.
pub(super) fn exchanged() -> Vec<(Subject, &'static KernelInfo)> {
    let pairs = [
        (number_of![i32], <number<i32, 2> as MapKernel>::LINEAR),
        (number_of![f32], <number<f64, 3> as MapKernel>::LINEAR),
        (float_of![f64], <floating<f32> as MapKernel>::LINEAR),
    ];
    let each = |(subjects, text): (Vec<Subject>, _)| {
        subjects.into_iter().map(move |subject| (subject, text))
    };
    pairs.into_iter().flat_map(each).collect()
}

/// The same with a text that a compiler refuses, since the types of operands differ.
pub(super) fn refused() -> Vec<(Subject, &'static KernelInfo)> {
    let text = <number<u8, 3> as MapKernel>::LINEAR;
    number_of![i32].into_iter().map(|subject| (subject, text)).collect()
}
