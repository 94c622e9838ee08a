//! Operators that make tensors slowly, and operators that check or note them.

use streamflow::prelude::*;

use crate::kernels::slow_fill;
use crate::seen::{Seen, push_seen};

/// The length of a tensor: no multiple of a warp, a block or a granule.
pub const LEN: usize = 1003;

/// A number of clock cycles that takes much longer than a launch: about 10 ms on a GPU.
pub const SLOW: u64 = 20_000_000;

/// Emits a tensor full of `first + tick`, made in `cycles` clock cycles, as Holoscan's `PingTensorTxOp` does. With `own`,
/// it works on its own stream (`async_device_allocation`). Otherwise it works on the default stream, so that the message
/// names no stream.
#[operator(streams(tx))]
#[derive(Debug)]
pub struct Tx {
    /// The tensor of this tick.
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
        stream
            .launch::<slow_fill>(LEN, (&mut image, self.first + cx.tick() as f32, self.cycles))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Like `Tx`, but writes the tensor on one stream and sends it on another.
#[operator(streams(write, send))]
#[derive(Debug)]
pub struct SourceElsewhere {
    /// The tensor.
    #[output]
    image: Tensor<f32>,
    first: f32,
}

impl Compute for SourceElsewhere {
    fn compute(&mut self, io: SourceElsewhereIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let write = cx.allocate_cuda_stream(io.write)?;
        let mut image = cx.tensor([LEN], &write)?;
        write.launch::<slow_fill>(LEN, (&mut image, self.first + cx.tick() as f32, SLOW))?;
        io.image.set_cuda_stream(&cx.allocate_cuda_stream(io.send)?).emit(image)
    }
}

/// Returns whether a tensor is full of `value`. The tensor is downloaded on `stream`.
///
/// # Errors
/// Those of the driver.
pub fn holds(
    cx: &ExecutionContext,
    image: &Tensor<f32>,
    stream: &Stream<'_>,
    value: f32,
) -> Result<bool> {
    Ok(cx.download(image, stream)?.wait_blocking()?.iter().all(|&x| x == value))
}

/// Checks each message's data, and whether the message names a stream.
#[operator]
#[derive(Debug)]
pub struct Sink {
    /// The tensor to check.
    #[input]
    image: &Tensor<f32>,
    named: bool,
    seen: Seen<bool>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let named = image.streams().any(|name| name.is_some());
        let (image, stream) = image.receive_cuda_stream(cx)?;
        push_seen(&self.seen, named == self.named && holds(cx, image, &stream, cx.tick() as f32)?);
        Ok(())
    }
}

/// Notes each tensor's [`value`].
#[operator]
#[derive(Debug)]
pub struct Rx {
    /// The tensor to note.
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, value(cx, image, &stream)?);
        Ok(())
    }
}

/// Returns a tensor's value, read with a copy on `stream` alone. The value is NaN unless all elements are equal.
///
/// # Errors
/// Those of the driver.
pub fn value(cx: &ExecutionContext, image: &Tensor<f32>, stream: &Stream<'_>) -> Result<f32> {
    let values = cx.download(image, stream)?;
    let values = values.wait_blocking()?;
    let same = values.iter().all(|&x| x == values[0]);
    Ok(if same { values[0] } else { f32::NAN })
}

/// Converts numbers to the values of a tensor.
#[must_use]
pub fn floats(values: impl Iterator<Item = usize>) -> Vec<f32> {
    values.map(|value| value as f32).collect()
}

/// Returns the stream's number, as a message's `StreamRef` has it.
///
/// # Errors
/// Those of the driver.
pub fn stream_number(stream: &Stream<'_>) -> Result<u32> {
    Ok(stream.record()?.stream())
}
