//! Checks that a decomposition gives its matrix again. Errors are relative to the matrix's largest element.

use super::{furthest, product, to_f64, transposed};
use crate::ffi::cusolver::element::Real;
use crate::solve::host::eigen::eigen;
use crate::solve::host::qr::qr;
use crate::solve::host::svd::svd;

/// The largest number of a type, and the distance between its numbers near 1.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) most: f64,
    pub(super) precision: f64,
}

pub(super) const DOUBLE: Type = Type { most: f64::MAX, precision: f64::EPSILON };
pub(super) const SINGLE: Type = Type { most: f32::MAX as f64, precision: f32::EPSILON as f64 };

pub(super) fn svd_is_right<T: Real>((m, n): (usize, usize), matrix: &[T], ty: Type) {
    let a = to_f64(matrix);
    let largest = largest(&a);
    let tolerance = 8.0 * ty.precision * (m * n) as f64;
    let k = m.min(n);
    let (mut u, mut s, mut vt) = (vec![T::ZERO; m * k], vec![T::ZERO; k], vec![T::ZERO; k * n]);
    assert_eq!(svd((m, n), matrix, &mut u, &mut s, &mut vt), 0, "{a:?}");
    let (u, s, vt) = (to_f64(&u), to_f64(&s), to_f64(&vt));
    assert!(is_orthonormal((m, k), &u, tolerance), "U of {a:?}");
    assert!(is_orthonormal((n, k), &transposed((k, n), &vt), tolerance), "V of {a:?}");
    assert!(s.windows(2).all(|two| two[0] >= two[1]) && s.iter().all(|&s| s >= 0.0), "{s:?}");
    if s[0].is_finite() {
        let s = smaller(&s, largest);
        let scaled: Vec<f64> = (0..m * k).map(|at| u[at] * s[at / m]).collect();
        is_rebuilt(&product((m, k, n), &scaled, &vt), &smaller(&a, largest), tolerance, "SVD");
    } else {
        assert!(largest * ((m * n) as f64).sqrt() >= ty.most, "{s:?} of {a:?}");
    }
}

/// Checks the QR decomposition of a matrix with `m >= n`.
pub(super) fn qr_is_right<T: Real>((m, n): (usize, usize), matrix: &[T], ty: Type) {
    let a = to_f64(matrix);
    let largest = largest(&a);
    let tolerance = 8.0 * ty.precision * (m * n) as f64;
    let (mut q, mut r) = (vec![T::ZERO; m * n], vec![T::ZERO; n * n]);
    qr((m, n), matrix, &mut q, &mut r);
    let (q, r) = (to_f64(&q), to_f64(&r));
    assert!(is_orthonormal((m, n), &q, tolerance), "Q of {a:?}");
    assert!((0..n * n).all(|at| at % n <= at / n || r[at] == 0.0), "R of {a:?}");
    if r.iter().all(|r| r.is_finite()) {
        let found = product((m, n, n), &q, &smaller(&r, largest));
        is_rebuilt(&found, &smaller(&a, largest), tolerance, "QR");
    } else {
        assert!(largest * (m as f64).sqrt() >= ty.most, "{r:?} of {a:?}");
    }
}

/// Checks the eigenvalues of a symmetric matrix, and that the elements below the diagonal are not read.
pub(super) fn eigen_is_right<T: Real>(n: usize, matrix: &[T], ty: Type) {
    let a = to_f64(matrix);
    let largest = largest(&a);
    let mut upper = matrix.to_vec();
    (0..n).for_each(|i| upper[i * n + i + 1..(i + 1) * n].fill(T::narrow(f64::NAN)));
    let (mut values, mut vectors) = (vec![T::ZERO; n], vec![T::ZERO; n * n]);
    assert_eq!(eigen(n, &upper, &mut values, &mut vectors), 0, "{a:?}");
    let (values, vectors) = (to_f64(&values), to_f64(&vectors));
    assert!(values.windows(2).all(|two| two[0] <= two[1]), "{values:?}");
    let tolerance = 50.0 * ty.precision * n as f64;
    assert!(is_orthonormal((n, n), &vectors, tolerance), "eigenvectors of {a:?}");
    if values.iter().all(|value| value.is_finite()) {
        let values = smaller(&values, largest);
        let scaled: Vec<f64> = (0..n * n).map(|at| vectors[at] * values[at / n]).collect();
        let found = product((n, n, n), &smaller(&a, largest), &vectors);
        is_rebuilt(&found, &scaled, tolerance * n as f64, "eigenvectors");
    }
}

fn is_orthonormal((rows, columns): (usize, usize), q: &[f64], tolerance: f64) -> bool {
    let gram = product((columns, rows, columns), &transposed((rows, columns), q), q);
    let identity: Vec<f64> =
        (0..columns * columns).map(|at| f64::from(at % columns == at / columns)).collect();
    furthest(&gram, &identity) <= tolerance
}

/// Divides values by a power of 2 near `most`, so that products of them don't overflow.
fn smaller(values: &[f64], most: f64) -> Vec<f64> {
    let exponent = most.log2().floor() as i32;
    let half = exponent / 2;
    values.iter().map(|x| x * 2_f64.powi(-half) * 2_f64.powi(half - exponent)).collect()
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()))
}

fn is_rebuilt(product: &[f64], a: &[f64], tolerance: f64, what: &str) {
    let off = furthest(product, a);
    assert!(off <= tolerance, "{what}: {off:e}, of {a:?}");
}
