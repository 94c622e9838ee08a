//! The workload of products of dense matrices.

use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::matmul::{EpilogueElement, Matmul};

use super::{Problem, Values, Workload, of_another_kind};

struct Product<T: EpilogueElement> {
    plan: Plan<Matmul<T>>,
    a: Tensor<T>,
    b: Tensor<T>,
    c: Tensor<T>,
    values: fn(Vec<T>) -> Values,
}

pub(super) fn matmul(
    problem: &Problem,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Box<dyn Workload>> {
    let [_, m, n, k, batch] = problem.sizes[..] else { return Err(of_another_kind()) };
    let sizes = [m, n, k, batch];
    match &problem.inputs[..] {
        [Values::F32(a), Values::F32(b)] => product(sizes, (a, b), Values::F32, cx, stream),
        [Values::Bf16(a), Values::Bf16(b)] => product(sizes, (a, b), Values::Bf16, cx, stream),
        _ => Err(of_another_kind()),
    }
}

fn product<T: EpilogueElement>(
    [m, n, k, batch]: [usize; 4],
    (a, b): (&[T], &[T]),
    values: fn(Vec<T>) -> Values,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Box<dyn Workload>> {
    let (a, b, mut planner) = (cx.upload(a)?, cx.upload(b)?, Matmul::<T>::plan(m, n, k));
    let (a, b, c) = if batch == 1 {
        (a.reshape([m, k])?, b.reshape([k, n])?, cx.tensor([m, n], stream)?)
    } else {
        planner = planner.batch(batch);
        let c = cx.tensor([batch, m, n], stream)?;
        (a.reshape([batch, m, k])?, b.reshape([batch, k, n])?, c)
    };
    Ok(Box::new(Product { plan: planner.on(cx, stream)?, a, b, c, values }))
}

impl<T: EpilogueElement> Workload for Product<T> {
    fn call(&mut self, stream: &Stream<'_>) -> Result<()> {
        Ok(self.plan.execute(stream, &self.a, &self.b, &mut self.c)?)
    }

    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values> {
        Ok((self.values)(stream.download_blocking(&self.c)?))
    }
}
