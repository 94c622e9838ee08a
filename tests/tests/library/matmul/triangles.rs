//! Functions of cuBLAS on triangular matrices, compared with double precision.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_math::matmul::{Blas, BlasElement, Triangle};
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::layers::Hollow;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::hook::{once, tensor, ticks};
use crate::library::in_tick::is_operand;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("triangles_are_those_of_double_precision", |platform| {
            functions::<f32>(platform, 2e-4)?;
            functions::<f64>(platform, 1e-12)
        })
        .both("triangles_refuse_other_shapes", refused)
        .host("triangles_refuse_2_to_the_31_rows", long)
        .both("triangles_come_after_the_write_of_their_matrices", late)
}

trait Number: BlasElement + From<f32> + Into<f64> {}

impl Number for f32 {}
impl Number for f64 {}

const BOTH: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];

fn is_in(triangle: Triangle, row: usize, column: usize) -> bool {
    match triangle {
        Triangle::Lower => column <= row,
        Triangle::Upper => column >= row,
    }
}

/// The value of the elements outside of the triangle, which are neither read nor written.
const OTHER: f32 = -77.0;

fn functions<T: Number>(platform: &Platform, tolerance: f64) -> Result<(), Failed> {
    once(platform, move |cx, work, _| {
        let mut blas = Blas::<T>::on(cx, work)?;
        let mut random = Random::new(3);
        for (n, m) in [(0, 3), (3, 0), (1, 1), (2, 5), (7, 1), (33, 20), (64, 3)] {
            for triangle in BOTH {
                solve(&mut blas, (cx, work), (n, m), triangle, &mut random, tolerance)?;
                update(&mut blas, (cx, work), (n, m), triangle, &mut random, tolerance)?;
            }
        }
        Ok(())
    })
}

type On<'a> = (&'a ExecutionContext, &'a Stream<'a>);

