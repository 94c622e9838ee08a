//! `Download`: device data to the host.

use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::memory::{CopySource, Element, Tensor};
use crate::message::{CarriesStream, Message};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Queues a copy of each tensor to page-locked host memory, and sends the copy on at once, in the order of the tensors. The host waits for
/// none of them. With `M`, the operator copies messages of another type: `Download<f32, Buffer<f32>>`.
///
/// The message is a [`Download`](crate::Download), a copy that may still be on its way. A node that reads it waits without blocking if it
/// has the condition [`host_done`](crate::guide::conditions): `#[when(host_done(message))] let deliver: Deliver<Download<f32>> = …;`. The
/// capacity of the edge between the two is the number of copies that may be on their way. [`Upload`](super::Upload) shows a
/// whole graph.
///
/// The prelude has the message under the same name, so programs write `operators::Download` for the operator.
#[operator(no_new, unlisted)]
#[derive(Debug)]
pub struct Download<T: Element, M: Message + CopySource<T> = Tensor<T>> {
    /// The data on the device.
    #[input]
    tensor: &M,
    /// The copy on the host, with the shape of the data.
    #[output]
    data: crate::Download<T>,
    of: PhantomData<fn(M) -> T>,
}

impl<T: Element, M: Message + CopySource<T>> Download<T, M> {
    /// Creates an operator that downloads each message.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element, M: Message + CopySource<T>> Compute for Download<T, M>
where
    M::Place: CarriesStream<M>,
{
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive_with_stream(cx)?;
        io.data.emit(cx.download(tensor, &stream)?)
    }
}
