//! The operator that multiplies two matrices.

use std::marker::PhantomData;

use crate::matmul::{MatmulElement, multiply};
use streamflow::Compute;
use streamflow::ExecutionContext;
use streamflow::Result;
use streamflow::Tensor;
use streamflow::operator;

/// An operator that multiplies two matrices, or two batches of matrices: `c = a b`. The first tick of each
/// shape makes a plan.
///
/// For a bias, an activation or a matrix that is the same in each tick, write an operator with a plan: the
/// [module](crate::matmul) has an example.
#[operator(no_new, unlisted)]
pub struct Matmul<T: MatmulElement> {
    /// The left matrix, `[m, k]`, or a batch of left matrices, `[batch, m, k]`.
    #[input]
    a: &Tensor<T>,
    /// The right matrix, `[k, n]`, or a batch of right matrices, `[batch, k, n]`.
    #[input]
    b: &Tensor<T>,
    /// The product, `[m, n]`, or the products of a batch, `[batch, m, n]`.
    #[output]
    c: Tensor<T>,
    of: PhantomData<fn() -> T>,
}

impl<T: MatmulElement> Matmul<T> {
    /// Creates the operator.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<T: MatmulElement> Compute for Matmul<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, _) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, stream) = io.b.receive().receive_cuda_stream(cx)?;
        let c = multiply(cx, &stream, a, b)?;
        io.c.emit(c)
    }
}
