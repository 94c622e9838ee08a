//! Computes the eigenvalues of symmetric matrices. Reflections make the matrix tridiagonal, and rotations then make it diagonal,
//! as EISPACK's `tred2` and `tql2` do (Bowdler, Martin, Reinsch and Wilkinson, 1968).

use super::scaled::{Scaled, TINY, dot};
use crate::ffi::cusolver::element::Real;

/// The largest number of steps for one eigenvalue, as in LAPACK. Most eigenvalues take two.
const STEPS: usize = 30;

/// Computes the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors, one in each column of `vectors`.
/// Only the upper triangle is read. A value that is larger than any number of `T` becomes infinite.
///
/// Returns 0, or 1 if the iteration does not converge, as for a matrix with a NaN or an infinity.
pub(in super::super) fn eigen<T: Real>(
    n: usize,
    a: &[T],
    values: &mut [T],
    vectors: &mut [T],
) -> i32 {
    let whole: Vec<T> = (0..n * n)
        .map(|at| {
            let (row, column) = (at % n, at / n);
            a[row.max(column) * n + row.min(column)]
        })
        .collect();
    let Some(mut scaled) = Scaled::new(&whole) else { return 1 };
    let mut found = Tridiagonal::of(n, &mut scaled.numbers);
    if !found.diagonalize(&mut scaled.numbers) {
        return 1;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| found.diagonal[a].total_cmp(&found.diagonal[b]));
    for (place, &from) in order.iter().enumerate() {
        values[place] = scaled.back(found.diagonal[from]);
        let vector = &scaled.numbers[from * n..][..n];
        vectors[place * n..][..n].iter_mut().zip(vector).for_each(|(to, &x)| *to = T::narrow(x));
    }
    0
}

/// A symmetric matrix with elements only on the diagonal and next to it.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// The element left of each diagonal element. The first one is 0.
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// Makes a symmetric matrix `a`, in columns, tridiagonal, and returns the result. Afterwards `a` has the transformation.
    fn of(n: usize, a: &mut [f64]) -> Self {
        let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n]);
        let mut factors = vec![0.0; n];
        for i in (1..n).rev() {
            // The reflection maps the part of row `i` left of the diagonal to a multiple of its last axis. The vector of the
            // reflection is stored above the diagonal, in column `i`.
            let mut v: Vec<f64> = (0..i).map(|k| a[k * n + i]).collect();
            let most = v.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if most > 0.0 {
                v.iter_mut().for_each(|x| *x /= most);
                let length = dot(&v, &v).sqrt().copysign(v[i - 1]);
                v[i - 1] += length;
                beside[i] = -most * length;
                factors[i] = 1.0 / (length * v[i - 1]);
                reflect_both_sides(n, i, a, &v, factors[i]);
            }
            a[i * n..][..i].copy_from_slice(&v);
        }
        (0..n).for_each(|i| diagonal[i] = a[i * n + i]);
        accumulate(n, a, &factors);
        Self { diagonal, beside }
    }

    /// Rotates rows and columns until all elements next to the diagonal are 0, and rotates the columns of `vectors` in the same
    /// planes. Returns whether the iteration has converged.
    fn diagonalize(&mut self, vectors: &mut [f64]) -> bool {
        let n = self.diagonal.len();
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        if n == 0 {
            return true;
        }
        e.rotate_left(1);
        let (mut shift, mut size) = (0.0, TINY);
        for l in 0..n {
            size = f64::max(size, d[l].abs() + e[l].abs());
            let mut steps = 0;
            // The last element of `e` is 0.
            while let Some(m) =
                (l..n).find(|&m| e[m].abs() <= f64::EPSILON * size).filter(|&m| m > l)
            {
                if steps == STEPS {
                    return false;
                }
                steps += 1;
                shift += move_origin(l, d, e);
                step((l, m), d, e, vectors);
            }
            d[l] += shift;
            e[l] = 0.0;
        }
        true
    }
}

/// Replaces `a` by `H a H`, for the reflection `H` of the first `i` rows and columns. Only the lower triangle is read and
/// written.
fn reflect_both_sides(n: usize, i: usize, a: &mut [f64], v: &[f64], factor: f64) {
    let mut p = vec![0.0; i];
    for j in 0..i {
        let column = &a[j * n..][..i];
        p[j] += dot(&column[j..], &v[j..]);
        for k in j + 1..i {
            p[k] += column[k] * v[j];
        }
    }
    p.iter_mut().for_each(|p| *p *= factor);
    let half = factor / 2.0 * dot(&p, v);
    p.iter_mut().zip(v).for_each(|(p, v)| *p -= half * v);
    for j in 0..i {
        let column = &mut a[j * n..][..i];
        for k in j..i {
            column[k] -= v[j] * p[k] + p[j] * v[k];
        }
    }
}

/// Computes the product of the reflections in place of `a`. The reflections' vectors are above the diagonal of `a`.
fn accumulate(n: usize, a: &mut [f64], factors: &[f64]) {
    for i in 0..n {
        let (left, right) = a.split_at_mut(i * n);
        let v = &right[..i];
        if factors[i] != 0.0 {
            for column in left.chunks_exact_mut(n) {
                let part = factors[i] * dot(v, column);
                column.iter_mut().zip(v).for_each(|(x, v)| *x -= part * v);
            }
        }
        right[..i].fill(0.0);
        right[i] = 1.0;
        // These are the elements of the triangle below the diagonal that are in row `i`.
        left.chunks_exact_mut(n.max(1)).for_each(|column| column[i] = 0.0);
    }
}

/// Subtracts a number near the eigenvalue `l` from the diagonal elements from `l` on, so that the iteration converges faster.
/// Returns that number.
fn move_origin(l: usize, d: &mut [f64], e: &[f64]) -> f64 {
    let p = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let r = p.hypot(1.0).copysign(p);
    let (first, before) = (e[l] / (p + r), d[l]);
    let moved = before - first;
    d[l] = first;
    d[l + 1] = e[l] * (p + r);
    d[l + 2..].iter_mut().for_each(|d| *d -= moved);
    moved
}

/// Does one step of the QL iteration on the part of the matrix from `l` to `m`.
fn step((l, m): (usize, usize), d: &mut [f64], e: &mut [f64], vectors: &mut [f64]) {
    let n = d.len();
    let (after, beside) = (d[l + 1], e[l + 1]);
    let (mut p, mut c, mut c2, mut c3, mut s, mut s2) = (d[m], 1.0, 1.0, 1.0, 0.0, 0.0);
    for i in (l..m).rev() {
        (c3, c2, s2) = (c2, c, s);
        let (g, h) = (c * e[i], c * p);
        let r = p.hypot(e[i]);
        e[i + 1] = s * r;
        (s, c) = (e[i] / r, p / r);
        p = c * d[i] - s * g;
        d[i + 1] = h + s * (c * g + s * d[i]);
        let (left, right) = vectors.split_at_mut((i + 1) * n);
        for (x, y) in left[i * n..].iter_mut().zip(&mut right[..n]) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    }
    p = -s * s2 * c3 * beside * e[l] / after;
    e[l] = s * p;
    d[l] = c * p;
}
