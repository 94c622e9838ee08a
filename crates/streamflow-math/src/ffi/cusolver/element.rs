//! The element types of matrices, and the arithmetic of the bodies on the host.

use std::ops::{Add, Div, Mul, Sub};

use streamflow::memory::Complex;

use streamflow::Element;

pub(crate) mod sealed {
    use super::{Add, Div, Element, Mul, Sub};

    /// A field of numbers, as the bodies on the host compute in it.
    pub trait Number:
        Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
    {
        /// The type's `cudaDataType`.
        const DATA_TYPE: i32;
        const ZERO: Self;
        const ONE: Self;

        /// The size that LAPACK compares to find a pivot: `|re| + |im|`.
        fn size(self) -> f64;

        /// Whether the number, or a part of it, is a NaN.
        fn is_nan(self) -> bool;
    }

    /// A real number, as the bodies on the host compute with it.
    pub trait RealNumber: Number + PartialOrd {
        fn sqrt(self) -> Self;

        /// Returns the number in double precision.
        fn wide(self) -> f64;

        /// Rounds a number to this type; the result is infinite if the number is larger than any of this type.
        fn narrow(number: f64) -> Self;
    }
}

/// An element of a matrix that [`Lu`](crate::solve::Lu) factors: `f32`, `f64`, `Complex<f32>` or `Complex<f64>`.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` can't be factored",
    label = "not an element type of solvers",
    note = "cuSOLVER takes `f32`, `f64`, `Complex<f32>` and `Complex<f64>`"
)]
pub trait Factor: sealed::Number {}

/// An element of a matrix that the solvers for real matrices take: `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` is not real",
    label = "`f32` or `f64` is needed here",
    note = "complex matrices have `Lu` alone"
)]
pub trait Real: Factor + sealed::RealNumber {}

macro_rules! reals {
    ($($ty:ty: $data_type:literal;)*) => {$(
        impl sealed::Number for $ty {
            const DATA_TYPE: i32 = $data_type;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn size(self) -> f64 {
                f64::from(self.abs())
            }

            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }

        impl sealed::RealNumber for $ty {
            fn sqrt(self) -> Self {
                self.sqrt()
            }

            fn wide(self) -> f64 {
                self.into()
            }

            fn narrow(number: f64) -> Self {
                number as Self
            }
        }

        impl Factor for $ty {}
        impl Real for $ty {}
    )*};
}

macro_rules! complexes {
    ($($ty:ty: $data_type:literal;)*) => {$(
        impl sealed::Number for Complex<$ty> {
            const DATA_TYPE: i32 = $data_type;
            const ZERO: Self = Complex { re: 0.0, im: 0.0 };
            const ONE: Self = Complex { re: 1.0, im: 0.0 };

            fn size(self) -> f64 {
                f64::from(self.re.abs()) + f64::from(self.im.abs())
            }

            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
        }

        impl Factor for Complex<$ty> {}
    )*};
}

reals! {
    f32: 0;
    f64: 1;
}
complexes! {
    f32: 4;
    f64: 5;
}
