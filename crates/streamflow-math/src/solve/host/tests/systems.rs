//! Tests LU and Cholesky: the factors must give the matrix again in `f64`, and statuses and pivots must be those of LAPACK.

use streamflow::memory::Complex;

use super::{definite, furthest, numbers, product, to_f64, transposed};
use crate::ffi::cusolver::element::Real;
use crate::solve::host::{cholesky, lu};

const SIZES: [usize; 7] = [0, 1, 2, 3, 7, 17, 128];

#[test]
fn lu_rebuilds_the_matrix() {
    for n in SIZES {
        let a = numbers(n * n, n as u64 + 1);
        let (mut lu, mut pivots) = (a.clone(), vec![0; n]);
        assert_eq!(lu::factor(n, &mut lu, &mut pivots), 0);
        let (mut l, mut u) = (vec![0.0; n * n], vec![0.0; n * n]);
        for (at, &value) in lu.iter().enumerate() {
            let (row, column) = (at % n, at / n);
            if row > column {
                l[at] = value
            } else {
                u[at] = value
            }
            if row == column {
                l[at] = 1.0;
            }
            assert!(row <= column || value.abs() <= 1.0, "a pivot was not the largest");
        }
        let mut permuted = a;
        for (row, &pivot) in pivots.iter().enumerate() {
            (0..n).for_each(|column| {
                permuted.swap(column * n + row, column * n + pivot as usize - 1)
            });
        }
        let off = furthest(&product((n, n, n), &l, &u), &permuted);
        assert!(off <= 4.0 * n as f64 * f64::EPSILON, "{n}: {off:e}");
    }
}

#[test]
fn lu_solves_the_transposed_system_in_each_type() {
    for n in SIZES {
        let (a, x) = (numbers(n * n, 5), numbers(n, 6));
        // `b` is transpose(A) x, computed as the product of `a`, whose columns are read as rows, with `x`.
        let b = product((n, n, 1), &transposed((n, n), &a), &x);
        let (mut lu, mut pivots, mut found) = (a.clone(), vec![0; n], b.clone());
        lu::factor(n, &mut lu, &mut pivots);
        lu::solve_transposed(n, &lu, &pivots, &mut found);
        assert!(furthest(&found, &x) < 1e-9 * (n + 1) as f64, "{n}");

        let turn = Complex::new(0.6, -0.8);
        let mut complex: Vec<_> = a.iter().map(|&value| turn * value).collect();
        let mut found: Vec<_> = b.iter().map(|&value| turn * value).collect();
        assert_eq!(lu::factor(n, &mut complex, &mut pivots), 0);
        lu::solve_transposed(n, &complex, &pivots, &mut found);
        let (re, im): (Vec<_>, Vec<_>) = found.iter().map(|value| (value.re, value.im)).unzip();
        assert!(furthest(&re, &x) < 1e-9 * (n + 1) as f64, "{n}");
        assert!(furthest(&im, &vec![0.0; n]) < 1e-9 * (n + 1) as f64, "{n}");

        let mut single: Vec<f32> = a.iter().map(|&value| value as f32).collect();
        let mut found: Vec<f32> = b.iter().map(|&value| value as f32).collect();
        assert_eq!(lu::factor(n, &mut single, &mut pivots), 0);
        lu::solve_transposed(n, &single, &pivots, &mut found);
        assert!(furthest(&to_f64(&found), &x) < 1e-2 * (n + 1) as f64, "{n}");
    }
}

/// LAPACK takes the first of the largest elements as the pivot, and compares complex numbers by `|re| + |im|`.
#[test]
fn the_pivots_are_those_of_lapack() {
    let mut pivots = [0; 3];
    let mut a = [1.0, -4.0, 4.0, 2.0, 1.0, 7.0, 3.0, 0.0, 1.0];
    assert_eq!(lu::factor(3, &mut a, &mut pivots), 0);
    assert_eq!(pivots, [2, 3, 3]);
    let (long, straight) = (Complex::new(3.0, 3.0), Complex::new(5.0, 0.0));
    let mut a = [straight, long, straight, straight];
    assert_eq!(lu::factor(2, &mut a, &mut pivots[..2]), 0);
    assert_eq!(pivots[..2], [2, 2]);
}

#[test]
fn lu_names_the_first_column_without_a_pivot() {
    let mut pivots = [0; 3];
    // The second column is twice the first, and the third is zero.
    let mut a = [1.0_f32, 2.0, 4.0, 2.0, 4.0, 8.0, 0.0, 0.0, 0.0];
    assert_eq!(lu::factor(3, &mut a, &mut pivots), 2);
    assert_eq!(lu::factor(3, &mut [0.0_f64; 9], &mut pivots), 1);
    // A NaN does not count as zero, as in LAPACK, so the result has the NaN.
    let mut a = [f64::NAN, 1.0, 1.0, 1.0];
    assert_eq!(lu::factor(2, &mut a, &mut pivots[..2]), 0);
    assert!(a[3].is_nan());
}

fn cholesky_in<T: Real>(tolerance: f64) {
    for n in SIZES {
        let a = definite(n, 9);
        let mut u: Vec<T> = a.iter().map(|&value| T::narrow(value)).collect();
        // These elements below the diagonal must not be read.
        (0..n).for_each(|i| (i + 1..n).for_each(|row| u[i * n + row] = T::narrow(1e30)));
        let below: Vec<T> = u.clone();
        assert_eq!(cholesky::factor(n, &mut u), 0);
        let x = numbers(n, 3);
        let mut found: Vec<T> =
            product((n, n, 1), &a, &x).iter().map(|&value| T::narrow(value)).collect();
        cholesky::solve(n, &u, &mut found);
        let scale = (n * n + 1) as f64;
        assert!(furthest(&to_f64(&found), &x) <= tolerance * scale * scale, "{n}");
        for (at, value) in u.iter_mut().enumerate() {
            if at % n > at / n {
                assert!(*value == below[at], "an element below the diagonal was written");
                *value = T::ZERO;
            }
        }
        let u = to_f64(&u);
        let off = furthest(&product((n, n, n), &transposed((n, n), &u), &u), &a);
        assert!(off <= tolerance * scale, "{n}: {off:e}");
    }
}

#[test]
fn cholesky_rebuilds_the_matrix_and_solves() {
    cholesky_in::<f32>(f64::from(f32::EPSILON));
    cholesky_in::<f64>(f64::EPSILON);
}

#[test]
fn cholesky_names_the_first_minor_that_is_not_positive() {
    assert_eq!(cholesky::factor(2, &mut [1.0, 0.0, 2.0, 4.0]), 2);
    assert_eq!(cholesky::factor(2, &mut [1.0, 0.0, 3.0, 4.0]), 2);
    assert_eq!(cholesky::factor(1, &mut [-1.0_f32]), 1);
    assert_eq!(cholesky::factor(1, &mut [f32::NAN]), 1);
    assert_eq!(cholesky::factor(2, &mut [1.0, 0.0, f64::NAN, 4.0]), 2);
}
