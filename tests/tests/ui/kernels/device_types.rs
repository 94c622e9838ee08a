// The types of a launch's arguments in the kernel itself.
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;

#[kernel(unsafe cuda = "")]
fn tensors(out: &mut Tensor<f32>, image: &Tensor<f32>, bytes: Buffer<u8>, shared: Shared<Tensor<f32>>) {
    let _ = (out, image, bytes, shared);
}

#[kernel(unsafe cuda = "")]
fn vectors(out: &mut Vec<f32>, values: &Vec<f32>, owned: Vec<u8>, scale: Box<f32>) {
    let _ = (out, values, owned, scale);
}

#[kernel(unsafe cuda = "")]
fn others(out: &mut DeviceSlice<f32>, flag: bool, name: String, count: Option<u32>) {
    let _ = (out, flag, name, count);
}

fn main() {}
