//! Compares the two bodies of the kernels of `streamflow_math::solve`.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::{Draw, Tolerance};
use streamflow_math::solve::kernels::{copy_lower, leading_columns, take, transpose, upper};

use super::Bodies;

/// Draws the arguments of the kernel that takes matrices: the target, the marks, the matrices with some NaNs,
/// their rows and columns, and the triangle that counts.
fn taken<T: Copy>(draw: &mut Draw, number: impl Fn(f32) -> T) -> (Grid, Taken<T>) {
    let (rows, columns, count) = (draw.len(1..=40), draw.len(1..=40), draw.len(0..=5));
    let len = count * rows * columns;
    let mut a = draw.values::<f32>(len, -1.0..=1.0);
    for _ in 0..draw.len(0..=3) {
        let at = draw.len(0..=len.max(1) - 1);
        a.get_mut(at).into_iter().for_each(|value| *value = f32::NAN);
    }
    let a: Vec<T> = a.into_iter().map(&number).collect();
    let (out, marks) = (vec![number(0.0); len], vec![0; count]);
    (Grid::from(len.max(1)), (out, marks, a, rows, columns, draw.value(0..=1)))
}

type Taken<T> = (Vec<T>, Vec<i32>, Vec<T>, usize, usize, u8);

/// Draws the arguments of the kernel that transposes: the target, the matrix and its rows, and the grid for its
/// length.
fn turned<T: Copy>(draw: &mut Draw, number: impl Fn(f32) -> T) -> (Grid, (Vec<T>, Vec<T>, usize)) {
    let (rows, columns) = (draw.len(1..=70), draw.len(0..=70));
    let a = draw.values::<f32>(rows * columns, -1.0..=1.0).into_iter().map(&number).collect();
    (Grid::from((rows * columns).max(1)), (vec![number(0.0); rows * columns], a, rows))
}

type Triangle<T> = (Vec<T>, Vec<T>, usize, usize, T);

/// Draws a column-major matrix. The kernel takes its upper triangle.
fn triangle<T: Copy>(draw: &mut Draw, number: impl Fn(f32) -> T) -> (Grid, Triangle<T>) {
    let n = draw.len(0..=40);
    let rows = n + draw.len(0..=20);
    let a = draw.values::<f32>(n * rows, -1.0..=1.0).into_iter().map(&number).collect();
    (Grid::from((n * n).max(1)), (vec![number(1.0); n * n], a, n, rows, number(0.0)))
}

/// Draws matrices. The kernel copies their lower triangles.
fn lower<T: Copy>(draw: &mut Draw, number: impl Fn(f32) -> T) -> (Grid, (Vec<T>, Vec<T>, usize)) {
    let (n, count) = (draw.len(1..=40), draw.len(0..=5));
    let len = count * n * n;
    let a = draw.values::<f32>(len, -1.0..=1.0).into_iter().map(&number).collect();
    (Grid::from(len.max(1)), (vec![number(2.0); len], a, n))
}

type Leading<T> = (Vec<T>, Vec<T>, usize, usize);

/// Draws square column-major matrices. The kernel takes their first columns.
fn leading<T: Copy>(draw: &mut Draw, number: impl Fn(f32) -> T) -> (Grid, Leading<T>) {
    let (n, count) = (draw.len(1..=40), draw.len(0..=5));
    let (k, len) = (draw.len(1..=n), count * n * n);
    let a = draw.values::<f32>(len, -1.0..=1.0).into_iter().map(&number).collect();
    (Grid::from(len.max(1)), (vec![number(0.0); count * n * k], a, n, k))
}

pub(crate) fn add(bodies: Bodies) -> Bodies {
    let complex = |value: f32| Complex::new(value, 1.0);
    let wide = |value: f32| Complex::new(1.0, f64::from(value));
    bodies
        .same::<copy_lower<f32>>(Tolerance::EXACT, |draw| lower(draw, |value| value))
        .same::<copy_lower<f64>>(Tolerance::EXACT, |draw| lower(draw, f64::from))
        .same::<leading_columns<f32>>(Tolerance::EXACT, |draw| leading(draw, |value| value))
        .same::<leading_columns<f64>>(Tolerance::EXACT, |draw| leading(draw, f64::from))
        .same::<take<Complex<f32>>>(Tolerance::EXACT, move |draw| taken(draw, complex))
        .same::<take<Complex<f64>>>(Tolerance::EXACT, move |draw| taken(draw, wide))
        .same::<take<f32>>(Tolerance::EXACT, |draw| taken(draw, |value| value))
        .same::<take<f64>>(Tolerance::EXACT, |draw| taken(draw, f64::from))
        .same::<transpose<f32>>(Tolerance::EXACT, |draw| turned(draw, |value| value))
        .same::<transpose<f64>>(Tolerance::EXACT, |draw| turned(draw, f64::from))
        .same::<upper<f32>>(Tolerance::EXACT, |draw| triangle(draw, |value| value))
        .same::<upper<f64>>(Tolerance::EXACT, |draw| triangle(draw, f64::from))
}
