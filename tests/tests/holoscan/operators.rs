//! Operators and checks that the groups share.

use std::sync::Arc;

use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::Blind;
pub(crate) use streamflow_tests::seen::{Seen, all, push_seen};
pub(crate) use streamflow_tests::tensors::{LEN, SLOW, Tx, holds};

/// The stream's number, the same as in a message's `StreamRef`.
pub(crate) fn number(stream: &Stream<'_>) -> Result<u32> {
    Ok(stream.record()?.stream())
}

/// A tensor's value, if all elements are equal, read with a copy on `stream` alone.
pub(crate) fn value(
    cx: &ExecutionContext,
    image: &Tensor<f32>,
    stream: &Stream<'_>,
) -> Result<f32> {
    let values = cx.download(image, stream)?;
    let values = values.wait_blocking()?;
    let same = values.iter().all(|&x| x == values[0]);
    Ok(if same { values[0] } else { f32::NAN })
}

/// The numbers as tensor values.
pub(crate) fn floats(values: impl Iterator<Item = usize>) -> Vec<f32> {
    values.map(|value| value as f32).collect()
}

/// Whether data that is written slowly on the first stream passes through all others. Each stream copies the data that
/// the stream before has written.
pub(crate) fn handed_on(platform: &Platform, streams: &[&CudaStream]) -> Result<bool> {
    let mut buffers: Vec<Buffer<f32>> = Vec::new();
    for stream in streams {
        let mut buffer = platform.buffer::<f32>(LEN, stream)?;
        stream.launch::<slow_fill>(LEN, (&mut buffer, -1.0, 0))?;
        if let Some(before) = buffers.last() {
            // Load the kernel now: loading may wait for running kernels, which would hide a missing edge.
            stream.launch::<slow_copy>(LEN, (&mut buffer, before, 0))?;
        }
        stream.synchronize_blocking()?;
        buffers.push(buffer);
    }
    let ([first, .., last], [written, ..]) = (streams, &mut buffers[..]) else { return Ok(false) };
    first.launch::<slow_fill>(LEN, (written, 7.0, SLOW))?;
    for next in 1..streams.len() {
        let (before, after) = buffers.split_at_mut(next);
        streams[next].launch::<slow_copy>(LEN, (&mut after[0], &before[next - 1], 0))?;
    }
    Ok(last.download_blocking(&buffers[streams.len() - 1])?.iter().all(|&x| x == 7.0))
}

/// As [`Tx`], but copies to pinned memory and sends that. The message is complete when the copy is.
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

/// A platform without a race checker, on which a test can read memory without a wait: a checker would report the race
/// before the data shows it.
pub(crate) fn unchecked(blind: &Blind) -> Result<Platform> {
    let builder = Platform::builder().race_check(false);
    Ok(builder.driver(Arc::new(blind.clone()))?)
}
