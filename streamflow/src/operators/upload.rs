//! `Upload`: host data to a device.

use std::collections::VecDeque;
use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::{Failure, Result};
use crate::error::{Error, Result as OwnResult};
use crate::memory::{Element, IntoShape, Pinned, Shape, Tensor};
use crate::message::HostData;
use crate::operator::Compute;
use streamflow_macros::operator;

/// Copies host data to the device, in the order of the messages. The elements are copied to page-locked memory first, and from there
/// while the host goes on. The number of copies on their way is at most two, or the argument of [`in_flight`](Upload::in_flight): a
/// further tick waits for the oldest copy, on the thread of its node.
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
/// Above, `deliver` runs when a copy is complete, so the capacity of the edge before it limits how many results are on their way, and the
/// edges before that one hold back the source. In a graph whose results nobody awaits, the host may be far ahead of the device.
///
/// A source that fills page-locked memory itself needs no copy on the host: see [`Pinned`].
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
    in_flight: usize,
    /// The page-locked memory of the last copies, the oldest first.
    staging: VecDeque<Pinned<T>>,
    of: PhantomData<fn(D)>,
}

impl<T: Element, D: AsRef<[T]> + Send + Sync + 'static> Upload<T, D> {
    /// Creates an operator whose tensors have one dimension, of the length of the message.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { shape: None, in_flight: 2, staging: VecDeque::new(), of: PhantomData }
    }

    /// Creates an operator whose tensors have this shape. Each message must have as many elements.
    ///
    /// # Errors
    /// [`Error::Shape`] for a shape with too many dimensions or elements.
    pub fn with_shape(shape: impl IntoShape) -> OwnResult<Self> {
        Ok(Self { shape: Some(shape.into_shape()?), ..Self::new() })
    }

    /// Lets this many copies be on their way at once, each with page-locked memory of its own.
    ///
    /// # Errors
    /// An error with a text for 0 copies.
    pub fn in_flight(self, copies: usize) -> OwnResult<Self> {
        if copies == 0 {
            let text =
                "`Upload` has no copy in flight, so it can't upload; let at least one be in flight";
            return Err(Error::Other(Failure::msg(text)));
        }
        Ok(Self { in_flight: copies, ..self })
    }

    /// Returns page-locked memory of at least this length: that of the oldest copy, or new memory. If the memory of the oldest copy is too
    /// short, the function waits for that copy.
    fn staging(&mut self, len: usize, cx: &ExecutionContext) -> OwnResult<Pinned<T>> {
        if self.staging.len() >= self.in_flight
            && let Some(mut oldest) = self.staging.pop_front()
        {
            if oldest.len() >= len {
                return Ok(oldest);
            }
            oldest.as_mut_slice_blocking()?;
        }
        cx.pinned(len)
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
        let mut pinned = self.staging(data.len(), cx)?;
        pinned.as_mut_slice_blocking()?[..data.len()].copy_from_slice(data);
        if let Some(part) = pinned.slice(..data.len()) {
            stream.upload(&part, &mut tensor)?;
        }
        self.staging.push_back(pinned);
        io.tensor.set_cuda_stream(&stream).emit(tensor)
    }
}

#[cold]
fn other_length(shape: &Shape, len: usize) -> Failure {
    Failure::msg(format!(
        "`Upload` makes tensors of the shape {:?}, with {} elements, and its input `data` received {len}; send that many, or make the \
         operator for another shape",
        shape.dims(),
        shape.count()
    ))
}
