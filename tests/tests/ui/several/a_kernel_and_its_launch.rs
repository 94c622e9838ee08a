// A kernel with a wrong argument and a body without `unsafe`, and a launch of another kernel with too few arguments.
use streamflow::prelude::*;

#[kernel(cuda = "out[0] = value;")]
fn first(out: &mut f32, value: f32) {
    *out = value;
}

#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn step(stream: &CudaStream, out: &mut Tensor<f32>) -> Result<(), Error> {
    stream.launch::<fill>(out.len(), (out,))
}

fn main() {}
