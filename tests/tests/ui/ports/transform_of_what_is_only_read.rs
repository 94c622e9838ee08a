//! cuFFT overwrites the input of a transform to real numbers. Other operators may receive the message, too.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::InverseRealFft;

#[operator]
struct ToReal {
    #[input]
    spectrum: &Tensor<Complex<f32>>,
    #[output]
    samples: Tensor<f32>,
    fft: Plan<InverseRealFft<f32>>,
}

impl Compute for ToReal {
    fn compute(&mut self, io: ToRealIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (spectrum, stream) = io.spectrum.receive().receive_cuda_stream(cx)?;
        let mut samples = cx.tensor([1024], &stream)?;
        self.fft.inverse(&stream, spectrum, &mut samples)?;
        io.samples.emit(samples)
    }
}

#[operator]
struct ToRealOfShared {
    #[input]
    spectrum: Shared<Tensor<Complex<f32>>>,
    #[output]
    samples: Tensor<f32>,
    fft: Plan<InverseRealFft<f32>>,
}

impl Compute for ToRealOfShared {
    fn compute(&mut self, io: ToRealOfSharedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut spectrum, stream) = io.spectrum.receive().receive_cuda_stream(cx)?;
        let mut samples = cx.tensor([1024], &stream)?;
        self.fft.inverse(&stream, &mut spectrum, &mut samples)?;
        io.samples.emit(samples)
    }
}

fn main() {}
