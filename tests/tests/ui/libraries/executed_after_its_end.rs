// An execution after the plan is freed.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::Fft;

fn step(
    mut fft: Plan<Fft<f32>>,
    stream: &Stream<'_>,
    x: &Tensor<Complex<f32>>,
    y: &mut Tensor<Complex<f32>>,
) -> Result<(), Error> {
    drop(fft);
    fft.forward(stream, x, y)
}

fn main() {}
