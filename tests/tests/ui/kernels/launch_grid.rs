// Values that are not grids.
use streamflow::prelude::*;

/// out[i] = value
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn number(stream: &CudaStream, out: &mut Tensor<f32>, count: u32) -> Result<(), Error> {
    stream.launch::<fill>(count, (out, 1.0))
}

fn numbers(stream: &CudaStream, out: &mut Tensor<f32>, rows: u32) -> Result<(), Error> {
    stream.launch::<fill>([rows, 16], (out, 1.0))
}

fn text(stream: &CudaStream, out: &mut Tensor<f32>) -> Result<(), Error> {
    stream.launch::<fill>("all", (out, 1.0))
}

fn main() {}
