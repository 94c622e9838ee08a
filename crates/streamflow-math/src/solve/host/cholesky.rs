//! Cholesky's factorisation, as LAPACK's `potrf` and `potrs` for the upper triangle.

use crate::ffi::cusolver::element::Real;

/// Factors a symmetric matrix in its memory: `A = transpose(U) U`. The elements below the diagonal are neither read nor written.
///
/// Returns the order, from 1, of the first leading minor that is not positive. Returns 0 if the matrix is positive definite.
pub(in super::super) fn factor<T: Real>(n: usize, a: &mut [T]) -> i32 {
    for column in 0..n {
        let (left, right) = a.split_at_mut(column * n);
        let current = &mut right[..n];
        for row in 0..column {
            let above = &left[row * n..row * n + row];
            let sum = dot(above, &current[..row]);
            current[row] = (current[row] - sum) / left[row * n + row];
        }
        let rest = current[column] - dot(&current[..column], &current[..column]);
        // A NaN counts as not positive.
        if rest <= T::ZERO || rest.is_nan() {
            current[column] = rest;
            return column as i32 + 1;
        }
        current[column] = rest.sqrt();
    }
    0
}

/// Solves `A x = b` for one right-hand side, which the solution replaces.
pub(in super::super) fn solve<T: Real>(n: usize, u: &[T], b: &mut [T]) {
    for row in 0..n {
        let column = &u[row * n..row * n + n];
        let sum = dot(&column[..row], &b[..row]);
        b[row] = (b[row] - sum) / column[row];
    }
    for row in (0..n).rev() {
        b[row] = b[row] / u[row * n + row];
        let value = b[row];
        for above in 0..row {
            b[above] = b[above] - u[row * n + above] * value;
        }
    }
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + a * b)
}
