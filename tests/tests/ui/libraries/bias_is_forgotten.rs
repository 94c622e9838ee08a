// A product with a bias in its plan, and without one in the call.
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::matmul::{Bias, Matmul};

fn step(
    product: &mut Plan<Matmul<f32, Bias>>,
    stream: &Stream<'_>,
    a: &Tensor<f32>,
    c: &mut Tensor<f32>,
) -> Result<(), Error> {
    product.execute(stream, a, a, c)
}

fn main() {}
