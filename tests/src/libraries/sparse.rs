//! The workload of products with sparse matrices.

use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::sparse::{Csr, SpMv};

use super::{Problem, Values, Workload, of_another_kind};

struct Product {
    matrix: Csr<f32>,
    plan: Plan<SpMv<f32>>,
    x: Tensor<f32>,
    y: Tensor<f32>,
}

pub(super) fn spmv(
    problem: &Problem,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Box<dyn Workload>> {
    let (
        [rows, columns, _],
        [Values::I32(offsets), Values::I32(indices), Values::F32(values), Values::F32(x)],
    ) = (&problem.sizes[..], &problem.inputs[..])
    else {
        return Err(of_another_kind());
    };
    let matrix = Csr::upload(cx, [*rows, *columns], offsets, indices, values)?;
    let plan = SpMv::plan(&matrix).on(cx, stream)?;
    Ok(Box::new(Product { matrix, plan, x: cx.upload(x)?, y: cx.tensor([*rows], stream)? }))
}

impl Workload for Product {
    fn call(&mut self, stream: &Stream<'_>) -> Result<()> {
        let Self { matrix, plan, x, y } = self;
        Ok(plan.execute(stream, matrix, x, y)?)
    }

    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values> {
        Ok(Values::F32(stream.download_blocking(&self.y)?))
    }
}
