// A port with a name that is reserved.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    __image: &Tensor<f32>,
    #[output]
    blurred: Tensor<f32>,
}

fn main() {}
