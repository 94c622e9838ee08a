// A port that is declared neither as an input nor as an output.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    image: &Tensor<f32>,
    #[output]
    blurred: Tensor<f32>,
}

fn main() {}
