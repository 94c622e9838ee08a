// An option that does not exist.
use streamflow::prelude::*;

#[operator(steams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

fn main() {}
