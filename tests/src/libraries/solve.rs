//! The workload of factors of dense matrices.

use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::solve::{Checked, Cholesky};

use super::{Problem, Values, Workload, of_another_kind};

/// A workload in which each call overwrites one copy of the matrix.
struct Factor {
    plan: Plan<Cholesky<f64>>,
    matrix: Tensor<f64>,
    copies: Vec<Option<Checked<Tensor<f64>>>>,
    next: usize,
}

pub(super) fn cholesky(
    problem: &Problem,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Box<dyn Workload>> {
    let ([n], [Values::F64(matrix)]) = (&problem.sizes[..], &problem.inputs[..]) else {
        return Err(of_another_kind());
    };
    let matrix = cx.upload(matrix)?.reshape([*n, *n])?;
    let plan = Cholesky::plan(*n).on(cx, stream)?;
    Ok(Box::new(Factor { plan, matrix, copies: Vec::new(), next: 0 }))
}

impl Workload for Factor {
    fn prepare(&mut self, calls: usize, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
        while self.copies.len() < calls {
            let copy = cx.tensor(self.matrix.shape(), stream)?;
            self.copies.push(Some(Checked::new(copy, cx, stream)?));
        }
        for slot in &mut self.copies {
            if let Some(factored) = slot.take() {
                *slot = Some(factored.then(|mut copy| {
                    stream.copy(&self.matrix, &mut copy)?;
                    Ok(copy)
                })?);
            }
        }
        self.next = 0;
        Ok(())
    }

    fn call(&mut self, stream: &Stream<'_>) -> Result<()> {
        let Some(Some(matrix)) = self.copies.get_mut(self.next) else {
            return Err(Failure::msg("more calls than were prepared"));
        };
        self.next += 1;
        Ok(self.plan.factor_in_place(stream, matrix)?)
    }

    fn result_blocking(&self, stream: &Stream<'_>) -> Result<Values> {
        let Some(Some(factored)) = self.copies.first() else {
            return Err(Failure::msg("no call was made"));
        };
        Ok(Values::F64(factored.download(stream)?.wait_blocking()?.to_vec()))
    }
}
