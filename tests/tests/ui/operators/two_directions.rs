// A port that is an input and an output.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    #[output]
    image: Tensor<f32>,
}

fn main() {}
