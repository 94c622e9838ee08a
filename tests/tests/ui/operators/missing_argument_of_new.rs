// `new` takes the state's fields, in their order.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    image: Tensor<f32>,
    #[output]
    blurred: Tensor<f32>,
    radius: f32,
    passes: u32,
}

fn main() {
    let _ = Blur::new(3, 1.5);
}
