//! LU with partial pivoting, as LAPACK's `getrf` and `getrs`.

use crate::ffi::cusolver::element::sealed::Number;

/// Factors a square matrix in its memory: `P A = L U`. The ones on the diagonal of `L` are not stored. `pivots[k]`, counted from
/// 1, is the row that was swapped with row `k`.
///
/// Returns the first column, from 1, without a pivot. Returns 0 if each column has one.
pub(in super::super) fn factor<T: Number>(n: usize, a: &mut [T], pivots: &mut [i64]) -> i32 {
    let mut singular = 0;
    for k in 0..n {
        let pivot = largest(&a[k * n + k..(k + 1) * n]) + k;
        pivots[k] = pivot as i64 + 1;
        if a[k * n + pivot] == T::ZERO {
            // The other columns are still factored, as in LAPACK.
            if singular == 0 {
                singular = k as i32 + 1;
            }
            continue;
        }
        if pivot != k {
            (0..n).for_each(|column| a.swap(column * n + k, column * n + pivot));
        }
        eliminate(n, k, a);
    }
    singular
}

/// Returns the index of the first of the largest numbers. A NaN is not larger than a number, and no number is
/// larger than a NaN.
fn largest<T: Number>(column: &[T]) -> usize {
    let mut best = 0;
    for (row, value) in column.iter().enumerate() {
        if value.size() > column[best].size() {
            best = row;
        }
    }
    best
}

/// Does step `k` of the elimination: makes the elements below the pivot 0, by subtracting multiples of the pivot's row.
fn eliminate<T: Number>(n: usize, k: usize, a: &mut [T]) {
    let (left, right) = a.split_at_mut((k + 1) * n);
    let pivot = &mut left[k * n + k..];
    let inverse = pivot[0];
    let multipliers = &mut pivot[1..];
    multipliers.iter_mut().for_each(|value| *value = *value / inverse);
    for column in right.chunks_exact_mut(n) {
        let factor = column[k];
        for (value, &multiplier) in column[k + 1..].iter_mut().zip(&*multipliers) {
            *value = *value - multiplier * factor;
        }
    }
}

/// Solves `transpose(A) x = b` for one right-hand side, which the solution replaces.
pub(in super::super) fn solve_transposed<T: Number>(
    n: usize,
    lu: &[T],
    pivots: &[i64],
    b: &mut [T],
) {
    // A is transpose(P) L U, so transpose(A) is transpose(U) transpose(L) P.
    for row in 0..n {
        let column = &lu[row * n..row * n + n];
        let sum = dot(&column[..row], &b[..row]);
        b[row] = (b[row] - sum) / column[row];
    }
    for row in (0..n).rev() {
        let sum = dot(&lu[row * n + row + 1..(row + 1) * n], &b[row + 1..n]);
        b[row] = b[row] - sum;
    }
    for (row, &pivot) in pivots.iter().enumerate().rev() {
        b.swap(row, pivot as usize - 1);
    }
}

/// Returns the sum of the products of the elements. Complex elements are not conjugated.
fn dot<T: Number>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + a * b)
}
