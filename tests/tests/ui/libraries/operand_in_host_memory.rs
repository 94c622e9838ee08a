// A transform of host memory.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::Fft;

fn step(fft: &mut Plan<Fft<f32>>, stream: &Stream<'_>, y: &mut Tensor<Complex<f32>>) -> Result<(), Error> {
    let x = vec![Complex::new(1.0_f32, 0.0); 8];
    fft.forward(stream, &x, y)
}

fn main() {}
