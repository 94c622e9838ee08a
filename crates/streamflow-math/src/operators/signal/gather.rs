//! `Gather`: elements of an axis in the order of indices.

use std::fmt;
use std::marker::PhantomData;

use streamflow::{
    Buffer, Compute, Element, ExecutionContext, Failure, Result, Stream, Tensor, operator,
};

use crate::signal::kernels::take;
use crate::signal::{Index, checks};

/// Takes elements along an axis by their indices, as NumPy's `take(data, indices, axis)`: the axis is replaced by the dimensions of
/// the indices. An index below 0 counts from the end.
///
/// An index beyond the axis gives 0, and a later call returns
/// [`Error::IndexOutOfRange`](streamflow::Error::IndexOutOfRange), as for a table of a kernel. Its text names the kernel,
/// as `gather_i32`, the table `axis`, and the axis' length. With [`clamp`](Self::clamp), indices below 0 and beyond the axis are those of
/// its ends, as NumPy's `mode="clip"`.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Gather;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let mut columns = OperatorHarness::new(&platform, Gather::<f32, i32>::along(1))?;
/// let matrix = platform.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?.reshape([2, 3])?;
/// columns.push(|ports| &mut ports.data, matrix)?;
/// columns.push(|ports| &mut ports.indices, platform.upload(&[2, 0, -1])?)?;
/// columns.tick()?;
/// let sent = columns.take(|ports| &mut ports.taken).expect("it sends a tensor in each tick");
/// assert_eq!(columns.stream().download_blocking::<f32>(&*sent.message)?, [3.0, 1.0, 3.0, 6.0, 4.0, 6.0]);
/// # Ok(columns.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Gather<T: Element, I: Index> {
    /// The elements.
    #[input]
    data: &Tensor<T>,
    /// The indices, of any shape.
    #[input]
    indices: &Tensor<I>,
    /// The elements at the indices.
    #[output]
    taken: Tensor<T>,
    axis: usize,
    clamps: bool,
    /// As many zeros as the axis has elements. Each index reads its zero, which reports one that is not there.
    zeros: Option<Buffer<u8>>,
    of: PhantomData<fn() -> (T, I)>,
}

impl<T: Element, I: Index> Gather<T, I> {
    /// Creates an operator for this axis, counted from 0.
    pub fn along(axis: usize) -> Self {
        Self { axis, clamps: false, zeros: None, of: PhantomData }
    }

    /// Takes the element at the nearest end for an index that is not there.
    #[must_use = "it returns the operator with this rule"]
    pub fn clamp(self) -> Self {
        Self { clamps: true, ..self }
    }

    /// Makes zeros for an axis of this length, unless they are there. With clamps, no index reads any.
    fn prepare(&mut self, cx: &ExecutionContext, on: &Stream<'_>, len: usize) -> Result<()> {
        let needed = if self.clamps { 0 } else { len };
        if self.zeros.as_ref().is_none_or(|zeros| zeros.len() != needed) {
            let mut zeros = cx.buffer(needed, on)?;
            on.fill_bytes(&mut zeros, 0)?;
            self.zeros = Some(zeros);
        }
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element, I: Index> Compute for Gather<T, I> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, _) = io.data.receive_with_stream(cx)?;
        let (indices, stream) = io.indices.receive_with_stream(cx)?;
        let shape = data.shape();
        let Some(&len) = shape.get(self.axis) else {
            return Err(no_axis(self.axis, shape));
        };
        let mut taken = cx.tensor(checks::replaced(shape, self.axis, indices.shape())?, &stream)?;
        if taken.is_empty() {
            return io.taken.emit(taken);
        }
        if len == 0 {
            return Err(no_elements(self.axis, shape, indices.shape()));
        }
        self.prepare(cx, &stream, len)?;
        let inner = shape[self.axis + 1..].iter().product();
        if let Some(zeros) = &self.zeros {
            let mut places = cx.tensor([indices.len()], &stream)?;
            I::place(&stream, &mut places, indices, len as u64, self.clamps, zeros)?;
            stream.launch::<take<T>>(
                taken.len(),
                (&mut taken, data, &places, len, inner, T::default()),
            )?;
        }
        io.taken.emit(taken)
    }
}

#[cold]
fn no_axis(axis: usize, shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Gather` works along axis {axis}, and its input `data` received a tensor of the shape {shape:?}; send more dimensions, or make it \
         for an axis below {}",
        shape.len()
    ))
}

#[cold]
fn no_elements(axis: usize, shape: &[usize], indices: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Gather` has no elements along axis {axis} of the shape {shape:?} of `data`, and its input `indices` received the shape \
         {indices:?}; send data with elements, or no indices"
    ))
}

impl<T: Element, I: Index> fmt::Debug for Gather<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather")
            .field("axis", &self.axis)
            .field("clamps", &self.clamps)
            .finish_non_exhaustive()
    }
}
