//! The bodies against reconstruction in f64, LAPACK's statuses and known pivots.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use num_complex::Complex;

use super::eigen::eigen;
use super::qr::qr;
use super::svd::svd;
use super::{cholesky, lu};
use crate::library::solve::element::Real;

const SIZES: [usize; 7] = [0, 1, 2, 3, 7, 17, 128];

/// Numbers in -1..1, the same in each run.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

/// The product of `a`, `m` by `k`, and `b`, `k` by `n`, all in columns.
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
    // Not `max`, which drops a NaN.
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, off| if off > most || off.is_nan() { off } else { most })
}

/// Symmetric and positive definite.
fn definite(n: usize, seed: u64) -> Vec<f64> {
    let a = numbers(n * n, seed);
    let mut product = product((n, n, n), &transposed((n, n), &a), &a);
    (0..n).for_each(|i| product[i * n + i] += 1.0);
    product
}

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
        // transpose(A) x = b: `a` in rows times x.
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

/// LAPACK takes the first of the largest, and compares complex numbers by `|re| + |im|`.
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
    // As in LAPACK, a NaN is no zero: it passes on to the result.
    let mut a = [f64::NAN, 1.0, 1.0, 1.0];
    assert_eq!(lu::factor(2, &mut a, &mut pivots[..2]), 0);
    assert!(a[3].is_nan());
}

fn cholesky_in<T: Real>(tolerance: f64) {
    for n in SIZES {
        let a = definite(n, 9);
        let mut u: Vec<T> = a.iter().map(|&value| T::narrow(value)).collect();
        // Elements below the diagonal are not read.
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

fn is_orthonormal((rows, columns): (usize, usize), q: &[f64], tolerance: f64) -> bool {
    let gram = product((columns, rows, columns), &transposed((rows, columns), q), q);
    let identity: Vec<f64> =
        (0..columns * columns).map(|at| f64::from(at % columns == at / columns)).collect();
    furthest(&gram, &identity) <= tolerance
}

#[test]
fn the_decompositions_rebuild_the_matrix() {
    for (m, n) in [(1, 1), (3, 2), (7, 7), (17, 5), (64, 40)] {
        let a = numbers(m * n, 4);
        let tolerance = 1e-13 * m as f64;
        let (mut q, mut r) = (vec![0.0; m * n], vec![0.0; n * n]);
        qr((m, n), &a, &mut q, &mut r);
        assert!(furthest(&product((m, n, n), &q, &r), &a) <= tolerance, "QR of {m} by {n}");
        assert!(is_orthonormal((m, n), &q, tolerance), "Q of {m} by {n}");
        assert!((0..n * n).all(|at| at % n <= at / n || r[at] == 0.0), "R of {m} by {n}");

        for (m, n, a) in [(m, n, a.clone()), (n, m, transposed((m, n), &a))] {
            let k = m.min(n);
            let (mut u, mut s, mut vt) = (vec![0.0; m * k], vec![0.0; k], vec![0.0; k * n]);
            assert_eq!(svd((m, n), &a, &mut u, &mut s, &mut vt), 0);
            assert!(s.windows(2).all(|two| two[0] >= two[1]) && s.iter().all(|&s| s >= 0.0));
            let scaled: Vec<f64> = (0..m * k).map(|at| u[at] * s[at / m]).collect();
            assert!(furthest(&product((m, k, n), &scaled, &vt), &a) <= tolerance, "{m} by {n}");
            assert!(is_orthonormal((m, k), &u, tolerance), "U of {m} by {n}");
            assert!(is_orthonormal((n, k), &transposed((k, n), &vt), tolerance), "V of {m} by {n}");
        }
    }
}

#[test]
fn eigenvalues_are_sorted_and_have_their_vectors() {
    for n in [1, 2, 7, 33] {
        let a = definite(n, 8);
        let mut upper = a.clone();
        (0..n).for_each(|i| (i + 1..n).for_each(|row| upper[i * n + row] = 77.0));
        let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
        assert_eq!(eigen(n, &upper, &mut values, &mut vectors), 0);
        assert!(values.windows(2).all(|two| two[0] <= two[1]));
        assert!(is_orthonormal((n, n), &vectors, 1e-13 * n as f64));
        let scaled: Vec<f64> = (0..n * n).map(|at| vectors[at] * values[at / n]).collect();
        let off = furthest(&product((n, n, n), &a, &vectors), &scaled);
        assert!(off <= 1e-12 * (n * n) as f64, "{n}: {off:e}");
    }
}

#[test]
fn a_nan_is_no_endless_loop() {
    let a = [1.0, f64::NAN, 2.0, 3.0];
    let (mut u, mut s, mut vt) = ([0.0; 4], [0.0; 2], [0.0; 4]);
    assert_eq!(svd((2, 2), &a, &mut u, &mut s, &mut vt), 1);
    assert_eq!(eigen(2, &[1.0, 0.0, f64::NAN, 3.0], &mut s, &mut vt), 1);
}

/// Numbers of all sizes, zeros of both signs among them.
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

/// Divided by a power of 2, so that products don't overflow.
fn smaller(values: &[f64], most: f64) -> Vec<f64> {
    let exponent = most.log2().floor() as i32;
    let half = exponent / 2;
    values.iter().map(|x| x * 2_f64.powi(-half) * 2_f64.powi(half - exponent)).collect()
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()))
}

