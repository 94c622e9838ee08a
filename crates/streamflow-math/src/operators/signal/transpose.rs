//! `Transpose`: tensors with their axes in another order.

use std::fmt;
use std::marker::PhantomData;

use streamflow::{Compute, Element, ExecutionContext, Failure, Result, Tensor, operator};

use crate::signal::kernels::permute;

/// The most axes of a tensor.
const MOST: usize = 4;

/// Permutes the axes of tensors, as NumPy's `transpose(a, axes)`: axis `i` of the result is axis `axes[i]` of the input. The
/// elements are copied to their new places, so the result is in rows as all tensors are.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Transpose;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let mut turned = OperatorHarness::new(&platform, Transpose::<f32>::new([1, 0])?)?;
/// let matrix = platform.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?.reshape([2, 3])?;
/// turned.push(|ports| &mut ports.tensor, matrix)?;
/// turned.tick()?;
/// let sent = turned.take(|ports| &mut ports.transposed).expect("it sends a tensor in each tick");
/// assert_eq!(sent.message.shape(), [3, 2]);
/// assert_eq!(turned.stream().download_blocking::<f32>(&*sent.message)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok(turned.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Transpose<T: Element> {
    /// The tensor, with as many dimensions as the operator has axes.
    #[input]
    tensor: &Tensor<T>,
    /// The tensor with its axes in the new order.
    #[output]
    transposed: Tensor<T>,
    axes: [usize; MOST],
    rank: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Element> Transpose<T> {
    /// Creates an operator with this order of 1 to 4 axes.
    ///
    /// # Errors
    /// An error for another number of axes, and for axes that are not each number from 0 on once.
    pub fn new(axes: impl AsRef<[usize]>) -> Result<Self> {
        let axes = axes.as_ref();
        let rank = axes.len();
        let is_permutation = (0..rank).all(|axis| axes.contains(&axis));
        if rank == 0 || rank > MOST || !is_permutation {
            return Err(Failure::msg(format!(
                "`Transpose` has the axes {axes:?}; give it 1 to {MOST} axes, and each of the numbers below their number once"
            )));
        }
        let mut all = [0; MOST];
        all[..rank].copy_from_slice(axes);
        Ok(Self { axes: all, rank, of: PhantomData })
    }

    fn axes(&self) -> &[usize] {
        &self.axes[..self.rank]
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> Compute for Transpose<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive_with_stream(cx)?;
        let (shape, strides) = (tensor.shape(), tensor.strides());
        if shape.len() != self.rank {
            return Err(other_rank(self.axes(), shape));
        }
        // Missing axes are before the others, with a length of 1.
        let (mut lengths, mut steps) = ([1; MOST], [0; MOST]);
        let first = MOST - self.rank;
        for (to, axis) in self.axes().iter().enumerate() {
            (lengths[first + to], steps[first + to]) = (shape[*axis], strides[*axis]);
        }
        let mut transposed = cx.tensor(&lengths[first..], &stream)?;
        let ([_, n1, n2, n3], [s0, s1, s2, s3]) = (lengths, steps);
        stream.launch::<permute<T>>(
            tensor.len(),
            (&mut transposed, tensor, n1, n2, n3, s0, s1, s2, s3),
        )?;
        io.transposed.emit(transposed)
    }
}

#[cold]
fn other_rank(axes: &[usize], shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Transpose` has the axes {axes:?}, and its input `tensor` received the shape {shape:?}; send {} dimensions",
        axes.len()
    ))
}

impl<T: Element> fmt::Debug for Transpose<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transpose").field("axes", &self.axes()).finish_non_exhaustive()
    }
}
