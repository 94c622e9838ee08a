//! cuBLAS's functions of triangles of matrices: solutions of triangular systems, and updates of symmetric matrices.

use super::blas::{Blas, matrix};
use super::numbers::BlasElement;
use crate::Plan;
use crate::error::{Result, wrong_operand};
use streamflow::Stream;
use streamflow::Tensor;
use streamflow::library::Call;

/// A triangle of a square matrix, with the diagonal. The rest of the matrix is neither read nor written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// The elements of each row up to the diagonal.
    Lower,
    /// The elements of each row from the diagonal on.
    Upper,
}

impl Triangle {
    const fn is_lower(self) -> bool {
        matches!(self, Self::Lower)
    }
}

impl<T: BlasElement> Plan<Blas<T>> {
    /// Queues the solution of `a x = alpha b`, which replaces `b`. `a` is a triangle of `[n, n]`, and `b` is `[n, m]`, with
    /// right-hand sides as columns. The call does not check the diagonal: if it has a zero, the solution has infinities or NaNs.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other
    /// shapes, or 2^31 elements in a dimension; the library's error; the driver's error.
    #[track_caller]
    pub fn trsm(
        &mut self,
        stream: &Stream<'_>,
        (alpha, a, triangle): (T, &Tensor<T>, Triangle),
        b: &mut Tensor<T>,
    ) -> Result<()> {
        const CALL: &str = "Blas::trsm";
        let checked = self.lend(stream).and_then(|blas| {
            let ([n, columns], [rows, m]) = (matrix(CALL, "a", a)?, matrix(CALL, "b", b)?);
            equal(CALL, ("a", "columns", columns), ("a", "rows", n))?;
            equal(CALL, ("b", "rows", rows), ("a", "rows", n))?;
            Call::needs(b)?;
            Ok((blas, (n, m)))
        });
        let (blas, sizes) = Call::written(checked, b)?;
        if b.is_empty() {
            return Ok(());
        }
        let a = (alpha, &**a, triangle.is_lower());
        Call::written(blas.handle.trsm(stream, &blas.trsm, a, sizes, b), b)
    }

    /// Queues `c = alpha a aᵀ + beta c` for one triangle of `c`. `c` is `[n, n]`, and `a` is `[n, k]`. If `beta` is 0, that
    /// triangle of `c` is not read.
    ///
    /// # Errors
    /// The errors of [`trsm`](Self::trsm), and [`Error::Operand`](crate::Error::Operand) for a matrix `a` without columns.
    #[track_caller]
    pub fn syrk(
        &mut self,
        stream: &Stream<'_>,
        (alpha, a): (T, &Tensor<T>),
        (beta, c, triangle): (T, &mut Tensor<T>, Triangle),
    ) -> Result<()> {
        const CALL: &str = "Blas::syrk";
        let checked = self.lend(stream).and_then(|blas| {
            let ([n, k], [rows, columns]) = (matrix(CALL, "a", a)?, matrix(CALL, "c", c)?);
            equal(CALL, ("c", "rows", rows), ("a", "rows", n))?;
            equal(CALL, ("c", "columns", columns), ("a", "rows", n))?;
            if k == 0 {
                let problem = "has no columns; fill `c` instead".to_owned();
                return Err(wrong_operand(CALL, "a", problem));
            }
            // The call needs the earlier content of `c` even if `beta` is 0, since the rest of `c` outside of the triangle stays
            // as it is.
            Call::needs(c)?;
            Ok((blas, (n, k)))
        });
        let (blas, sizes) = Call::written(checked, c)?;
        if c.is_empty() {
            return Ok(());
        }
        let half = (beta, &mut **c, triangle.is_lower());
        Call::written(blas.handle.syrk(stream, &blas.syrk, (alpha, a), sizes, half), c)
    }
}

/// The name of a matrix, and the name and length of one of its dimensions.
type Dimension = (&'static str, &'static str, usize);

fn equal(call: &'static str, one: Dimension, other: Dimension) -> Result<()> {
    let ((argument, of, size), (other, other_of, other_size)) = (one, other);
    if size == other_size {
        return Ok(());
    }
    let problem =
        format!("has {size} {of}, but `{other}` has {other_size} {other_of}; they must be equal");
    Err(wrong_operand(call, argument, problem))
}