/// Compares what was found in `T`, beside the largest element of `a`. What is larger than any number of `T` is infinite.
fn is_rebuilt(product: &[f64], a: &[f64], tolerance: f64, what: &str) {
    let off = furthest(product, a);
    assert!(off <= tolerance, "{what}: {off:e}, of {a:?}");
}

fn extremes_in<T: Real>(most: f64, precision: f64) {
    for seed in 0..3000 {
        let (m, n) = (1 + seed as usize % 9, 1 + seed as usize / 9 % 9);
        let mut single: Vec<T> = extreme(m * n, seed, most).iter().map(|&x| T::narrow(x)).collect();
        if seed % 5 == 0 {
            // Dependent columns.
            single.copy_within(..m, m * (n - 1));
        }
        let a = to_f64(&single);
        let largest = largest(&a);
        let (small, tolerance) = (smaller(&a, largest), 8.0 * precision * (m * n) as f64);

        let k = m.min(n);
        let (mut u, mut s, mut vt) = (vec![T::ZERO; m * k], vec![T::ZERO; k], vec![T::ZERO; k * n]);
        assert_eq!(svd((m, n), &single, &mut u, &mut s, &mut vt), 0, "{a:?}");
        let (u, s, vt) = (to_f64(&u), to_f64(&s), to_f64(&vt));
        assert!(is_orthonormal((m, k), &u, tolerance), "U of {a:?}");
        assert!(is_orthonormal((n, k), &transposed((k, n), &vt), tolerance), "V of {a:?}");
        assert!(s.windows(2).all(|two| two[0] >= two[1]) && s.iter().all(|&s| s >= 0.0), "{s:?}");
        if s[0].is_finite() {
            let s = smaller(&s, largest);
            let scaled: Vec<f64> = (0..m * k).map(|at| u[at] * s[at / m]).collect();
            is_rebuilt(&product((m, k, n), &scaled, &vt), &small, tolerance, "SVD");
        } else {
            assert!(largest * ((m * n) as f64).sqrt() >= most, "{s:?} of {a:?}");
        }

        if m >= n {
            let (mut q, mut r) = (vec![T::ZERO; m * n], vec![T::ZERO; n * n]);
            qr((m, n), &single, &mut q, &mut r);
            let (q, r) = (to_f64(&q), to_f64(&r));
            assert!(is_orthonormal((m, n), &q, tolerance), "Q of {a:?}");
            if r.iter().all(|r| r.is_finite()) {
                is_rebuilt(&product((m, n, n), &q, &smaller(&r, largest)), &small, tolerance, "QR");
            } else {
                assert!(largest * (m as f64).sqrt() >= most, "{r:?} of {a:?}");
            }
        }

        let symmetric: Vec<T> =
            (0..m * m).map(|at| single[(at % m).max(at / m) % (m * n)]).collect();
        let a = to_f64(&symmetric);
        let largest = self::largest(&a);
        let (mut values, mut vectors) = (vec![T::ZERO; m], vec![T::ZERO; m * m]);
        assert_eq!(eigen(m, &symmetric, &mut values, &mut vectors), 0, "{a:?}");
        let (values, vectors) = (to_f64(&values), to_f64(&vectors));
        assert!(values.windows(2).all(|two| two[0] <= two[1]), "{values:?}");
        assert!(
            is_orthonormal((m, m), &vectors, tolerance.max(precision * 50.0 * m as f64)),
            "of {a:?}"
        );
        if values.iter().all(|value| value.is_finite()) {
            let (small, values) = (smaller(&a, largest), smaller(&values, largest));
            let scaled: Vec<f64> = (0..m * m).map(|at| vectors[at] * values[at / m]).collect();
            let found = product((m, m, m), &small, &vectors);
            is_rebuilt(&found, &scaled, 50.0 * precision * (m * m) as f64, "eigenvectors");
        }
    }
}

#[test]
fn every_matrix_of_numbers_has_its_decompositions() {
    extremes_in::<f64>(f64::MAX, f64::EPSILON);
    extremes_in::<f32>(f32::MAX.into(), f32::EPSILON.into());
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
