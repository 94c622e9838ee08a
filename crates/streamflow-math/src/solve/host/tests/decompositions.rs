//! Tests QR, SVD and eigenvalues of usual matrices, of hard matrices, and of matrices that have no decomposition.

use super::rebuilt::{DOUBLE, SINGLE, eigen_is_right, qr_is_right, svd_is_right};
use super::{definite, numbers, transposed};
use crate::solve::host::eigen::eigen;
use crate::solve::host::qr::qr;
use crate::solve::host::svd::svd;

#[test]
fn the_decompositions_rebuild_the_matrix() {
    for (m, n) in [(1, 1), (3, 2), (7, 7), (17, 5), (64, 40)] {
        let a = numbers(m * n, 4);
        qr_is_right((m, n), &a, DOUBLE);
        svd_is_right((m, n), &a, DOUBLE);
        svd_is_right((n, m), &transposed((m, n), &a), DOUBLE);
    }
    for n in [1, 2, 7, 33] {
        eigen_is_right(n, &definite(n, 8), DOUBLE);
    }
}

/// These matrices are hard for the iterations: they have zeros among their singular values, and numbers that cancel out.
#[test]
fn matrices_of_dependent_and_of_graded_columns_have_their_decompositions() {
    for seed in 0..1000 {
        let (m, n) = (1 + seed as usize % 9, 1 + seed as usize / 9 % 9);
        let mut a = numbers(m * n, seed);
        match seed % 4 {
            0 => a.fill(1.0),
            // The elements are small whole numbers, so that some columns depend on others by chance.
            1 => a.iter_mut().for_each(|x| *x = (*x * 2.5).round()),
            2 => a.copy_within(..m, m * (n - 1)),
            _ => a.iter_mut().zip(numbers(m * n, seed + 1000)).for_each(|(x, y)| {
                *x *= 10_f64.powf(20.0 * y);
            }),
        }
        let single: Vec<f32> = a.iter().map(|&x| x as f32).collect();
        svd_is_right((m, n), &a, DOUBLE);
        svd_is_right((m, n), &single, SINGLE);
        if m >= n {
            qr_is_right((m, n), &a, DOUBLE);
            qr_is_right((m, n), &single, SINGLE);
        }
        let symmetric: Vec<f64> = (0..m * m).map(|at| a[(at % m).max(at / m) % (m * n)]).collect();
        let single: Vec<f32> = symmetric.iter().map(|&x| x as f32).collect();
        eigen_is_right(m, &symmetric, DOUBLE);
        eigen_is_right(m, &single, SINGLE);
    }
}

/// The part of the third column that is orthogonal to the first two columns is so small that its squares vanish.
#[test]
fn a_column_that_almost_depends_on_others_has_its_direction() {
    let a = [1.0, 1e-80, 0.0, 0.0, 0.0, 1.0, 1e-81, 1e-81, 1.0, 0.0, 0.0, 0.0];
    qr_is_right((4, 3), &a, DOUBLE);
    svd_is_right((4, 3), &a, DOUBLE);
}

#[test]
fn a_nan_is_no_endless_loop() {
    let a = [1.0, f64::NAN, 2.0, 3.0];
    let (mut u, mut s, mut vt) = ([0.0; 4], [0.0; 2], [0.0; 4]);
    assert_eq!(svd((2, 2), &a, &mut u, &mut s, &mut vt), 1);
    assert_eq!(eigen(2, &[1.0, 0.0, f64::NAN, 3.0], &mut s, &mut vt), 1);
}

#[test]
fn each_number_that_is_none_is_no_convergence() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for place in 0..6 {
            let mut a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            a[place] = wrong;
            let (mut u, mut s, mut vt) = ([0.0; 6], [0.0; 2], [0.0; 4]);
            assert_eq!(svd((3, 2), &a, &mut u, &mut s, &mut vt), 1);
            assert_eq!(svd((2, 3), &a, &mut vt, &mut s, &mut u), 1);
            qr((3, 2), &a, &mut u, &mut vt);
            assert!(u.iter().all(|q| q.is_nan()) && vt.iter().all(|r| r.is_nan()));
        }
    }
}
