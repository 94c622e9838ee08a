// Kernels of an image whose file or bytes can't be had, or whose arguments have types that no kernel takes.
use streamflow::prelude::*;

#[kernel(unsafe image = "no_such_file.ptx")]
fn no_file(y: &mut [f32], x: &[f32]);

#[kernel(unsafe image = 5)]
fn number(y: &mut [f32]);

#[kernel(unsafe image = ["scale.ptx"])]
fn text(y: &mut [f32]);

#[kernel(unsafe image = b"", slices = pointers)]
fn other_types(y: &mut [String]);

fn launch(stream: &CudaStream, y: &mut Buffer<f32>, x: &Buffer<u8>) -> Result<(), Error> {
    stream.launch::<no_file>(1, (y, x))
}

fn main() {}
