//! The calls of libraries that an operator makes.
//!
//! A wait is for all that another stream has done by then. So a claim is needed only where no other claim, and no allocation,
//! waits for the same stream: operands and results are kept from tick to tick, and in each program one of them alone has work
//! on two streams.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::{InverseRealFft, RealFft};
use streamflow_math::matmul::{Bias, Blas, Matmul};
use streamflow_tests::layers::mutate::{AddOne, Axpy, Fill, SlowCopy};

use super::plan::{self, Calls, LEN, SHAPE, Short};

/// The plans of an operator, and the values that it keeps. All work is on the internal stream, except the inverse
/// of [`Calls::Transform`].
#[derive(Default)]
pub(crate) struct Plans {
    blas: Option<Plan<Blas<f32>>>,
    there: Option<Plan<RealFft<f32>>>,
    back: Option<Plan<InverseRealFft<f32>>>,
    product: Option<Plan<Matmul<f32, Bias>>>,
    kept: Option<Kept>,
}

/// Tensors that the operator keeps from tick to tick.
struct Kept {
    spectrum: Tensor<Complex<f32>>,
    result: Tensor<f32>,
    weight: Tensor<f32>,
    bias: Tensor<f32>,
}

impl Kept {
    fn new(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let mut made = Self {
            spectrum: cx.tensor([LEN / 2 + 1], stream)?,
            result: cx.tensor(SHAPE, stream)?,
            weight: cx.tensor([1, 1], stream)?,
            bias: cx.tensor([1], stream)?,
        };
        stream.launch::<Fill>(LEN, (&mut made.result, 0.0))?;
        stream.launch::<Fill>(1, (&mut made.weight, 1.0))?;
        stream.launch::<Fill>(1, (&mut made.bias, 0.0))?;
        Ok(made)
    }
}

/// Returns the plan that exists already, or makes one.
fn made<P>(plan: &mut Option<P>, make: impl FnOnce() -> Result<P, Error>) -> Result<&mut P> {
    Ok(match plan {
        Some(plan) => plan,
        none => none.insert(make()?),
    })
}

impl Plans {
    /// Returns `src + 1`, computed on the internal stream.
    pub(crate) fn add_one(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        src: &Tensor<f32>,
    ) -> Result<Tensor<f32>> {
        let blas = made(&mut self.blas, || Blas::on(cx, stream))?;
        let mut out = cx.tensor(SHAPE, stream)?;
        stream.launch::<Fill>(LEN, (&mut out, 1.0))?;
        blas.axpy(stream, 1.0, src, &mut out)?;
        Ok(out)
    }

    /// Makes the calls of a tick. Returns the message, which is on the extra stream.
    pub(crate) fn call(
        &mut self,
        calls: Calls,
        cx: &ExecutionContext,
        (stream, extra): (&Stream<'_>, &Stream<'_>),
        src: &Tensor<f32>,
    ) -> Result<Tensor<f32>> {
        let Self { blas, there, back, product, kept } = self;
        let Kept { spectrum, result, weight, bias } =
            made(kept, || Kept::new(cx, stream).map_err(Error::from))?;
        match calls {
            Calls::Sum => {
                let blas = made(blas, || Blas::on(cx, stream))?;
                blas.axpy(stream, 1.0, src, result)?;
            }
            Calls::Transform | Calls::Spectrum => {
                let on = if calls == Calls::Spectrum { extra } else { stream };
                let there = made(there, || RealFft::plan(LEN).on(cx, stream))?;
                let back = made(back, || InverseRealFft::plan(LEN).on(cx, on))?;
                there.forward(stream, src, spectrum)?;
                back.inverse(on, spectrum, result)?;
            }
            Calls::Product | Calls::Weight | Calls::Bias => {
                if calls == Calls::Weight {
                    extra.launch::<Fill>(1, (&mut *weight, plan::Plan::weight(cx.tick())))?;
                } else if calls == Calls::Bias {
                    extra.launch::<Fill>(1, (&mut *bias, plan::Plan::bias(cx.tick())))?;
                }
                let product = made(product, || Matmul::plan(LEN, 1, 1).bias().on(cx, stream))?;
                product.execute(stream, src, weight, bias, result)?;
            }
            Calls::Dropped(short) => return self.drop_after(short, cx, (stream, extra), src),
        }
        // If the operands are of two streams, the result is only of one.
        let on = if matches!(calls, Calls::Weight | Calls::Bias) { stream } else { extra };
        let mut out = cx.tensor(SHAPE, on)?;
        on.launch::<SlowCopy>(LEN, (&mut out, result, 0))?;
        Ok(out)
    }

    /// Returns `2 r + 3 (src + 1)`, where `r` is the result of a plan that was made in the tick before and is then
    /// dropped.
    fn drop_after(
        &mut self,
        short: Short,
        cx: &ExecutionContext,
        (stream, extra): (&Stream<'_>, &Stream<'_>),
        src: &Tensor<f32>,
    ) -> Result<Tensor<f32>> {
        let mut next = Self::default();
        match short {
            Short::Forward => next.there = Some(RealFft::plan(LEN).on(cx, stream)?),
            Short::Inverse => next.back = Some(InverseRealFft::plan(LEN).on(cx, stream)?),
            Short::Product => next.product = Some(Matmul::plan(LEN, 1, 1).bias().on(cx, stream)?),
            Short::Sum => next.blas = Some(Blas::on(cx, stream)?),
        }
        let Self { blas, there, back, product, kept } = self;
        let Some(Kept { spectrum, result, weight, bias }) = kept else {
            return Err(Failure::msg("they are made"));
        };
        match short {
            Short::Forward | Short::Inverse => {
                let there = made(there, || RealFft::plan(LEN).on(cx, stream))?;
                let back = made(back, || InverseRealFft::plan(LEN).on(cx, stream))?;
                // These fills delay the call on the stream.
                for _ in 0..4 {
                    stream.launch::<Fill>(LEN, (&mut *result, 0.0))?;
                }
                there.forward(stream, src, spectrum)?;
                back.inverse(stream, spectrum, result)?;
            }
            Short::Product => {
                let product = made(product, || Matmul::plan(LEN, 1, 1).bias().on(cx, stream))?;
                product.execute(stream, src, weight, bias, result)?;
            }
            Short::Sum => {
                let blas = made(blas, || Blas::on(cx, stream))?;
                stream.launch::<Fill>(LEN, (&mut *result, 0.0))?;
                blas.axpy(stream, 1.0, src, result)?;
            }
        }
        // In the tick before, the extra stream has come after the allocation of the dropped plan, by way of the result.
        match short {
            Short::Forward => *there = next.there,
            Short::Inverse => *back = next.back,
            Short::Product => *product = next.product,
            Short::Sum => *blas = next.blas,
        }
        // One of these tensors may get the memory of the work area. If the call came later, it would overwrite the
        // tensor.
        let mut others = Vec::new();
        for _ in 0..3 {
            let mut other = cx.tensor(SHAPE, extra)?;
            extra.launch::<SlowCopy>(LEN, (&mut other, src, 0))?;
            extra.launch::<AddOne>(LEN, (&mut other,))?;
            others.push(other);
        }
        let mut sum = cx.tensor(SHAPE, extra)?;
        extra.launch::<Axpy>(LEN, (&mut sum, 2.0, &*result, &others[0]))?;
        for other in &others[1..] {
            let mut more = cx.tensor(SHAPE, extra)?;
            extra.launch::<Axpy>(LEN, (&mut more, 1.0, other, &sum))?;
            sum = more;
        }
        Ok(sum)
    }
}
