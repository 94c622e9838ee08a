//! Calls of libraries on messages, with plans that a node keeps.
//!
//! Each printed graph contains this file.

use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::{InverseRealFft, RealFft};
use streamflow_math::matmul::{Bias, Matmul};

use super::item::Item;
use crate::programs::pieces::{Reads, Section, Writes, cycles};
use streamflow_tests::kernels::{self, mixing};

/// Library plans for data of one length, on two streams.
pub(crate) struct Plans {
    len: usize,
    product: Plan<Matmul<f32, Bias>>,
    there: Plan<RealFft<f32>>,
    back: Plan<InverseRealFft<f32>>,
}

impl Plans {
    fn new(
        cx: &ExecutionContext,
        (s, other): (&Stream<'_>, &Stream<'_>),
        len: usize,
    ) -> Result<Self> {
        Ok(Self {
            len,
            product: Matmul::plan(len, 1, 1).bias().on(cx, s)?,
            there: RealFft::plan(len).on(cx, other)?,
            back: InverseRealFft::plan(len).on(cx, s)?,
        })
    }
}

/// Returns new data, computed by a product on `s`, a transform on `other`, and the inverse transform on `s`, or
/// `None` without input data. Plans for another length or for other streams are dropped, perhaps while their work
/// runs.
pub(crate) fn calculated(
    cx: &ExecutionContext,
    streams: (&Stream<'_>, &Stream<'_>),
    plans: &mut Option<Plans>,
    from: &Section<'_>,
    how: (u32, bool),
) -> Result<Option<Item>> {
    let len = from.value().len();
    if len == 0 {
        return Ok(None);
    }
    let fitting = match plans.take() {
        Some(plans) if plans.len == len => plans,
        _ => Plans::new(cx, streams, len)?,
    };
    match calculate(cx, streams, plans.insert(fitting), from, how) {
        Err(failure) if is_other_stream(&failure) => {
            let again = plans.insert(Plans::new(cx, streams, len)?);
            calculate(cx, streams, again, from, how).map(Some)
        }
        done => done.map(Some),
    }
}

fn is_other_stream(failure: &Failure) -> bool {
    matches!(failure.downcast_ref::<Error>(), Some(Error::OtherStream { .. }))
}

fn calculate(
    cx: &ExecutionContext,
    (s, other): (&Stream<'_>, &Stream<'_>),
    plans: &mut Plans,
    from: &Section<'_>,
    (tag, slow): (u32, bool),
) -> Result<Item> {
    let Plans { len, product, there, back } = plans;
    let (len, wait) = (*len, cycles(slow));
    let (factor, summand) = (1 + tag % 4, tag % 8);
    let (mut x, mut y) = (cx.tensor([len, 1], s)?, cx.tensor([len, 1], s)?);
    let (mut weight, mut bias) = (cx.tensor([1, 1], s)?, cx.tensor([1], s)?);
    let mut spectrum = cx.tensor([len / 2 + 1], other)?;
    let mut z = cx.tensor([len], s)?;
    // Only one operand is written on the other stream, so that no wait for another operand orders that write.
    let on = |operand| if tag % 3 == operand { other } else { s };
    on(0).launch::<mixing::numbers>(len, (&mut x, from.data(), wait))?;
    on(1).launch::<kernels::fill>(1, (&mut weight, factor as f32))?;
    on(2).launch::<kernels::fill>(1, (&mut bias, summand as f32))?;
    product.execute(s, &x, &weight, &bias, &mut y)?;
    there.forward(other, &y, &mut spectrum)?;
    back.inverse(s, &mut spectrum, &mut z)?;
    let mut item = Item::new(cx.platform(), other, len)?;
    let (data, value) = item.parts();
    other.launch::<mixing::from_numbers>(len, (data, &z, len as f32, tag, wait))?;
    for (i, (value, from)) in value.iter_mut().zip(from.value()).enumerate() {
        let number = (from & mixing::NUMBER) * factor + summand;
        *value = mixing::element(mixing::step(tag, number), i);
    }
    Ok(item)
}
