// A port of which is not said whether it is an input or an output.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    image: &Tensor<f32>,
    #[output]
    blurred: Tensor<f32>,
}

fn main() {}
