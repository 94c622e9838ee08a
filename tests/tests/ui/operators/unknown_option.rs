// An option that there is not.
use streamflow::prelude::*;

#[operator(steams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

fn main() {}
