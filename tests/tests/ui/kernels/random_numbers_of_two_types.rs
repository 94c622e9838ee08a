// One generator for `f32` and `f64`.
use streamflow::prelude::*;
use streamflow_math::random::Philox;

fn step(stream: &CudaStream, x: &mut Tensor<f32>, y: &mut Tensor<f64>) -> Result<(), Error> {
    let mut random = Philox::new(42);
    random.uniform(stream, x)?;
    random.uniform(stream, y)
}

fn main() {}
