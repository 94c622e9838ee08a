//! Compares the two bodies of the tests' kernels.

use std::ops::{Add, Mul};

use streamflow::f16;
use streamflow::memory::{Bool8, Complex, bf16};
use streamflow::prelude::*;
use streamflow::testing::{Draw, Drawn, Tolerance};
use streamflow_tests::floor::{absorb, begin, take};
use streamflow_tests::kernels::mixing;
use streamflow_tests::kernels::{
    RESULTS, add_one, add_views, axpy, complex_math, dot, fill, more_scalars, number_in_rows,
    number_view, read_at, reverse, scalars, scale_view, select, slow_copy, slow_fill, spin,
    to_bf16, transpose, warned,
};
use streamflow_tests::stereo::{bytes_to_floats, difference, fill_bytes, negate};

use super::Bodies;

const UNWRITTEN: f32 = f32::NAN;

pub(crate) fn add(bodies: Bodies) -> Bodies {
    views(structs(typed(mixed(stereo(slow(bodies))))))
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
        .same::<warned>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n],))
        })
        .same::<add_one>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (draw.values(n, -1000.0..=1000.0),))
        })
        // A sum without cancellation has up to 300 roundings.
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

/// Draws words of any value.
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
        .same::<begin>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (words(draw, n), draw.value(ANY), 0))
        })
        .same::<take>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (words(draw, n), words(draw, n), draw.value(ANY)))
        })
        .same::<absorb>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (words(draw, n), words(draw, n), draw.value(ANY)))
        })
        .same::<mixing::numbers>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n], words(draw, n), 0))
        })
        .same::<mixing::from_numbers>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let (numbers, count) = (draw.values(n, 0.0..=1e6), draw.value(1.0..=40.0));
            (n.into(), (vec![0; n], numbers, count, draw.value(ANY), 0))
        })
        .same::<mixing::both>(Tolerance::EXACT, |draw| {
            let (a, b) = (draw.len(0..=2000), draw.len(0..=2000));
            (a.max(b).into(), (words(draw, a), words(draw, b), draw.value(ANY), 0))
        })
}

type AxpyValues<T> = (Vec<T>, T, Vec<T>, Vec<T>);

/// Draws the input of `axpy`: numbers without overflow of integers, since the Rust body would report an overflow.
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
        // The CUDA body fuses the product and the sum. Both are of positive numbers.
        self.same::<axpy<T>>(Tolerance::ulps(2), move |draw| axpy_input(draw, least, most))
    }
}

fn typed(bodies: Bodies) -> Bodies {
    bodies
        .same_axpy(f16::from_f32(0.0), f16::from_f32(10.0))
        .same_axpy(bf16::from_f32(0.0), bf16::from_f32(10.0))
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
        .same::<number_in_rows>(Tolerance::EXACT, |draw| {
            let (rows, cols) = (draw.len(0..=129), draw.len(1..=129));
            let grid = if rows % 2 == 0 { Grid::from(cols) } else { [cols, rows].into() };
            (grid, (vec![-1; rows * cols], cols as u32))
        })
        .same::<reverse>(Tolerance::EXACT, |draw| {
            // Each element takes four of the 48 KiB of shared memory that every device has.
            let (n, threads) = (draw.len(0..=12_000), draw.len(1..=1024));
            let grid = Grid::blocks(1).threads(threads).shared_bytes(4 * n);
            (grid, (vec![0; n], words(draw, n)))
        })
}

/// Draws complex numbers whose sums cancel nothing: both parts are positive, and the first number is the larger
/// one.
fn plane(draw: &mut Draw, n: usize) -> (Vec<Complex<f64>>, Vec<Complex<f64>>) {
    let (one, two) = (Complex::new(1.0, 1.0), Complex::new(2.0, 2.0));
    (draw.values(n, two..=two + one), draw.values(n, one..=two - one / 10.0))
}

fn single(values: &[Complex<f64>]) -> Vec<Complex<f32>> {
    values.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect()
}

