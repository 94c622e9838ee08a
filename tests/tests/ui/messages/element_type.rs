// A field that is a tensor of what no device memory holds.
use streamflow::prelude::*;

#[derive(Message)]
pub struct Masked {
    image: Tensor<f32>,
    mask: Tensor<bool>,
}

fn main() {}
