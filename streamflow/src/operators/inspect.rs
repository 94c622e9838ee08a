//! `Inspect`: a sink that prints a description of its messages.

use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::message::{Message, Place};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Prints what each message looks like: the names, element types, shapes and devices of its parts, the stream on which it was
/// sent, and its metadata. The operator receives any type of message, and does not read the data.
///
/// ```
/// # use streamflow::prelude::*;
/// # use streamflow::operators::Inspect;
/// # #[operator(streams(work))] struct Camera { #[output] image: Tensor<u8> }
/// # impl Compute for Camera {
/// #     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
/// #         let stream = cx.allocate_cuda_stream(io.work)?;
/// #         io.image.set_cuda_stream(&stream).emit(cx.tensor([4, 3], &stream)?)
/// #     }
/// # }
/// graph! {
///     struct App {
///         #[when(count(2))]
///         let camera: Camera = Camera::new();
///         let look: Inspect<Tensor<u8>> = Inspect::new();
///         camera.image >> look.message;
///     }
/// }
/// # fn main() -> Result<()> {
/// App::new(&Platform::host().build()?)?.run()?;
/// # Ok(())
/// # }
/// ```
///
/// The first tick prints, for example:
/// ```text
/// look, tick 0: message 0, acquired at 1760000000000000000 ns, on stream `camera.work` of device 0
///   Tensor<uint8> [4, 3] on device 0
/// ```
///
/// A sink that must wait until the data is ready, as one that prints values, needs `#[when(stream_done(message))]` at its node.
#[operator(no_new, unlisted)]
pub struct Inspect<M: Message> {
    /// The message that is described.
    #[input]
    message: &M,
    to: Box<dyn Write + Send>,
    of: PhantomData<M>,
}

impl<M: Message> Inspect<M> {
    /// Creates an operator that prints to the standard output.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self::to(io::stdout())
    }

    /// Creates an operator that prints to `writer`, for example a file.
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self { to: Box::new(writer), of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<M: Message> Compute for Inspect<M> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let message = io.message.receive();
        let mut text = format!("{}, tick {}: message", cx.node(), cx.tick());
        if let Some(metadata) = message.metadata() {
            if let Some(number) = metadata.sequence() {
                text += &format!(" {number}");
            }
            if let Some(at) = metadata.acquired() {
                text += &format!(", acquired at {} ns", at.0);
            }
        }
        for stream in message.streams() {
            match stream {
                Some(stream) => {
                    text += &format!(", on stream `{}` of {}", cx.label_of(stream), stream.device())
                }
                None if M::Place::IS_DEVICE => text += ", on the default stream",
                None => {}
            }
        }
        for description in message.describe() {
            description.parts().iter().for_each(|part| text += &format!("\n  {part}"));
        }
        for (name, value) in message.metadata().into_iter().flat_map(|metadata| metadata.iter()) {
            text += &format!("\n  metadata {name} = {value}");
        }
        writeln!(self.to, "{text}")?;
        Ok(())
    }
}

impl<M: Message> fmt::Debug for Inspect<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspect").finish_non_exhaustive()
    }
}
