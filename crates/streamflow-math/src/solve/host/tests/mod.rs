//! Tests the host bodies: the factors must give the matrix again in `f64`, and the statuses must be those of LAPACK.

mod decompositions;
mod extremes;
mod rebuilt;
mod systems;

use crate::ffi::cusolver::element::Real;
use streamflow_driver::splitmix::SplitMix;

/// Returns pseudorandom numbers from -1 to 1, the same in each run of the test.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix::new(seed);
    (0..count).map(|_| (random.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).collect()
}

/// Returns the product of `a`, which is `m` by `k`, and `b`, which is `k` by `n`. All matrices are in columns.
fn product((m, k, n): (usize, usize, usize), a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; m * n];
    for column in 0..n {
        for inner in 0..k {
            for row in 0..m {
                product[column * m + row] += a[inner * m + row] * b[column * k + inner];
            }
        }
    }
    product
}

fn transposed((m, n): (usize, usize), a: &[f64]) -> Vec<f64> {
    (0..m * n).map(|at| a[at % n * m + at / n]).collect()
}

fn to_f64<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.wide()).collect()
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    // The comparison is not `max`, since `max` drops a NaN.
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, off| if off > most || off.is_nan() { off } else { most })
}

/// Returns a symmetric positive definite matrix.
fn definite(n: usize, seed: u64) -> Vec<f64> {
    let a = numbers(n * n, seed);
    let mut product = product((n, n, n), &transposed((n, n), &a), &a);
    (0..n).for_each(|i| product[i * n + i] += 1.0);
    product
}
