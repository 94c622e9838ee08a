//! The element types of sparse matrices.

use std::ops::{Add, Mul};

use streamflow::memory::Complex;

use streamflow::Element;

pub(crate) mod sealed {
    use super::{Add, Element, Mul};

    /// A number type, as the bodies on the host compute with it.
    pub trait Number: Element + Add<Output = Self> + Mul<Output = Self> {
        /// The type's `cudaDataType`.
        const DATA_TYPE: i32;
        const ZERO: Self;
        const ONE: Self;
    }
}

/// An element of a sparse matrix: `f32`, `f64`, `Complex<f32>` or `Complex<f64>`.
#[diagnostic::on_unimplemented(
    message = "a sparse matrix has no elements of type `{Self}`",
    label = "not an element type of sparse matrices",
    note = "cuSPARSE takes `f32`, `f64`, `Complex<f32>` and `Complex<f64>`"
)]
pub trait SparseElement: sealed::Number {}

macro_rules! elements {
    ($($ty:ty: $data_type:literal, $zero:expr, $one:expr;)*) => {$(
        impl sealed::Number for $ty {
            const DATA_TYPE: i32 = $data_type;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
        }

        impl SparseElement for $ty {}
    )*};
}

elements! {
    f32: 0, 0.0, 1.0;
    f64: 1, 0.0, 1.0;
    Complex<f32>: 4, Complex { re: 0.0, im: 0.0 }, Complex { re: 1.0, im: 0.0 };
    Complex<f64>: 5, Complex { re: 0.0, im: 0.0 }, Complex { re: 1.0, im: 0.0 };
}
