//! `Upload`: host data to a device.

use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::Result as OwnResult;
use crate::error::failure::{Failure, Result};
use crate::memory::{Element, IntoShape, Shape, Tensor};
use crate::message::HostData;
use crate::operator::Compute;
use streamflow_macros::operator;

/// Copies host data to the device, in the order of the messages. The elements are copied to page-locked memory of the pool, and from there
/// while the host does other work, so no tick blocks.
///
/// The operator before it sends a [`HostData`] of a `Vec`, or of another type that has its elements as a slice:
///
/// ```
/// use streamflow::operators::{self, Deliver, Upload};
/// use streamflow::prelude::*;
///
/// /// Makes frames of 2 × 3 pixels.
/// #[operator]
/// struct Frames {
///     #[output]
///     frame: HostData<Vec<f32>>,
/// }
///
/// impl Compute for Frames {
///     fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         io.frame.emit(HostData(vec![cx.tick() as f32; 6]))
///     }
/// }
///
/// #[kernel(map)]
/// fn halve(out: &mut f32, pixel: &f32) {
///     *out = *pixel / 2.0;
/// }
///
/// #[operator(map = halve)]
/// struct Halve {
///     #[input]
///     image: &Tensor<f32>,
///     #[output]
///     half: Tensor<f32>,
/// }
///
/// graph! {
///     struct App(seen: std::sync::mpsc::Sender<f32>) {
///         #[when(count(3))]
///         let frames: Frames = Frames::new();
///         let upload: Upload<f32> = Upload::with_shape([2, 3])?;
///         let halve: Halve = Halve::new();
///         let download: operators::Download<f32> = operators::Download::new();
///         #[when(host_done(message))]
///         let deliver: Deliver<Download<f32>> = Deliver::new(move |image: &Download<f32>| {
///             assert_eq!(image.shape(), [2, 3]);
///             Ok(seen.send(image.wait_blocking()?[5])?)
///         });
///         frames.frame >> upload.data;
///         upload.tensor >> halve.image;
///         halve.half >> download.tensor;
///         #[capacity(2)]
///         download.data >> deliver.message;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let (seen, pixels) = std::sync::mpsc::channel();
/// App::new(&Platform::detect()?, seen)?.run()?;
/// assert_eq!(pixels.iter().collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// The capacities of the edges decide how many ticks are between a source and its results: above, the results of two frames wait for
/// `deliver`, and no node before it blocks. A source that fills page-locked memory itself, without the first copy, calls
/// [`CudaStream::upload`](crate::CudaStream::upload): see [`Pinned`](crate::Pinned).
#[operator(no_new, unlisted, streams(copy))]
#[derive(Debug)]
pub struct Upload<T: Element, D: AsRef<[T]> + Send + Sync + 'static = Vec<T>> {
    /// The elements.
    #[input]
    data: &HostData<D>,
    /// The copy on the device, of the operator's shape, or of one dimension.
    #[output]
    tensor: Tensor<T>,
    shape: Option<Shape>,
    of: PhantomData<fn(D) -> T>,
}

impl<T: Element, D: AsRef<[T]> + Send + Sync + 'static> Upload<T, D> {
    /// Creates an operator whose tensors have one dimension, of the length of the message.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { shape: None, of: PhantomData }
    }

    /// Creates an operator whose tensors have this shape. Each message must have as many elements.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a shape with too many dimensions or elements.
    pub fn with_shape(shape: impl IntoShape) -> OwnResult<Self> {
        Ok(Self { shape: Some(shape.into_shape()?), of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element, D: AsRef<[T]> + Send + Sync + 'static> Compute for Upload<T, D> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let data = io.data.receive().into_data().0.as_ref();
        let stream = cx.allocate_cuda_stream(io.copy)?;
        let mut tensor = match self.shape {
            None => cx.tensor([data.len()], &stream)?,
            Some(shape) if shape.count() == data.len() => cx.tensor(shape, &stream)?,
            Some(shape) => return Err(other_length(&shape, data.len())),
        };
        let mut pinned = cx.pinned(data.len())?;
        // New memory: no copy uses it, so this does not block.
        pinned.as_mut_slice_blocking()?.copy_from_slice(data);
        stream.upload(&pinned, &mut tensor)?;
        io.tensor.set_cuda_stream(&stream).emit(tensor)
    }
}

#[cold]
fn other_length(shape: &Shape, len: usize) -> Failure {
    Failure::msg(format!(
        "`Upload` makes tensors of the shape {:?}, with {} elements, and its input `data` received {len}; send that many, or make it for \
         another shape",
        shape.dims(),
        shape.count()
    ))
}
