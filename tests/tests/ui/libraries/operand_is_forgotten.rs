// An execution of a plan without its operand: a plan holds none.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::Fft;

fn step(fft: &mut Plan<Fft<f32>>, stream: &Stream<'_>, y: &mut Tensor<Complex<f32>>) -> Result<(), Error> {
    fft.forward(stream, y)
}

fn main() {}