/// Compares the kernels with types that are structs in CUDA.
fn structs(bodies: Bodies) -> Bodies {
    bodies
        .same::<complex_math<Complex<f32>>>(Tolerance::absolute(2e-5), |draw| {
            let n = draw.len(0..=2000);
            let (a, b) = plane(draw, n);
            let out = vec![Complex::new(f32::NAN, 0.0); RESULTS * n];
            (n.max(1).into(), (out, single(&a), single(&b), draw.value(1.0..=2.0)))
        })
        .same::<complex_math<Complex<f64>>>(Tolerance::absolute(1e-13), |draw| {
            let n = draw.len(0..=2000);
            let (a, b) = plane(draw, n);
            let out = vec![Complex::new(f64::NAN, 0.0); RESULTS * n];
            (n.max(1).into(), (out, a, b, draw.value(1.0..=2.0)))
        })
        .same::<axpy<Complex<f32>>>(Tolerance::absolute(1e-5), |draw| {
            let n = draw.len(0..=5000);
            let (x, y) = plane(draw, n);
            let a = Complex::new(draw.value(1.0..=2.0), draw.value(1.0..=2.0));
            (n.into(), (vec![Complex::default(); n], a, single(&x), single(&y)))
        })
        .same::<axpy<Complex<f64>>>(Tolerance::absolute(1e-13), |draw| {
            let n = draw.len(0..=5000);
            let (x, y) = plane(draw, n);
            let a = Complex::new(draw.value(1.0..=2.0), draw.value(1.0..=2.0));
            (n.into(), (vec![Complex::default(); n], a, x, y))
        })
        .same::<to_bf16>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let (out, others) = (vec![bf16::NAN; n], vec![bf16::NAN; n]);
            // The bits are of every kind, including subnormal numbers, infinities and NaNs.
            let x = draw.values(n, 0..=u32::MAX).into_iter().map(f32::from_bits).collect();
            let y = draw.values(n, 0..=u64::MAX).into_iter().map(f64::from_bits).collect();
            (n.into(), (out, others, x, y))
        })
        .same::<select>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let any = Bool8::from(false)..=Bool8::from(true);
            let mask = draw.values(n, any.clone());
            let bounds = bf16::MIN..=bf16::MAX;
            let (a, b) = (draw.value(bounds.clone()), draw.value(bounds));
            let differs = vec![Bool8::default(); n];
            (n.into(), (vec![bf16::NAN; n], differs, mask, a, b, draw.value(any)))
        })
        .same::<more_scalars>(Tolerance::EXACT, |draw| {
            let single = Complex::new(f32::MIN, f32::MIN)..=Complex::new(f32::MAX, f32::MAX);
            let double = Complex::new(f64::MIN, f64::MIN)..=Complex::new(f64::MAX, f64::MAX);
            let values = (
                draw.value(0..=u8::MAX),
                draw.value(single),
                draw.value(Bool8::from(false)..=Bool8::from(true)),
                draw.value(double),
                draw.value(bf16::MIN..=bf16::MAX),
                vec![f64::NAN; 8],
                draw.value(f16::MIN..=f16::MAX),
            );
            (1.into(), values)
        })
}

/// Compares the kernels with views, of tensors with padded rows.
fn views(bodies: Bodies) -> Bodies {
    bodies
        .same::<scale_view<f32>>(Tolerance::EXACT, |draw| {
            let (rows, cols) = (draw.len(0..=129), draw.len(0..=129));
            let (n, shape) = (rows * cols, vec![rows, cols]);
            let out = (vec![UNWRITTEN; n], shape.clone());
            let a = (draw.values(n, -10.0..=10.0), shape);
            ([cols, rows].into(), (out, a, draw.value(-10.0..=10.0)))
        })
        .same::<scale_view<bf16>>(Tolerance::EXACT, |draw| {
            let (rows, cols) = (draw.len(0..=129), draw.len(0..=300));
            let (n, shape) = (rows * cols, vec![rows, cols]);
            let bounds = bf16::from_f32(-10.0)..=bf16::from_f32(10.0);
            let out = (vec![bf16::NAN; n], shape.clone());
            let a = (draw.values(n, bounds.clone()), shape);
            ([cols, rows].into(), (out, a, draw.value(bounds)))
        })
        .same::<scale_view<Complex<f64>>>(Tolerance::absolute(1e-13), |draw| {
            let (rows, cols) = (draw.len(0..=65), draw.len(0..=65));
            let (n, shape) = (rows * cols, vec![rows, cols]);
            let (a, b) = plane(draw, n + 1);
            let out = (vec![Complex::new(f64::NAN, 0.0); n], shape.clone());
            ([cols, rows].into(), (out, (a[..n].to_vec(), shape), b[n]))
        })
        .same::<add_views>(Tolerance::ulps(1), |draw| {
            let shape = vec![draw.len(0..=9), draw.len(0..=9), draw.len(0..=33)];
            let n = shape.iter().product();
            let (out, line) = (vec![UNWRITTEN; n], vec![UNWRITTEN; n]);
            let (a, b) = (draw.values(n, 0.0..=10.0), draw.values(n, 0.0..=10.0));
            (n.into(), ((out, shape.clone()), (line, vec![n]), (a, shape), b))
        })
        .same::<number_view>(Tolerance::EXACT, |draw| {
            let (rows, cols, grid) = (draw.len(0..=99), draw.len(0..=99), draw.len(1..=3000));
            let out = (words(draw, rows * cols), vec![rows, cols]);
            (grid.into(), (out, draw.value(0..=u32::MAX / 2)))
        })
}
