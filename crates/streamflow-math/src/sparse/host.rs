//! The products that the simulator computes in place of cuSPARSE.

use crate::ffi::cusparse::element::sealed::Number;

/// A matrix in compressed rows, in host memory. [`Csr`](super::Csr) has checked its offsets and columns.
pub(super) struct Rows<'a, T> {
    pub(super) offsets: &'a [i32],
    pub(super) columns: &'a [i32],
    pub(super) values: &'a [T],
}

impl<T: Number> Rows<'_, T> {
    /// Returns the columns and values of each row.
    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, T)>> {
        self.offsets.windows(2).map(|ends| {
            let range = ends[0] as usize..ends[1] as usize;
            let columns = self.columns[range.clone()].iter().map(|&column| column as usize);
            columns.zip(self.values[range].iter().copied())
        })
    }
}

/// Computes `y = A x`. If `accumulate` is set, computes `y = A x + y`.
pub(super) fn times_vector<T: Number>(a: &Rows<'_, T>, x: &[T], y: &mut [T], accumulate: bool) {
    times_matrix(a, x, y, 1, accumulate);
}

/// Computes `C = A B`. If `accumulate` is set, computes `C = A B + C`. `B` and `C` are in rows, and have `columns` columns.
pub(super) fn times_matrix<T: Number>(
    a: &Rows<'_, T>,
    b: &[T],
    c: &mut [T],
    columns: usize,
    accumulate: bool,
) {
    for (entries, row) in a.rows().zip(c.chunks_exact_mut(columns.max(1))) {
        if !accumulate {
            row.fill(T::ZERO);
        }
        for (inner, value) in entries {
            for (sum, &factor) in row.iter_mut().zip(&b[inner * columns..(inner + 1) * columns]) {
                *sum = *sum + value * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use streamflow::memory::Complex;

    use super::{Rows, times_matrix, times_vector};

    /// The matrix `[[0, 2, 0], [0, 0, 0], [3, 0, 5], [0, -1, 0]]`.
    const A: Rows<'static, f32> =
        Rows { offsets: &[0, 1, 1, 3, 4], columns: &[1, 0, 2, 1], values: &[2.0, 3.0, 5.0, -1.0] };

    #[test]
    fn a_vector_is_multiplied_row_by_row() {
        let mut y = [9.0; 4];
        times_vector(&A, &[1.0, 10.0, 100.0], &mut y, false);
        assert_eq!(y, [20.0, 0.0, 503.0, -10.0]);
        times_vector(&A, &[1.0, 10.0, 100.0], &mut y, true);
        assert_eq!(y, [40.0, 0.0, 1006.0, -20.0]);
    }

    #[test]
    fn a_matrix_is_multiplied_in_rows() {
        let mut c = [9.0; 8];
        times_matrix(&A, &[1.0, -1.0, 10.0, -10.0, 100.0, -100.0], &mut c, 2, false);
        assert_eq!(c, [20.0, -20.0, 0.0, 0.0, 503.0, -503.0, -10.0, 10.0]);
        times_matrix(&A, &[], &mut [], 0, false);
    }

    #[test]
    fn equal_indices_add_up_and_products_are_complex() {
        let i = Complex::new(0.0, 1.0);
        let a = Rows { offsets: &[0, 2], columns: &[0, 0], values: &[i, i] };
        let mut y = [Complex::default()];
        times_vector(&a, &[i], &mut y, false);
        assert_eq!(y, [Complex::new(-2.0, 0.0)]);
    }
}
