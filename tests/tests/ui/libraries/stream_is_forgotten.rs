// An execution of a plan without a stream: there is no current one.
use streamflow::library::Plan;
use streamflow::library::fft::Fft;
use streamflow::memory::Complex;
use streamflow::prelude::*;

fn step(
    fft: &mut Plan<Fft<f32>>,
    x: &Tensor<Complex<f32>>,
    y: &mut Tensor<Complex<f32>>,
) -> Result<(), Error> {
    fft.forward(x, y)
}

fn main() {}
