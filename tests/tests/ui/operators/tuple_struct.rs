// Ports are named fields.
use streamflow::prelude::*;

#[operator]
pub struct Blur(#[input] Tensor<f32>, #[output] Tensor<f32>);

fn main() {}
