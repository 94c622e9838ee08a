//! Fourier transforms of messages.

use std::fmt;

use streamflow::memory::Complex;

use crate::{Plan, fft};
use streamflow::Compute;
use streamflow::ExecutionContext;
use streamflow::Result;
use streamflow::operator;
use streamflow::{Element, Tensor};

/// An operator that transforms each message, with a plan that is made in `start`.
///
/// ```
/// # use streamflow::prelude::*;
/// # use streamflow_math::fft;
/// # use streamflow::memory::Complex;
/// # use streamflow::operators::{Inspect, Window};
/// # use streamflow_math::operators::Fft;
/// # #[operator(streams(work))] struct Antenna { #[output] samples: Tensor<Complex<f32>> }
/// # impl Compute for Antenna {
/// #     fn compute(&mut self, io: AntennaIo<'_>, cx: &ExecutionContext) -> Result<()> {
/// #         let stream = cx.allocate_cuda_stream(io.work)?;
/// #         let mut samples = cx.tensor([16, 256], &stream)?;
/// #         stream.fill_bytes(&mut samples, 0)?;
/// #         io.samples.set_cuda_stream(&stream).emit(samples)
/// #     }
/// # }
/// graph! {
///     struct Spectra {
///         #[when(count(2))]
///         let antenna: Antenna = Antenna::new();
///         let window: Window<Complex<f32>> = Window::hann(256);
///         let fft: Fft<f32> = Fft::forward(fft::Fft::plan(256).batch(16));
///         let look: Inspect<Tensor<Complex<f32>>> = Inspect::new();
///         antenna.samples >> window.signal;
///         window.windowed >> fft.signal;
///         fft.spectrum >> look.message;
///     }
/// }
/// # fn main() -> Result<()> {
/// Spectra::new(&Platform::host().build()?)?.run()?;
/// # Ok(())
/// # }
/// ```
///
/// The plan needs a stream that belongs to the operator, so its node has a pool of streams, and not `#[streams(none)]`.
#[operator(no_new, unlisted)]
pub struct Fft<T: fft::Real>
where
    Complex<T>: Element,
{
    /// The numbers to transform.
    #[input]
    signal: &Tensor<Complex<T>>,
    /// The transforms of the numbers, in the same shape.
    #[output]
    spectrum: Tensor<Complex<T>>,
    planner: fft::Planner<fft::Fft<T>>,
    is_inverse: bool,
    plan: Option<Plan<fft::Fft<T>>>,
}

impl<T: fft::Real> Fft<T>
where
    Complex<T>: Element,
{
    /// Creates an operator that transforms forwards.
    pub fn forward(planner: fft::Planner<fft::Fft<T>>) -> Self {
        Self { planner, is_inverse: false, plan: None }
    }

    /// Creates an operator that transforms inversely.
    pub fn inverse(planner: fft::Planner<fft::Fft<T>>) -> Self {
        Self { planner, is_inverse: true, plan: None }
    }
}

#[diagnostic::do_not_recommend]
impl<T: fft::Real> Compute for Fft<T>
where
    Complex<T>: Element,
{
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        self.plan = Some(self.planner.clone().on(cx, &stream)?);
        Ok(())
    }

    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive().receive_cuda_stream(cx)?;
        let mut spectrum = cx.tensor(signal.shape(), &stream)?;
        if let Some(plan) = &mut self.plan {
            if self.is_inverse {
                plan.inverse(&stream, signal, &mut spectrum)?;
            } else {
                plan.forward(&stream, signal, &mut spectrum)?;
            }
        }
        io.spectrum.emit(spectrum)
    }
}

impl<T: fft::Real> fmt::Debug for Fft<T>
where
    Complex<T>: Element,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fft").field("planner", &self.planner).finish_non_exhaustive()
    }
}
