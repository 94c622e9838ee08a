// Launches of `map` with other arguments.
use streamflow::prelude::*;

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
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

fn plain(a: f32) -> f32 {
    a
}

#[kernel(map)]
fn calls_a_plain_function(out: &mut f32) {
    *out = plain(*out);
}

fn main() {}
