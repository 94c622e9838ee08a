//! Factors that a library reads through a pointer.

use std::ffi::c_void;
use std::ptr;

/// A factor in the host's memory, at a multiple of 16 bytes. C's `double2` has this alignment, and code that reads one may
/// need it; a `Complex<f64>` alone is at a multiple of 8.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Scalar<T>(T);

impl<T> Scalar<T> {
    pub(super) fn new(factor: T) -> Self {
        Self(factor)
    }

    /// Returns a pointer for a call that reads the factor before it returns.
    pub(super) fn as_ptr(&self) -> *const c_void {
        ptr::from_ref(&self.0).cast()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use streamflow::memory::Complex;

    use super::*;

    #[test]
    fn a_factor_is_at_a_multiple_of_16_bytes() {
        // Without the alignment, some of these numbers would be at multiples of 8 that are no multiples of 16.
        let three = [0_u8, 1, 2].map(|i| (i, Scalar::new(Complex::new(f64::from(i), -1.0)), i));
        for (i, factor, _) in &three {
            assert_eq!(factor.as_ptr() as usize % 16, 0);
            // SAFETY: the pointer is that of `factor`, which is alive.
            let found = unsafe { factor.as_ptr().cast::<Complex<f64>>().read() };
            assert_eq!(found, Complex::new(f64::from(*i), -1.0));
        }
    }
}
