// A solution that the host reads without asking whether the matrix was singular.
use streamflow::prelude::*;
use streamflow_math::solve::Checked;

fn step(stream: &Stream<'_>, x: &Checked<Tensor<f32>>) -> Result<Vec<f32>, Error> {
    stream.download_blocking(x)
}

fn main() {}
