// Operators of a kernel of `map` with ports or options that they can't have.
use streamflow::prelude::*;

#[operator(map)]
struct NoKernel {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

#[operator(map = "scale", map = scale)]
struct Text {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

#[operator(map = scale)]
struct NoInput {
    #[output]
    out: Tensor<f32>,
}

#[operator(map = scale)]
struct NoOutput {
    #[input]
    image: &Tensor<f32>,
}

#[operator(map = scale)]
struct Ports {
    #[input(optional)]
    sometimes: &Tensor<f32>,
    #[input(many)]
    several: &Tensor<f32>,
    #[input]
    factor: f32,
    #[input]
    memory: &Buffer<f32>,
    #[output]
    out: HostData<Vec<f32>>,
}

#[operator(map = scale)]
struct InPlace {
    #[input]
    image: Tensor<u8>,
    #[input]
    other: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

#[operator(map = scale, streams(copy))]
struct State {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    #[state]
    count: u64,
    #[cfg(unix)]
    factor: f32,
}

#[operator(mapp = scale)]
struct Misspelt {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

fn main() {}
