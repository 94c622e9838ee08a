// An execution of a plan without a stream: there is no current one.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::Fft;

fn step(
    fft: &mut Plan<Fft<f32>>,
    x: &Tensor<Complex<f32>>,
    y: &mut Tensor<Complex<f32>>,
) -> Result<(), Error> {
    fft.forward(x, y)
}

fn main() {}