/// Checks that `a x` is `alpha b`, where only the triangle of `a` counts.
fn solve<T: Number>(
    blas: &mut streamflow_math::Plan<Blas<T>>,
    (cx, work): On<'_>,
    (n, m): (usize, usize),
    triangle: Triangle,
    random: &mut Random,
    tolerance: f64,
) -> Result<(), Failed> {
    let mut a = vec![T::from(OTHER); n * n];
    for row in 0..n {
        for column in (0..n).filter(|&column| is_in(triangle, row, column)) {
            let number = random.signed() / n as f32;
            a[row * n + column] = T::from(if row == column { 2.0 + number } else { number });
        }
    }
    let b: Vec<T> = (0..n * m).map(|_| T::from(random.signed())).collect();
    let (matrix, mut x) = (tensor(cx, work, &[n, n], &a)?, tensor(cx, work, &[n, m], &b)?);
    blas.trsm(work, (T::from(1.5), &matrix, triangle), &mut x)?;
    let x = work.download_blocking(&x)?;
    for row in 0..n {
        for column in 0..m {
            let all = (0..n).filter(|&other| is_in(triangle, row, other));
            let found: f64 = all.map(|it| a[row * n + it].into() * x[it * m + column].into()).sum();
            let wanted = 1.5 * b[row * m + column].into();
            check((found - wanted).abs() <= tolerance, || {
                format!("{triangle:?} of {n}, row {row}: {found}, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn update<T: Number>(
    blas: &mut streamflow_math::Plan<Blas<T>>,
    (cx, work): On<'_>,
    (n, k): (usize, usize),
    triangle: Triangle,
    random: &mut Random,
    tolerance: f64,
) -> Result<(), Failed> {
    if k == 0 {
        return Ok(());
    }
    let a: Vec<T> = (0..n * k).map(|_| T::from(random.signed())).collect();
    let matrix = tensor(cx, work, &[n, k], &a)?;
    let product = |row: usize, column: usize| -> f64 {
        (0..k).map(|it| a[row * k + it].into() * a[column * k + it].into()).sum()
    };
    // If `beta` is 0, the earlier content is not read, so it may be NaN.
    for (beta, before) in [(0.0, f32::NAN), (2.0, 3.0)] {
        let mut c = vec![T::from(OTHER); n * n];
        for row in 0..n {
            let columns = (0..n).filter(|&column| is_in(triangle, row, column));
            columns.for_each(|column| c[row * n + column] = T::from(before));
        }
        let mut c = tensor(cx, work, &[n, n], &c)?;
        blas.syrk(work, (T::from(0.5), &matrix), (T::from(beta), &mut c, triangle))?;
        for (index, found) in work.download_blocking(&c)?.into_iter().enumerate() {
            let (row, column) = (index / n, index % n);
            let kept = if beta == 0.0 { 0.0 } else { f64::from(beta * before) };
            let wanted = match is_in(triangle, row, column) {
                true => 0.5 * product(row, column) + kept,
                false => f64::from(OTHER),
            };
            let found: f64 = found.into();
            check((found - wanted).abs() <= tolerance, || {
                format!("{triangle:?} of {n}, {row}, {column}: {found}, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, other| {
        let mut blas = Blas::<f32>::on(cx, work)?;
        let of = |shape: &[usize]| tensor(cx, work, shape, &vec![1.0; shape.iter().product()]);
        let (square, wide, line) = (of(&[2, 2])?, of(&[2, 3])?, of(&[4])?);
        let (mut two, mut three) = (of(&[2, 2])?, of(&[3, 3])?);
        let is_text = |what, done, wanted: &str| {
            check_equal(check_error(what, done, is_operand)?.as_str(), wanted)
        };
        let done = blas.trsm(work, (1.0, &wide, Triangle::Lower), &mut two);
        let wanted = "`Blas::trsm`: `a` has 3 columns, but `a` has 2 rows; they must be equal";
        is_text("no square", done, wanted)?;
        let done = blas.trsm(work, (1.0, &square, Triangle::Lower), &mut three);
        let wanted = "`Blas::trsm`: `b` has 3 rows, but `a` has 2 rows; they must be equal";
        is_text("other rows", done, wanted)?;
        let done = blas.trsm(work, (1.0, &line, Triangle::Lower), &mut two);
        let wanted = "`Blas::trsm`: `a` has shape [4], but a matrix has two dimensions";
        is_text("no matrix", done, wanted)?;
        let done = blas.syrk(work, (1.0, &wide), (0.0, &mut three, Triangle::Upper));
        let wanted = "`Blas::syrk`: `c` has 3 rows, but `a` has 2 rows; they must be equal";
        is_text("another matrix", done, wanted)?;
        let none = of(&[3, 0])?;
        let done = blas.syrk(work, (1.0, &none), (0.0, &mut three, Triangle::Upper));
        let wanted = "`Blas::syrk`: `a` has no columns; fill `c` instead";
        is_text("no columns", done, wanted)?;
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        let done = blas.trsm(other, (1.0, &square, Triangle::Lower), &mut two);
        check_error("another stream", done, is_other)?;
        // The refused calls have not changed `two`.
        two.assume_written();
        check_equal(work.download_blocking(&two)?, vec![1.0; 4])
    })
}

/// Checks a cuBLAS handle that an operator keeps over several ticks.
fn late(platform: &Platform) -> Result<(), Failed> {
    const N: usize = 8;
    let mut kept = None;
    ticks(platform, 4, move |cx, work, other| {
        let blas = match &mut kept {
            Some(blas) => blas,
            none => none.insert(Blas::<f32>::on(cx, work)?),
        };
        let tick = cx.tick() as f32;
        let mut a = cx.tensor([N, N], other)?;
        let mut c = tensor(cx, other, &[N, N], &[1.0; N * N])?;
        other.launch::<slow_fill>(N * N, (&mut a, tick, 20_000_000))?;
        blas.syrk(work, (1.0, &a), (1.0, &mut c, Triangle::Lower))?;
        // The solution for a lower triangle of ones: each row of `c` minus the row before.
        let ones = tensor(cx, work, &[N, N], &[1.0; N * N])?;
        blas.trsm(work, (1.0, &ones, Triangle::Lower), &mut c)?;
        let first = work.download_blocking(&c)?[0];
        check_equal(first, N as f32 * tick * tick + 1.0)
    })
}

fn long(on: &Platform) -> Result<(), Failed> {
    const LONG: usize = 1 << 31;
    let driver = Arc::new(Hollow::new(on.driver().clone()));
    let platform = Platform::builder().race_check(false).driver(driver)?;
    let done = once(&platform, move |cx, work, _| {
        let mut blas = Blas::<f32>::on(cx, work)?;
        let (a, mut c) = (cx.tensor([LONG, 1], work)?, cx.tensor([1, 1], work)?);
        Ok(blas.syrk(work, (1.0, &a), (0.0, &mut c, Triangle::Lower))?)
    });
    let wanted =
        "has 2147483648 rows or columns, but cuBLAS takes at most 2147483647; divide the matrix";
    let text = check_error("a long matrix", done, |_| true)?;
    check_text(&text, &["operator `Hook` failed in `compute`", "`Blas::syrk`: `a`", wanted])
}
