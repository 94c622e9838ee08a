//! `Reduce`: one number from many, along an axis or of all elements.

use std::fmt;
use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::{Failure, Result};
use crate::kernel::combine::ScanKernel;
use crate::kernel::reduce::ReduceKernel;
use crate::memory::Tensor;
use crate::operator::Compute;
use streamflow_macros::operator;

/// The most dimensions of the input of a reduction.
const MOST_DIMENSIONS: usize = 4;

/// Reduces each tensor by [`reduce_axis`](crate::CudaStream::reduce_axis) or [`reduce`](crate::CudaStream::reduce). `R` is one of
/// [`reductions`](crate::kernel::reductions), as `Mean<f32>`, or a function with `#[kernel(reduce(identity = …))]`: its
/// documentation has the result for NaN and for no elements.
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::kernel::reductions::ArgMax;
/// use streamflow::operators::{self, Deliver, Reduce, Upload};
///
/// # #[operator]
/// # struct Scores {
/// #     #[output]
/// #     scores: HostData<Vec<f32>>,
/// # }
/// # impl Compute for Scores {
/// #     fn compute(&mut self, io: ScoresIo<'_>, _: &ExecutionContext) -> Result<()> {
/// #         io.scores.emit(HostData(vec![0.5, 0.25, 0.125, 0.0, 0.25, 0.75]))
/// #     }
/// # }
/// graph! {
///     /// The best of three classes, of two samples in each message.
///     struct Classes(seen: std::sync::mpsc::Sender<Vec<u64>>) {
///         #[when(count(1))]
///         let scores: Scores = Scores::new();
///         let upload: Upload<f32> = Upload::with_shape([2, 3])?;
///         let best: Reduce<ArgMax<f32>> = Reduce::along(1);
///         let download: operators::Download<u64> = operators::Download::new();
///         #[when(host_done(message))]
///         let deliver: Deliver<Download<u64>> =
///             Deliver::new(move |best: &Download<u64>| Ok(seen.send(best.wait_blocking()?.to_vec())?));
///         scores.scores >> upload.data;
///         upload.tensor >> best.data;
///         best.reduced >> download.tensor;
///         download.data >> deliver.message;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let (seen, classes) = std::sync::mpsc::channel();
/// Classes::new(&Platform::detect()?, seen)?.run()?;
/// assert_eq!(classes.iter().collect::<Vec<_>>(), [[0, 2]]);
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Reduce<R: ReduceKernel> {
    /// The elements, with 1 to 4 dimensions.
    #[input]
    data: &Tensor<<R::Function as ScanKernel>::Input>,
    /// The results. The shape is that of the input without the axis; of all elements it is `[1]`.
    #[output]
    reduced: Tensor<<R::Function as ScanKernel>::Output>,
    axis: Option<usize>,
    of: PhantomData<fn() -> R>,
}

impl<R: ReduceKernel> Reduce<R> {
    /// Creates an operator that reduces along this axis, counted from 0.
    pub fn along(axis: usize) -> Self {
        Self { axis: Some(axis), of: PhantomData }
    }

    /// Creates an operator that reduces all elements of a tensor to one.
    pub fn all() -> Self {
        Self { axis: None, of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<R: ReduceKernel> Compute for Reduce<R> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive_with_stream(cx)?;
        let Some(axis) = self.axis else {
            let mut reduced = cx.tensor([1], &stream)?;
            stream.reduce::<R>(&mut reduced, data)?;
            return io.reduced.emit(reduced);
        };
        let shape = data.shape();
        if axis >= shape.len() {
            return Err(no_axis(axis, shape));
        }
        // An input with more dimensions is refused by `reduce_axis`.
        let mut kept = [1; MOST_DIMENSIONS];
        let others = shape.iter().enumerate().filter(|(index, _)| *index != axis);
        kept.iter_mut().zip(others).for_each(|(kept, (_, length))| *kept = *length);
        let dimensions = (shape.len() - 1).clamp(1, MOST_DIMENSIONS);
        let mut reduced = cx.tensor(&kept[..dimensions], &stream)?;
        stream.reduce_axis::<R>(&mut reduced, data, axis)?;
        io.reduced.emit(reduced)
    }
}

#[cold]
fn no_axis(axis: usize, shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Reduce` works along axis {axis}, and its input `data` received a tensor of the shape {shape:?}; send more dimensions, or make it \
         for an axis below {}",
        shape.len()
    ))
}

impl<R: ReduceKernel> fmt::Debug for Reduce<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduce").field("axis", &self.axis).finish_non_exhaustive()
    }
}
