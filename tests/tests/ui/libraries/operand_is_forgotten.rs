// An execution of a plan without its operand: a plan holds none.
use streamflow::library::Plan;
use streamflow::library::fft::Fft;
use streamflow::memory::Complex;
use streamflow::prelude::*;

fn step(fft: &mut Plan<Fft<f32>>, stream: &Stream<'_>, y: &mut Tensor<Complex<f32>>) -> Result<(), Error> {
    fft.forward(stream, y)
}

fn main() {}
