//! The workload of Fourier transforms.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::Fft;

use super::{Problem, Values, Workload, of_another_kind};

struct Transform {
    plan: Plan<Fft<f32>>,
    x: Tensor<Complex<f32>>,
    y: Tensor<Complex<f32>>,
}

pub(super) fn fft(
    problem: &Problem,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Box<dyn Workload>> {
    let [Values::C64(input)] = &problem.inputs[..] else { return Err(of_another_kind()) };
    let planner = match problem.sizes[..] {
        [batch, n] => Fft::plan([n]).batch(batch),
        [batch, rows, columns] => Fft::plan([rows, columns]).batch(batch),
        _ => return Err(of_another_kind()),
    };
    let (plan, y) = (planner.on(cx, stream)?, cx.tensor([input.len()], stream)?);
    Ok(Box::new(Transform { plan, x: cx.upload(input)?, y }))
}

impl Workload for Transform {
    fn call(&mut self, stream: &Stream<'_>) -> Result<()> {
        Ok(self.plan.forward(stream, &self.x, &mut self.y)?)
    }

    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values> {
        Ok(Values::C64(stream.download_blocking(&self.y)?))
    }
}
