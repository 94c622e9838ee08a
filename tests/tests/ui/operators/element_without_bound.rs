use streamflow::prelude::*;

#[operator]
pub struct Pass<T> {
    #[input]
    x: Tensor<T>,
    #[output]
    y: Tensor<T>,
}

fn main() {}
