// A field that is a tensor of an invalid element type.
use streamflow::prelude::*;

#[derive(Message)]
pub struct Masked {
    image: Tensor<f32>,
    mask: Tensor<bool>,
}

fn main() {}
