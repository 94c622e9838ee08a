// A launch that would read the data that it writes.
use streamflow::prelude::*;

/// out[i] = value
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

/// out[i] = from[i]
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = from[i];")]
fn copy(out: &mut [f32], from: &[f32]) {
    out.copy_from_slice(from);
}

fn step(stream: &CudaStream, out: &mut Tensor<f32>, from: &mut Tensor<f32>) -> Result<(), Error> {
    let _ = from;
    stream.launch::<copy>(out.len(), (&mut *out, &*out))
}

fn main() {}
