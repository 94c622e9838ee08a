use streamflow::prelude::*;

#[operator(streams(fill, image), sterams(x))]
pub struct Blur<'a> {
    #[input]
    image: &mut Tensor<f32>,
    #[ouptut]
    out: &Tensor<f32>,
    name: &str,
    text: &'a str,
}

fn main() {}
