//! `Download`: device data to the host.

use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::memory::{Element, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Queues a copy of each tensor to page-locked host memory, and sends the copy on at once, in the order of the tensors. No tick blocks.
///
/// The message is a [`Download`](crate::Download), which may not be complete yet. A node that reads it waits without blocking if it has
/// the condition [`host_done`](crate::guide::conditions): `#[when(host_done(message))] let deliver: Deliver<Download<f32>> = …;`. The
/// capacity of the edge between the two is the number of copies that may be on their way. [`Upload`](super::Upload) shows a
/// whole graph.
#[operator(no_new, unlisted)]
#[derive(Debug)]
pub struct Download<T: Element> {
    /// The tensor.
    #[input]
    tensor: &Tensor<T>,
    /// The copy on the host, with the tensor's shape.
    #[output]
    data: crate::Download<T>,
    of: PhantomData<fn() -> T>,
}

impl<T: Element> Download<T> {
    /// Creates an operator that downloads each tensor.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> Compute for Download<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive_with_stream(cx)?;
        io.data.emit(cx.download(tensor, &stream)?)
    }
}
