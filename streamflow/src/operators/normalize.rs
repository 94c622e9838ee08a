//! `Normalize`: shifts and scales values to a mean of 0 and a deviation of 1.

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::kernel;
use crate::memory::Tensor;
use crate::operator::Compute;
use streamflow_macros::operator;

/// Replaces each element `x` by `(x - mean) / deviation`, in the message's own memory. Mean and deviation are parameters that any
/// thread may set.
#[operator]
pub struct Normalize {
    /// The tensor to normalize, of any shape.
    #[input]
    x: Tensor<f32>,
    /// The input's tensor, normalized in place.
    #[output]
    normalized: Tensor<f32>,
    /// The value that is subtracted from each element.
    #[param]
    mean: f32,
    /// The value by which each difference from the mean is divided.
    #[param(range = f32::MIN_POSITIVE..)]
    deviation: f32,
}

#[diagnostic::do_not_recommend]
impl Compute for Normalize {
    fn compute(&mut self, io: NormalizeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        stream.launch::<normalize>(x.len(), (&mut x, self.mean, self.deviation))?;
        io.normalized.emit(x)
    }
}

/// The kernel `x = (x - mean) / deviation`.
#[kernel(requires(deviation > 0.0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < x_len) x[i] = (x[i] - mean) / deviation;
")]
pub fn normalize(x: &mut [f32], mean: f32, deviation: f32) {
    x.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
}
