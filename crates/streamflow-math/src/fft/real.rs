//! The number types of transforms.

use rustfft::FftNum;
use streamflow::memory::Complex;

use super::kernels;
use crate::error::Result;
use crate::ffi::cufft::layout::Side;
use streamflow::CudaStream;
use streamflow::Element;
use streamflow::memory::DeviceSlice;

pub(crate) mod sealed {
    use super::{Complex, CudaStream, DeviceSlice, FftNum, Result, Side};

    /// The results of a transform, as memory of real or of complex numbers.
    pub enum Output<'a, T> {
        Real(&'a mut DeviceSlice<T>),
        Complex(&'a mut DeviceSlice<Complex<T>>),
    }

    /// Restricts [`Real`](super::Real) to the types that cuFFT has.
    pub trait Precision: FftNum {
        const IS_DOUBLE: bool;
        /// The value that the simulator leaves in an input that cuFFT may overwrite.
        const NAN: Self;
        /// Multiplies the results of a batch by a factor. The factor is first rounded to this type.
        fn multiply(
            stream: &CudaStream,
            output: Output<'_, Self>,
            factor: f64,
            side: &Side,
            batch: usize,
        ) -> Result<()>;
    }
}

/// The type of a transform's real numbers, `f32` or `f64`. The transform's complex numbers are pairs of this type.
#[diagnostic::on_unimplemented(
    message = "there are no Fourier transforms of `{Self}`",
    label = "not `f32` or `f64`",
    note = "name the real type, as in `Fft::<f32>`: its complex numbers are `Complex<f32>`"
)]
pub trait Real: Element + sealed::Precision {}

macro_rules! reals {
    ($($ty:ident: $is_double:literal;)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Real for $ty {}
            impl sealed::Precision for $ty {
                const IS_DOUBLE: bool = $is_double;
                const NAN: Self = $ty::NAN;

                #[track_caller]
                fn multiply(
                    stream: &CudaStream,
                    output: sealed::Output<'_, Self>,
                    factor: f64,
                    side: &Side,
                    batch: usize,
                ) -> Result<()> {
                    let factor = factor as $ty;
                    match output {
                        sealed::Output::Real(data) => {
                            kernels::multiply(stream, data, factor, side, batch)
                        }
                        sealed::Output::Complex(data) => {
                            kernels::multiply(stream, data, factor, side, batch)
                        }
                    }
                }
            }
        )*
    };
}

reals! {
    f32: false;
    f64: true;
}
