// Launches of `map` with other arguments and other kernels.
use streamflow::prelude::*;

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
}

/// out[i] = value
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn too_few(stream: &CudaStream, out: &mut Tensor<f32>, a: &Tensor<f32>) -> Result<(), Error> {
    stream.map::<scale>((out, a))
}

fn other_element(stream: &CudaStream, out: &mut Tensor<f32>, a: &Tensor<u8>) -> Result<(), Error> {
    stream.map::<scale>((out, a, 2.0))
}

fn shared(stream: &CudaStream, out: &Tensor<f32>, a: &Tensor<f32>) -> Result<(), Error> {
    stream.map::<scale>((out, a, 2.0))
}

fn two_bodies(stream: &CudaStream, out: &mut Tensor<f32>) -> Result<(), Error> {
    stream.map::<fill>((out, 2.0))
}

fn launched(stream: &CudaStream, out: &mut Tensor<f32>, a: &Tensor<f32>) -> Result<(), Error> {
    stream.launch::<scale>(out.len(), (out, a, 2.0))
}

fn main() {}
