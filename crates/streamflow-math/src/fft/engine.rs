//! The parts that all plans of this module have: the library's plan, and the division of its results.

use streamflow::memory::Complex;

use super::host;
use super::norm::Norm;
use super::real::Real;
use super::real::sealed::Output;
use crate::error::{Result, wrong_operand};
use crate::ffi::cufft::layout::Side;
use crate::ffi::cufft::problem::{Kind, Problem, Sizes};
use crate::ffi::cufft::{Input, Transforms};
use streamflow::CudaStream;
use streamflow::library::Call;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Element};
use streamflow::{ExecutionContext, Stream};

/// A plan of transforms, with the normalisation of their results.
#[derive(Debug)]
pub(super) struct Engine<T> {
    transforms: Transforms<T>,
    problem: Problem,
    norm: Norm,
    /// Whether the plan is for real numbers and their spectrum in the same memory.
    is_in_place: bool,
}

impl<T: Real> Engine<T>
where
    Complex<T>: Element,
{
    pub(super) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        (call, kind): (&'static str, Kind),
        sizes: &Sizes,
        norm: Norm,
    ) -> Result<Self> {
        let problem = Problem::new(call, kind, sizes)?;
        let transforms = Transforms::new(cx, stream, problem, host::body::<T>)?;
        let mut made = Self { transforms, problem, norm, is_in_place: sizes.is_in_place };
        made.warm_up(cx, stream)?;
        Ok(made)
    }

    /// Queues transforms from the memory `input` to the memory `output`.
    #[track_caller]
    pub(super) fn transform<I: Element, O: Element>(
        &mut self,
        stream: &CudaStream,
        is_inverse: bool,
        input: Input<'_, I>,
        output: &mut DeviceSlice<O>,
    ) -> Result<()> {
        let Problem { call, input: from, output: to, .. } = &self.problem;
        if self.is_in_place {
            let problem = "is not used by this plan, which transforms in place: leave `in_place()` out, or call the \
                           function whose name ends with `_in_place`";
            return Err(wrong_operand(call, "y", problem.to_owned()));
        }
        from.check(call, "x", input.len())?;
        to.check(call, "y", output.len())?;
        if let Input::Overwritten(x) = &input {
            Call::needs(&**x)?;
        }
        Call::begins(output, !to.is_dense)?;
        self.transforms.execute(stream, is_inverse, input, output)
    }

    /// Queues transforms of memory that the results replace. The memory's elements have the type of complex numbers.
    #[track_caller]
    pub(super) fn transform_in_place(
        &mut self,
        stream: &CudaStream,
        is_inverse: bool,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let Problem { call, kind, input, output, .. } = &self.problem;
        let refuse = |problem: &str| Err(wrong_operand(call, "data", problem.to_owned()));
        let side = match kind {
            Kind::Complex if input != output => {
                return refuse("is transformed in place, but the plan's layouts are not the same");
            }
            Kind::FromReal | Kind::ToReal if !self.is_in_place => {
                return refuse(
                    "is transformed in place, but the plan has rows of real numbers without room for a spectrum; plan \
                     with `in_place()`",
                );
            }
            Kind::Complex | Kind::FromReal => output,
            Kind::ToReal => input,
        };
        side.check(call, "data", data.len())?;
        Call::needs(data)?;
        self.transforms.execute(stream, is_inverse, Input::<T>::InPlace, data)
    }

    /// Launches the kernel that divides the results, after the transform and on the transform's stream. Launches nothing if the
    /// plan's norm divides by 1.
    #[track_caller]
    pub(super) fn normalize(
        &self,
        stream: &CudaStream,
        is_inverse: bool,
        output: Output<'_, T>,
    ) -> Result<()> {
        let Problem { output: side, batch, .. } = &self.problem;
        match self.norm.factor(self.problem.count(), is_inverse) {
            Some(factor) => T::multiply(stream, output, factor, side, *batch),
            None => Ok(()),
        }
    }

    /// Executes the plan once in `start`, so that all code is loaded before the first tick: a GPU loads code when it is first
    /// used.
    fn warm_up(&mut self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
        let Problem { kind, input, output, batch, .. } = self.problem;
        if self.norm != Norm::None {
            let none = Side { span: 0, ..output };
            match kind {
                Kind::ToReal if !self.is_in_place => {
                    let mut empty = cx.buffer::<T>(0, stream)?;
                    T::multiply(stream, Output::Real(&mut empty), 1.0, &none, 0)?;
                }
                _ => {
                    let mut empty = cx.buffer::<Complex<T>>(0, stream)?;
                    T::multiply(stream, Output::Complex(&mut empty), 1.0, &none, 0)?;
                }
            }
        }
        if batch == 0 || stream.device_info()?.is_simulated {
            return Ok(());
        }
        let zeros = |side: &Side, is_real: bool| -> Result<Buffer<T>> {
            let mut zeros = cx.buffer(side.span * if is_real { 1 } else { 2 }, stream)?;
            stream.fill_bytes(&mut zeros, 0)?;
            Ok(zeros)
        };
        let mut x = zeros(&input, kind == Kind::FromReal && !self.is_in_place)?;
        if self.is_in_place {
            let mut data = if kind == Kind::FromReal { zeros(&output, false)? } else { x };
            return self.transforms.execute(
                stream,
                kind == Kind::ToReal,
                Input::<T>::InPlace,
                &mut data,
            );
        }
        let mut y = zeros(&output, kind == Kind::ToReal)?;
        match kind {
            Kind::ToReal => {
                self.transforms.execute(stream, true, Input::Overwritten(&mut x), &mut y)
            }
            Kind::FromReal => self.transforms.execute(stream, false, Input::Read(&x), &mut y),
            Kind::Complex => {
                self.transforms.execute(stream, false, Input::Read(&x), &mut y)?;
                self.transforms.execute(stream, true, Input::Read(&x), &mut y)
            }
        }
    }
}
