//! QR, singular values and eigenvalues, by nalgebra.

use nalgebra::linalg::{QR, SVD, SymmetricEigen};
use nalgebra::{DMatrix, DMatrixView};

use crate::library::solve::element::Real;

/// How many steps an iteration may take for each row, as in LAPACK: a matrix with a NaN needs endlessly many.
const STEPS: usize = 30;

/// The economy QR of a matrix with `rows >= columns`, in columns: `A = Q R`. `q` gets `rows` by `columns`, and `r`
/// `columns` by `columns` with zeros below the diagonal, both in columns.
pub(in super::super) fn qr<T: Real>(
    (rows, columns): (usize, usize),
    a: &[T],
    q: &mut [T],
    r: &mut [T],
) {
    let qr = QR::new(matrix(a, rows, columns));
    q.copy_from_slice(qr.q().as_slice());
    r.copy_from_slice(qr.r().as_slice());
}

/// The economy SVD of a matrix, in columns: `A = U diag(s) VT`. With `k` the smaller of the two lengths, `u` gets
/// `rows` by `k` and `vt` `k` by `columns`, in columns, and `s` the values, the largest first.
///
/// Returns 0; 1 if the iteration does not converge.
pub(in super::super) fn svd<T: Real>(
    (rows, columns): (usize, usize),
    a: &[T],
    u: &mut [T],
    s: &mut [T],
    vt: &mut [T],
) -> i32 {
    let steps = STEPS * rows.min(columns);
    if a.iter().any(|value| !value.is_finite()) {
        return 1;
    }
    let svd = SVD::try_new(matrix(a, rows, columns), true, true, T::default_epsilon(), steps);
    let Some((svd, left, right)) = svd.and_then(|mut svd| {
        let (left, right) = (svd.u.take()?, svd.v_t.take()?);
        Some((svd, left, right))
    }) else {
        return 1;
    };
    u.copy_from_slice(left.as_slice());
    s.copy_from_slice(svd.singular_values.as_slice());
    vt.copy_from_slice(right.as_slice());
    0
}

/// The eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors, one in each column of `vectors`. Only
/// the upper triangle is read.
///
/// Returns 0; 1 if the iteration does not converge.
pub(in super::super) fn eigen<T: Real>(
    n: usize,
    a: &[T],
    values: &mut [T],
    vectors: &mut [T],
) -> i32 {
    let mut whole = matrix(a, n, n);
    whole.fill_lower_triangle_with_upper_triangle();
    if whole.iter().any(|value| !value.is_finite()) {
        return 1;
    }
    let Some(eigen) = SymmetricEigen::try_new(whole, T::default_epsilon(), STEPS * n) else {
        return 1;
    };
    let mut order: Vec<usize> = (0..n).collect();
    let found = eigen.eigenvalues.as_slice();
    order.sort_by(|&a, &b| found[a].partial_cmp(&found[b]).unwrap_or(std::cmp::Ordering::Equal));
    for (place, &index) in order.iter().enumerate() {
        values[place] = found[index];
        vectors[place * n..(place + 1) * n]
            .copy_from_slice(eigen.eigenvectors.column(index).as_slice());
    }
    0
}

fn matrix<T: Real>(a: &[T], rows: usize, columns: usize) -> DMatrix<T> {
    DMatrixView::from_slice(a, rows, columns).into_owned()
}
