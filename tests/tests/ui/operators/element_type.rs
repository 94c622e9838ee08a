// Tensors of invalid element types: reported at the type, and again only where the operator is used.
use streamflow::prelude::*;

pub struct Pixel(u8, u8);

#[operator]
pub struct Mask {
    #[input]
    mask: &Tensor<bool>,
    #[input]
    index: Shared<Buffer<usize>>,
    #[output]
    pixels: Tensor<Pixel>,
}

fn main() {}
