//! Tests decompositions of matrices whose elements have very different sizes.

use super::numbers;
use super::rebuilt::{DOUBLE, SINGLE, Type, eigen_is_right, qr_is_right, svd_is_right};
use crate::ffi::cusolver::element::Real;

/// Returns numbers of all sizes up to `most`, with zeros of both signs among them.
fn extreme(count: usize, seed: u64, most: f64) -> Vec<f64> {
    let sizes =
        [most, 1e154, 1e38, 1e19, 1.0, 1.0, 1e-19, 1e-38, 1e-154, f64::MIN_POSITIVE, 5e-324, 0.0];
    let choices = numbers(2 * count, seed);
    let pick = |choice: &[f64]| {
        let size = sizes[(choice[0].abs() * sizes.len() as f64) as usize % sizes.len()].min(most);
        size * if choice[1].abs() < 0.5 { choice[1].signum() } else { choice[1] }
    };
    choices.chunks_exact(2).map(pick).collect()
}

fn extremes_in<T: Real>(ty: Type) {
    for seed in 0..3000 {
        let (m, n) = (1 + seed as usize % 9, 1 + seed as usize / 9 % 9);
        let mut a: Vec<T> = extreme(m * n, seed, ty.most).iter().map(|&x| T::narrow(x)).collect();
        if seed % 5 == 0 {
            // This makes the last column equal to the first.
            a.copy_within(..m, m * (n - 1));
        }
        svd_is_right((m, n), &a, ty);
        if m >= n {
            qr_is_right((m, n), &a, ty);
        }
        let symmetric: Vec<T> = (0..m * m).map(|at| a[(at % m).max(at / m) % (m * n)]).collect();
        eigen_is_right(m, &symmetric, ty);
    }
}

#[test]
fn every_matrix_of_numbers_has_its_decompositions() {
    extremes_in::<f64>(DOUBLE);
    extremes_in::<f32>(SINGLE);
}
