// A launch with two arguments in each other's place.
use streamflow::prelude::*;

/// out[i] = from[i]
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = from[i];")]
fn copy(out: &mut [f32], from: &[f32]) {
    out.copy_from_slice(from);
}

fn step(stream: &CudaStream, out: &mut Tensor<f32>, from: &Tensor<f32>) -> Result<(), Error> {
    stream.launch::<copy>(out.len(), (from, out))
}

fn main() {}
