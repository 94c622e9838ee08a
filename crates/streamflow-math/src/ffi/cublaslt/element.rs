//! The types of numbers that are multiplied, with the libraries' names for them and the way they are rounded.

use streamflow::memory::Complex;

use super::epilogue::Activation;
use streamflow::Element;

pub(crate) mod sealed {
    use super::Activation;
    use crate::ffi::gemm::Gemm;
    use streamflow::memory::Scalar;

    /// The properties of a type that the libraries and the host body need.
    pub trait Number: Copy {
        /// The type of `alpha` and `beta`, and of the sums.
        type Scale: Gemm + Scalar + PartialEq + std::fmt::Debug;
        const ONE: Self::Scale;
        const ZERO: Self::Scale;
        /// CUDA's `cudaDataType` of the elements.
        const DATA_TYPE: i32;
        /// CUDA's `cudaDataType` of `Scale`.
        const SCALE_TYPE: i32;
        /// cuBLAS's `cublasComputeType_t`, without fast modes.
        const COMPUTE: i32;

        fn widen(self) -> Self::Scale;
        /// Returns the number rounded to TF32, as the tensor cores read it.
        fn widen_tf32(self) -> Self::Scale;
        fn round(sum: Self::Scale) -> Self;
        fn activate(sum: Self::Scale, activation: Activation) -> Self::Scale;
    }
}

/// An element type of matrices: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, and with the feature `half` `f16` and `bf16`,
/// which are summed in `f32`.
pub trait MatmulElement: Element + sealed::Number {}

/// An element type with products that can have a bias and an activation: `f32`, `f16` and `bf16`. cuBLASLt offers them for no
/// other type.
pub trait EpilogueElement: MatmulElement {}

/// An element type with factors that can be rounded to TF32: `f32` and `Complex<f32>`.
pub trait Tf32Element: MatmulElement {}

const R_32F: i32 = 0;
const R_64F: i32 = 1;
#[cfg(feature = "half")]
const R_16F: i32 = 2;
const C_32F: i32 = 4;
const C_64F: i32 = 5;
#[cfg(feature = "half")]
const R_16BF: i32 = 14;

const COMPUTE_32F: i32 = 68;
const COMPUTE_64F: i32 = 70;

/// Rounds a number to TF32: to the nearest number whose fraction has 10 bits.
fn tf32(x: f32) -> f32 {
    const DROPPED: u32 = 13;
    if !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    let half = (1 << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1);
    f32::from_bits(bits.wrapping_add(half) >> DROPPED << DROPPED)
}

macro_rules! numbers {
    ($($ty:ty as $scale:ty: $data:ident, $scale_type:ident, $compute:ident, $one:expr, $zero:expr,
       $widen:expr, $tf32:expr, $round:expr, $activate:expr;)*) => {
        $(
            impl sealed::Number for $ty {
                type Scale = $scale;
                const ONE: $scale = $one;
                const ZERO: $scale = $zero;
                const DATA_TYPE: i32 = $data;
                const SCALE_TYPE: i32 = $scale_type;
                const COMPUTE: i32 = $compute;

                fn widen(self) -> $scale {
                    ($widen)(self)
                }

                fn widen_tf32(self) -> $scale {
                    ($tf32)(self)
                }

                fn round(sum: $scale) -> Self {
                    ($round)(sum)
                }

                fn activate(sum: $scale, activation: Activation) -> $scale {
                    ($activate)(sum, activation)
                }
            }

            #[diagnostic::do_not_recommend]
            impl MatmulElement for $ty {}
        )*
    };
}

/// Returns the sum unchanged, for a type without activations.
fn none<T>(sum: T, _: Activation) -> T {
    sum
}

fn same<T>(value: T) -> T {
    value
}

type C32 = Complex<f32>;
type C64 = Complex<f64>;

numbers! {
    f32 as f32: R_32F, R_32F, COMPUTE_32F, 1.0, 0.0, same, tf32, same, |x, a: Activation| a.of(x);
    f64 as f64: R_64F, R_64F, COMPUTE_64F, 1.0, 0.0, same, same, same, none;
    C32 as C32: C_32F, C_32F, COMPUTE_32F, C32::ONE, C32::ZERO, same, |x: C32| C32::new(tf32(x.re), tf32(x.im)), same, none;
    C64 as C64: C_64F, C_64F, COMPUTE_64F, C64::ONE, C64::ZERO, same, same, same, none;
}

#[cfg(feature = "half")]
use streamflow::{f16, memory::bf16};

#[cfg(feature = "half")]
numbers! {
    f16 as f32: R_16F, R_32F, COMPUTE_32F, 1.0, 0.0, f16::to_f32, f16::to_f32, f16::from_f32, |x, a: Activation| a.of(x);
    bf16 as f32: R_16BF, R_32F, COMPUTE_32F, 1.0, 0.0, bf16::to_f32, bf16::to_f32, bf16::from_f32, |x, a: Activation| a.of(x);
}

impl Tf32Element for f32 {}
impl Tf32Element for C32 {}

impl EpilogueElement for f32 {}
#[cfg(feature = "half")]
impl EpilogueElement for f16 {}
#[cfg(feature = "half")]
impl EpilogueElement for bf16 {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::tf32;

    #[test]
    fn tf32_has_ten_bits_of_the_fraction() {
        let ulp = 2.0_f32.powi(-10);
        assert_eq!(tf32(1.0 + ulp), 1.0 + ulp);
        assert_eq!(tf32(1.0 + 0.49 * ulp), 1.0);
        assert_eq!(tf32(-1.0 - 0.51 * ulp), -1.0 - ulp);
        // A number halfway between two others is rounded to the even one.
        assert_eq!((tf32(1.0 + 0.5 * ulp), tf32(1.0 + 1.5 * ulp)), (1.0, 1.0 + 2.0 * ulp));
        assert_eq!(tf32(f32::INFINITY), f32::INFINITY);
        assert!(tf32(f32::NAN).is_nan());
    }
}
