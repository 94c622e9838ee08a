// An execution before the plan is made.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::Fft;

fn step(
    stream: &Stream<'_>,
    x: &Tensor<Complex<f32>>,
    y: &mut Tensor<Complex<f32>>,
) -> Result<(), Error> {
    let mut fft = Fft::<f32>::plan([8]);
    fft.forward(stream, x, y)
}

fn main() {}
