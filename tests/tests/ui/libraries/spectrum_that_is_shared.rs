// A transform to real numbers of a spectrum with other readers: the library overwrites it.
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::InverseRealFft;

fn step(
    fft: &mut Plan<InverseRealFft<f32>>,
    stream: &Stream<'_>,
    spectrum: &Tensor<Complex<f32>>,
    y: &mut Tensor<f32>,
) -> Result<(), Error> {
    fft.inverse(stream, spectrum, y)
}

fn main() {}
