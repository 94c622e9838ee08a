// A solution with a matrix that was not factored.
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::solve::{Checked, Lu};

fn step(
    lu: &mut Plan<Lu<f32>>,
    stream: &Stream<'_>,
    b: &Tensor<f32>,
    x: &mut Checked<Tensor<f32>>,
) -> Result<(), Error> {
    lu.solve(stream, b, x)
}

fn main() {}
