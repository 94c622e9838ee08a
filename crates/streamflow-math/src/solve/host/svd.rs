//! Computes singular values by one-sided rotations (M. R. Hestenes, 1958; as LAPACK's `gesvj`): pairs of columns are rotated
//! until all columns are orthogonal. The method converges for every matrix of finite numbers.

use super::scaled::{Scaled, TINY, dot};
use crate::ffi::cusolver::element::Real;

/// The largest number of rotations of each pair of columns, as in cuSOLVER's `gesvdj`. Ten are already many.
const SWEEPS: usize = 100;

/// Computes the economy SVD of a matrix, in columns: `A = U diag(s) VT`. With `k` the smaller of the two lengths, `u` gets `rows`
/// by `k` elements and `vt` `k` by `columns`, in columns, and `s` gets the singular values, the largest first. A value that is
/// larger than any number of `T` becomes infinite.
///
/// Returns 0, or 1 if the iteration does not converge, as for a matrix with a NaN or an infinity.
pub(in super::super) fn svd<T: Real>(
    (rows, columns): (usize, usize),
    a: &[T],
    u: &mut [T],
    s: &mut [T],
    vt: &mut [T],
) -> i32 {
    let Some(mut a) = Scaled::new(a) else { return 1 };
    let is_wide = rows < columns;
    // A wide matrix is transposed, so that the matrix below has at least as many rows as columns.
    let (m, n) = (rows.max(columns), rows.min(columns));
    if is_wide {
        a.numbers = (0..m * n).map(|at| a.numbers[at % m * n + at / m]).collect();
    }
    let mut right = vec![0.0; n * n];
    (0..n).for_each(|i| right[i * n + i] = 1.0);
    if !orthogonalize((m, n), &mut a.numbers, &mut right) {
        return 1;
    }
    let lengths: Vec<f64> =
        a.numbers.chunks_exact(m).map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    let left = directions((m, n), &a.numbers, &lengths, &order);
    for (place, &from) in order.iter().enumerate() {
        s[place] = a.back(lengths[from]);
        let (left, right) = (&left[place * m..][..m], &right[from * n..][..n]);
        let (left, right) = if is_wide { (right, left) } else { (left, right) };
        u[place * rows..][..rows].iter_mut().zip(left).for_each(|(u, &left)| *u = T::narrow(left));
        for (column, &right) in right.iter().enumerate() {
            vt[column * n + place] = T::narrow(right);
        }
    }
    0
}

/// Rotates pairs of columns of `a` until all columns are orthogonal, and rotates the same columns of `right`. Returns whether all
/// are orthogonal.
fn orthogonalize((m, n): (usize, usize), a: &mut [f64], right: &mut [f64]) -> bool {
    let tolerance = f64::EPSILON * (m as f64).sqrt().max(4.0);
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                let (one, other) = pair(a, m, p, q);
                let (alpha, beta, gamma) = (dot(one, one), dot(other, other), dot(one, other));
                let lengths = (alpha.sqrt(), beta.sqrt());
                let is_small = lengths.0 < TINY || lengths.1 < TINY;
                if is_small || gamma.abs() <= tolerance * lengths.0 * lengths.1 {
                    continue;
                }
                is_done = false;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                rotate(one, other, cosine, cosine * tangent);
                let (one, other) = pair(right, n, p, q);
                rotate(one, other, cosine, cosine * tangent);
            }
        }
        if is_done {
            return true;
        }
    }
    false
}

/// Returns columns `p` and `q` of a matrix whose columns have `m` elements, for `p < q`.
fn pair(a: &mut [f64], m: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (left, right) = a.split_at_mut(q * m);
    (&mut left[p * m..][..m], &mut right[..m])
}

fn rotate(one: &mut [f64], other: &mut [f64], cosine: f64, sine: f64) {
    for (p, q) in one.iter_mut().zip(other) {
        (*p, *q) = (cosine * *p - sine * *q, sine * *p + cosine * *q);
    }
}

/// Returns the columns in the order `order`, divided by their lengths. A column without a length is replaced by one that is
/// orthogonal to all others.
fn directions((m, n): (usize, usize), a: &[f64], lengths: &[f64], order: &[usize]) -> Vec<f64> {
    let mut found = Vec::with_capacity(m * n);
    // For each axis, the square of the part of the axis that is orthogonal to the columns found so far.
    let mut left_over = vec![1.0; m];
    for &from in order {
        let length = lengths[from];
        let mut next: Vec<f64> = if length >= TINY {
            a[from * m..][..m].iter().map(|x| x / length).collect()
        } else {
            axis_beside(m, &found, &left_over)
        };
        left_over.iter_mut().zip(&next).for_each(|(left, x)| *left -= x * x);
        found.append(&mut next);
    }
    found
}

/// Returns a vector of length 1 that is orthogonal to all these columns. Each has `m` elements, and there are fewer than `m`
/// columns.
fn axis_beside(m: usize, columns: &[f64], left_over: &[f64]) -> Vec<f64> {
    let mut axis = vec![0.0; m];
    let furthest = (0..m).max_by(|&a, &b| left_over[a].total_cmp(&left_over[b]));
    axis[furthest.unwrap_or(0)] = 1.0;
    // The second iteration removes the rounding error that the first one leaves.
    for _ in 0..2 {
        for column in columns.chunks_exact(m) {
            let part = dot(column, &axis);
            axis.iter_mut().zip(column).for_each(|(x, c)| *x -= part * c);
        }
        let length = dot(&axis, &axis).sqrt();
        axis.iter_mut().for_each(|x| *x /= length);
    }
    axis
}
