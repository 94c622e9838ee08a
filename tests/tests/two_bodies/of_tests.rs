//! The kernels of the tests.

use std::ops::{Add, Mul};

use streamflow::f16;
use streamflow::prelude::*;
use streamflow::testing::{Draw, Drawn, Tolerance};
use streamflow_tests::kernels::mixing;
use streamflow_tests::kernels::{
    add_one, axpy, dot, fill, read_at, reverse, scalars, slow_copy, slow_fill, spin, transpose,
};
use streamflow_tests::stereo::{bytes_to_floats, difference, fill_bytes, negate};

use super::Bodies;

const UNWRITTEN: f32 = f32::NAN;

pub(crate) fn add(bodies: Bodies) -> Bodies {
    typed(mixed(stereo(slow(bodies))))
}

fn slow(bodies: Bodies) -> Bodies {
    bodies
        .same::<spin>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=2000);
            (n.into(), (draw.values(n, -1.0..=1.0), draw.value(0..=1000)))
        })
        .same::<slow_fill>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n], draw.value(-1.0..=1.0), draw.value(0..=1000)))
        })
        .same::<slow_copy>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let input = draw.values(n, f32::MIN..=f32::MAX);
            (n.into(), (vec![UNWRITTEN; n], input, draw.value(0..=1000)))
        })
        .same::<fill>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n], draw.value(f32::MIN..=f32::MAX)))
        })
        .same::<add_one>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (draw.values(n, -1000.0..=1000.0),))
        })
        // Up to 300 roundings, of a sum without cancellation.
        .same::<dot>(Tolerance::relative(1e-4), |draw| {
            let (n, len) = (draw.len(0..=300), draw.len(0..=3));
            let (a, b) = (draw.values(n, 0.0..=1.0), draw.values(n, 0.0..=1.0));
            (len.max(1).into(), (draw.values(len, 0.0..=1.0), a, b))
        })
        .same::<read_at>(Tolerance::EXACT, |draw| {
            let (len, n) = (draw.len(1..=300), draw.len(1..=300));
            let out = draw.values(len, -1.0..=1.0);
            let input = draw.values(n, -1.0..=1.0);
            (1.into(), (out, input, draw.value(0..=n as u64 - 1)))
        })
}

fn stereo(bodies: Bodies) -> Bodies {
    bodies
        .same::<bytes_to_floats>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n], draw.values(n, 0..=255)))
        })
        .same::<fill_bytes>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (draw.values(n, 0..=255), draw.value(0..=255)))
        })
        .same::<difference>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let (left, right) = (draw.values(n, -1.0..=1.0), draw.values(n, -1.0..=1.0));
            (n.into(), (vec![UNWRITTEN; n], left, right))
        })
        .same::<negate>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (draw.values(n, f32::MIN..=f32::MAX),))
        })
}

/// Words of any value.
fn words(draw: &mut Draw, len: usize) -> Vec<u32> {
    draw.values(len, 0..=u32::MAX)
}

fn mixed(bodies: Bodies) -> Bodies {
    const ANY: std::ops::RangeInclusive<u32> = 0..=u32::MAX;
    bodies
        .same::<mixing::make>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (words(draw, n), draw.value(ANY), 0))
        })
        .same::<mixing::map>(Tolerance::EXACT, |draw| {
            let (n, a) = (draw.len(0..=2000), draw.len(0..=300));
            (n.into(), (words(draw, n), words(draw, a), draw.value(ANY), 0))
        })
        .same::<mixing::join>(Tolerance::EXACT, |draw| {
            let (n, a, b) = (draw.len(0..=2000), draw.len(0..=300), draw.len(0..=300));
            (n.into(), (words(draw, n), words(draw, a), words(draw, b), draw.value(ANY), 0))
        })
        .same::<mixing::change>(Tolerance::EXACT, |draw| {
            let (n, a) = (draw.len(0..=2000), draw.len(0..=300));
            (n.into(), (words(draw, n), words(draw, a), draw.value(ANY), 0))
        })
        .same::<mixing::both>(Tolerance::EXACT, |draw| {
            let (a, b) = (draw.len(0..=2000), draw.len(0..=2000));
            (a.max(b).into(), (words(draw, a), words(draw, b), draw.value(ANY), 0))
        })
}

type AxpyValues<T> = (Vec<T>, T, Vec<T>, Vec<T>);

/// The input of `axpy`: numbers for which no integer overflows, which the Rust body would report.
fn axpy_input<T: Element + Drawn>(draw: &mut Draw, least: T, most: T) -> (Grid, AxpyValues<T>) {
    let n = draw.len(0..=5000);
    let (x, y) = (draw.values(n, least..=most), draw.values(n, least..=most));
    (n.into(), (vec![T::default(); n], draw.value(least..=most), x, y))
}

impl Bodies {
    fn same_axpy<T>(self, least: T, most: T) -> Self
    where
        T: Element + Drawn + Mul<Output = T> + Add<Output = T>,
    {
        // The product and the sum of positive numbers, fused.
        self.same::<axpy<T>>(Tolerance::ulps(2), move |draw| axpy_input(draw, least, most))
    }
}

fn typed(bodies: Bodies) -> Bodies {
    bodies
        .same_axpy(f16::from_f32(0.0), f16::from_f32(10.0))
        .same_axpy(0.0_f32, 10.0)
        .same_axpy(0.0_f64, 10.0)
        .same_axpy(-10_i8, 10)
        .same_axpy(-180_i16, 180)
        .same_axpy(-46_000_i32, 46_000)
        .same_axpy(-3_000_000_000_i64, 3_000_000_000)
        .same_axpy(0_u8, 15)
        .same_axpy(0_u16, 255)
        .same_axpy(0_u32, 65_000)
        .same_axpy(0_u64, 4_000_000_000)
        .same::<scalars>(Tolerance::EXACT, |draw| {
            let f_16 = draw.value(f16::MIN..=f16::MAX);
            let values = (
                vec![f64::NAN; 3],
                draw.value(i8::MIN..=i8::MAX),
                draw.value(f64::MIN..=f64::MAX),
                f_16,
                draw.value(0..=u64::MAX),
                vec![0; 4],
                draw.value(i16::MIN..=i16::MAX),
                draw.value(f32::MIN..=f32::MAX),
                draw.value(0..=u8::MAX),
                draw.value(0..=usize::MAX),
                draw.value(0..=u16::MAX),
                draw.value(i64::MIN..=i64::MAX),
                vec![0; 5],
                draw.value(i32::MIN..=i32::MAX),
                draw.value(0..=u32::MAX),
            );
            (1.into(), values)
        })
        .same::<transpose>(Tolerance::EXACT, |draw| {
            let (rows, cols) = (draw.len(0..=129), draw.len(0..=129));
            let input = draw.values(rows * cols, i32::MIN..=i32::MAX);
            ([cols, rows].into(), (vec![0; rows * cols], input, rows as u32, cols as u32))
        })
        .same::<reverse>(Tolerance::EXACT, |draw| {
            // Four bytes each, of the 48 KiB that every device has.
            let (n, threads) = (draw.len(0..=12_000), draw.len(1..=1024));
            let grid = Grid::blocks(1).threads(threads).shared_bytes(4 * n);
            (grid, (vec![0; n], words(draw, n)))
        })
}
