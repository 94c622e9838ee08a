use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    #[cfg(unix)]
    some: &Tensor<f32>,
    #[output]
    #[serde(skip)]
    out: Tensor<f32>,
    #[output]
    pub seen: u64,
    #[input]
    __image: &Tensor<f32>,
}

fn main() {}
