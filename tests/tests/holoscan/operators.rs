//! What the groups share: a slow source, and what looks at data.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;

/// Not a multiple of a warp, a block or a granule.
pub(crate) const LEN: usize = 1003;

/// Long against a launch; about 10 ms on a GPU.
pub(crate) const SLOW: u64 = 20_000_000;

/// What operators saw, tick by tick, for the test to look at.
pub(crate) type Seen<T> = Arc<Mutex<Vec<T>>>;

pub(crate) fn note<T>(seen: &Seen<T>, what: T) {
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

pub(crate) fn all<T: Clone>(seen: &Seen<T>) -> Vec<T> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The stream's number: what a message's `StreamRef` has, too.
pub(crate) fn number(stream: &Stream<'_>) -> Result<u32> {
    Ok(stream.record()?.stream())
}

/// `PingTensorTxOp`: a tensor full of `first + tick`, slowly. With `own` it is made on a stream of its own
/// (`async_device_allocation`), else on the default stream, so that the message names none.
#[operator(streams(tx))]
pub(crate) struct Tx {
    #[output]
    image: Tensor<f32>,
    first: f32,
    own: bool,
    cycles: u64,
}

impl Compute for Tx {
    fn compute(&mut self, io: TxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = if self.own { cx.allocate_cuda_stream(io.tx)? } else { cx.default_stream()? };
        let mut image = cx.tensor([LEN], &stream)?;
        let value = self.first + cx.tick() as f32;
        stream.launch::<slow_fill>(LEN, (&mut image, value, self.cycles))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// As [`Tx`], and copied to page-locked memory, which is what it sends: complete when the copy is.
#[operator(streams(tx))]
pub(crate) struct FlagTx {
    #[output]
    flag: Pinned<f32>,
    first: f32,
    cycles: u64,
}

impl Compute for FlagTx {
    fn compute(&mut self, io: FlagTxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.tx)?;
        let mut image = cx.tensor([LEN], &stream)?;
        let value = self.first + cx.tick() as f32;
        stream.launch::<slow_fill>(LEN, (&mut image, value, self.cycles))?;
        let flag = cx.download(&image, &stream)?.into_pinned();
        io.flag.set_cuda_stream(&stream).emit(flag)
    }
}

/// Whether all of a tensor is `value`, by a copy on `stream` alone.
pub(crate) fn holds(
    cx: &ExecutionContext,
    image: &Tensor<f32>,
    stream: &Stream<'_>,
    value: f32,
) -> Result<bool> {
    Ok(cx.download(image, stream)?.wait_blocking()?.iter().all(|&x| x == value))
}
