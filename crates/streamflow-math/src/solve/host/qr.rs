//! Computes QR decompositions by reflections (A. S. Householder, 1958), as LAPACK's `geqrf` and `orgqr` do.

use super::scaled::{Scaled, dot};
use crate::ffi::cusolver::element::Real;

/// Computes the economy QR of a matrix with `rows >= columns`, in columns: `A = Q R`. `q` gets `rows` by `columns` elements, and
/// `r` `columns` by `columns`, with zeros below the diagonal. Both results are in columns. If the matrix has a NaN or an
/// infinity, all elements of both results are NaNs.
pub(in super::super) fn qr<T: Real>(
    (rows, columns): (usize, usize),
    a: &[T],
    q: &mut [T],
    r: &mut [T],
) {
    // Each column is scaled separately. The same column of `R` has the column's scale, and `Q` has none.
    let scaled: Option<Vec<Scaled>> = a.chunks_exact(rows.max(1)).map(Scaled::new).collect();
    let Some(mut a) = scaled else {
        q.fill(T::narrow(f64::NAN));
        return r.fill(T::narrow(f64::NAN));
    };
    let mut reflections = Vec::with_capacity(columns);
    for k in 0..columns {
        let (left, right) = a.split_at_mut(k + 1);
        let column = &mut left[k].numbers;
        let reflection = Reflection::of(&column[k..]);
        reflection.apply(&mut column[k..]);
        right.iter_mut().for_each(|column| reflection.apply(&mut column.numbers[k..]));
        reflections.push(reflection);
    }
    for (place, column) in a.iter().enumerate() {
        let upper = column.numbers.iter().take(place + 1).map(|&number| column.back(number));
        let zeros = std::iter::repeat(T::ZERO);
        r[place * columns..][..columns]
            .iter_mut()
            .zip(upper.chain(zeros))
            .for_each(|(r, x)| *r = x);
    }
    let mut column = vec![0.0; rows];
    for place in 0..columns {
        column.fill(0.0);
        column[place] = 1.0;
        for (k, reflection) in reflections.iter().enumerate().take(place + 1).rev() {
            reflection.apply(&mut column[k..]);
        }
        q[place * rows..][..rows].iter_mut().zip(&column).for_each(|(q, &x)| *q = T::narrow(x));
    }
}

/// The reflection `x - factor v (v x)`, which maps the vector that it is made of to a multiple of the first axis.
struct Reflection {
    v: Vec<f64>,
    factor: f64,
}

impl Reflection {
    fn of(x: &[f64]) -> Self {
        let most = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut v: Vec<f64> = x.iter().map(|x| if most > 0.0 { x / most } else { 0.0 }).collect();
        let length = dot(&v, &v).sqrt();
        if let Some(first) = v.first_mut() {
            // The reflection maps to the opposite side of the axis, so that this sum does not cancel out.
            *first += length.copysign(*first);
        }
        let square = dot(&v, &v);
        let factor = if square > 0.0 { 2.0 / square } else { 0.0 };
        Self { v, factor }
    }

    fn apply(&self, x: &mut [f64]) {
        let part = self.factor * dot(&self.v, x);
        x.iter_mut().zip(&self.v).for_each(|(x, v)| *x -= part * v);
    }
}
