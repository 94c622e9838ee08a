//! The kernels that multiply the results of transforms by a factor. cuFFT has no function for that.

use streamflow::memory::Complex;

use crate::error::Result;
use crate::ffi::cufft::layout::Side;
use streamflow::CudaStream;
use streamflow::Element;
use streamflow::kernel;
use streamflow::memory::DeviceSlice;

/// A result of a transform: a real number or a complex one.
pub trait Number: Element {
    /// The type of the number's parts.
    type Real: Element;
    /// Returns the product of the number with a factor.
    fn times(self, factor: Self::Real) -> Self;
}

macro_rules! numbers {
    ($($ty:ty: $real:ty;)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Number for $ty {
                type Real = $real;
                fn times(self, factor: $real) -> Self {
                    self * factor
                }
            }
        )*
    };
}

numbers! {
    f32: f32;
    f64: f64;
    Complex<f32>: f32;
    Complex<f64>: f64;
}

/// Multiplies each number by a factor.
#[kernel(instances(f32, f64, streamflow::memory::Complex<f32>, streamflow::memory::Complex<f64>), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < data_len) data[i] = data[i] * factor;
")]
pub fn scale<Z: Number>(data: &mut [Z], factor: <Z as Number>::Real) {
    data.iter_mut().for_each(|number| *number = number.times(factor));
}

/// Multiplies the numbers that a [`Layout`](super::Layout) contains, and no others. There are `count` in all, with `n0 * n1 * n2`
/// in each transform.
#[kernel(instances(f32, f64, streamflow::memory::Complex<f32>, streamflow::memory::Complex<f64>), partial, requires(n0 > 0, n1 > 0, n2 > 0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= count) return;
    unsigned long long z = i % n2, y = i / n2 % n1, x = i / n2 / n1 % n0, b = i / n2 / n1 / n0;
    unsigned long long at = b * distance + ((x * e1 + y) * e2 + z) * stride;
    if (at < data_len) data[at] = data[at] * factor;
")]
#[allow(clippy::too_many_arguments, reason = "the numbers of a layout")]
pub fn scale_embedded<Z: Number>(
    data: &mut [Z],
    factor: <Z as Number>::Real,
    count: usize,
    n0: usize,
    n1: usize,
    n2: usize,
    e1: usize,
    e2: usize,
    stride: usize,
    distance: usize,
) {
    for i in 0..count {
        let (z, y, x, b) = (i % n2, i / n2 % n1, i / n2 / n1 % n0, i / n2 / n1 / n0);
        let at = b * distance + ((x * e1 + y) * e2 + z) * stride;
        if let Some(number) = data.get_mut(at) {
            *number = number.times(factor);
        }
    }
}

/// Queues the kernel that multiplies the results of a batch of transforms by a factor.
#[track_caller]
pub(super) fn multiply<Z: Number>(
    stream: &CudaStream,
    data: &mut DeviceSlice<Z>,
    factor: Z::Real,
    side: &Side,
    batch: usize,
) -> Result<()> {
    if side.is_dense {
        return stream.launch::<scale<Z>>(data.len(), (data, factor));
    }
    let ([n0, n1, n2], [_, e1, e2]) = (side.lengths, side.embed);
    let count = batch * n0 * n1 * n2;
    let (stride, distance) = (side.stride, side.distance);
    stream.launch::<scale_embedded<Z>>(
        count,
        (data, factor, count, n0, n1, n2, e1, e2, stride, distance),
    )
}
