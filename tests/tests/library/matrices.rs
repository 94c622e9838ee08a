//! Row-major matrices for tests, and checks in `f64` of the equations that they must fulfil.

use streamflow::prelude::*;
use streamflow_math::solve::Factor;
use streamflow_tests::check;
use streamflow_tests::random::Random;

/// A real or complex number type of a test.
pub(crate) trait Number: Factor + Into<f64> {
    const EPSILON: f64;
    fn of(value: f64) -> Self;
}

impl Number for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Number for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn of(value: f64) -> Self {
        value
    }
}

pub(crate) fn numbers<T: Number>(count: usize, seed: u64) -> Vec<T> {
    Random::new(seed).floats(count).into_iter().map(|value| T::of(f64::from(value))).collect()
}

pub(crate) fn to_f64<T: Number>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

/// Returns the product of an `[m, k]` and a `[k, n]` matrix, row-major.
pub(crate) fn product((m, k, n): (usize, usize, usize), a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; m * n];
    for row in 0..m {
        for inner in 0..k {
            let factor = a[row * k + inner];
            let b = &b[inner * n..(inner + 1) * n];
            product[row * n..(row + 1) * n]
                .iter_mut()
                .zip(b)
                .for_each(|(sum, b)| *sum += factor * b);
        }
    }
    product
}

pub(crate) fn transposed((m, n): (usize, usize), a: &[f64]) -> Vec<f64> {
    (0..m * n).map(|at| a[at % m * n + at / m]).collect()
}

/// Returns a symmetric positive definite matrix, row-major: `T transpose(T) + n`.
pub(crate) fn definite<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let a = to_f64(&numbers::<T>(n * n, seed));
    let mut definite = product((n, n, n), &a, &transposed((n, n), &a));
    (0..n).for_each(|i| definite[i * n + i] += n as f64);
    definite.into_iter().map(T::of).collect()
}

/// Returns a random matrix whose condition number is small enough for `f32`.
pub(crate) fn regular<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let mut a = numbers::<T>(n * n, seed);
    (0..n).for_each(|i| a[i * n + i] = T::of(a[i * n + i].into() + (n as f64).sqrt() * 2.0));
    a
}

/// Fails unless two lists differ by at most `tolerance`.
pub(crate) fn near(what: &str, found: &[f64], wanted: &[f64], tolerance: f64) -> Result<()> {
    let same = found.len() == wanted.len();
    let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs());
    let worst = off.fold(0.0, |most: f64, off| if off > most || off.is_nan() { off } else { most });
    check(same && worst <= tolerance, || {
        format!(
            "{what}: {} and {} values, off by {worst:e} > {tolerance:e}",
            found.len(),
            wanted.len()
        )
    })
}

/// Checks that `A x = b` for right-hand sides in rows.
pub(crate) fn solves<T: Number>(n: usize, a: &[T], b: &[T], x: &[T]) -> Result<()> {
    for (b, x) in b.chunks_exact(n.max(1)).zip(x.chunks_exact(n.max(1))) {
        let found = product((n, n, 1), &to_f64(a), &to_f64(x));
        near(&format!("A x of {n}"), &found, &to_f64(b), 40.0 * (n + 1) as f64 * T::EPSILON)?;
    }
    Ok(())
}

pub(crate) fn upload<T: Element>(
    cx: &ExecutionContext,
    values: &[T],
    shape: &[usize],
) -> Result<Tensor<T>> {
    Ok(cx.upload(values)?.reshape(shape)?)
}
