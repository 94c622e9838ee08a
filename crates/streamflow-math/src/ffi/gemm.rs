//! Products of matrices on the host, by the crate `matrixmultiply`: safe functions over slices.

use std::ops::{AddAssign, Mul};

use streamflow::memory::Complex;

/// A number type that `matrixmultiply` can multiply matrices of.
pub trait Gemm:
    Copy + Default + PartialEq + AddAssign + Mul<Output = Self> + Send + 'static
{
    /// Computes `c = alpha a b + beta c` of dense matrices in rows; `c` is not read if `beta` is 0.
    ///
    /// # Safety
    /// `a`, `b` and `c` are `m` x `k`, `k` x `n` and `m` x `n` elements, and `c` does not overlap the others.
    #[doc(hidden)]
    unsafe fn gemm(
        sizes: [usize; 3],
        alpha: Self,
        a: *const Self,
        b: *const Self,
        beta: Self,
        c: *mut Self,
    );
}

/// Computes `c = alpha a b + beta c` of dense matrices in rows: `m` x `k`, `k` x `n` and `m` x `n`. `c` is not read if
/// `beta` is 0.
///
/// # Panics
/// If a slice has another length.
pub(crate) fn multiply<T: Gemm>(
    [m, n, k]: [usize; 3],
    alpha: T,
    (a, b): (&[T], &[T]),
    beta: T,
    c: &mut [T],
) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n, "lengths of matrices");
    if m * n * k <= SMALL {
        return multiply_small([n, k], alpha, (a, b), beta, c);
    }
    // SAFETY: the lengths were checked, and `c` is borrowed exclusively.
    unsafe { T::gemm([m, n, k], alpha, a.as_ptr(), b.as_ptr(), beta, c.as_mut_ptr()) }
}

/// For up to this number of multiplications, plain loops are faster than `matrixmultiply`, which allocates and packs.
const SMALL: usize = 512;

fn multiply_small<T: Gemm>(
    [n, k]: [usize; 2],
    alpha: T,
    (a, b): (&[T], &[T]),
    beta: T,
    c: &mut [T],
) {
    for (at, c) in c.iter_mut().enumerate() {
        let (row, column) = (at / n, at % n);
        let mut sum = T::default();
        for (inner, &a) in a[row * k..][..k].iter().enumerate() {
            sum += a * b[inner * n + column];
        }
        let before = if beta == T::default() { T::default() } else { beta * *c };
        *c = alpha * sum;
        *c += before;
    }
}

macro_rules! real {
    ($($ty:ty: $gemm:ident;)*) => {
        $(impl Gemm for $ty {
            unsafe fn gemm(
                [m, n, k]: [usize; 3], alpha: Self, a: *const Self, b: *const Self, beta: Self, c: *mut Self,
            ) {
                let (ka, nb) = (k as isize, n as isize);
                // SAFETY: the caller guarantees the lengths; the strides are those of dense rows.
                unsafe { matrixmultiply::$gemm(m, k, n, alpha, a, ka, 1, b, nb, 1, beta, c, nb, 1) }
            }
        })*
    };
}

real! {
    f32: sgemm;
    f64: dgemm;
}

macro_rules! complex {
    ($($ty:ty: $gemm:ident;)*) => {
        $(impl Gemm for Complex<$ty> {
            unsafe fn gemm(
                [m, n, k]: [usize; 3], alpha: Self, a: *const Self, b: *const Self, beta: Self, c: *mut Self,
            ) {
                use matrixmultiply::CGemmOption::Standard;
                let (ka, nb) = (k as isize, n as isize);
                let (alpha, beta) = ([alpha.re, alpha.im], [beta.re, beta.im]);
                let (a, b, c): (*const [$ty; 2], *const [$ty; 2], *mut [$ty; 2]) = (a.cast(), b.cast(), c.cast());
                // SAFETY: the caller guarantees the lengths; the strides are those of dense rows. A `Complex` is
                // `repr(C)` with two numbers.
                unsafe {
                    matrixmultiply::$gemm(
                        Standard, Standard, m, k, n, alpha, a, ka, 1, b, nb, 1, beta, c, nb, 1,
                    )
                }
            }
        })*
    };
}

complex! {
    f32: cgemm;
    f64: zgemm;
}
