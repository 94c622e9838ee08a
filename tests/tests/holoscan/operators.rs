//! What the groups share: a slow source, and what looks at data.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::layers::Blind;
pub(crate) use streamflow_tests::seen::{Seen, all, note};
pub(crate) use streamflow_tests::tensors::{LEN, SLOW, Tx, holds};

/// The stream's number: what a message's `StreamRef` has, too.
pub(crate) fn number(stream: &Stream<'_>) -> Result<u32> {
    Ok(stream.record()?.stream())
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

/// A platform on which a test can look at memory that nobody waited for: a race checker would say so
/// before the data does.
pub(crate) fn unchecked(blind: &Blind) -> Result<Platform> {
    let options = PlatformOptions { race_check: Some(false), ..PlatformOptions::default() };
    Platform::with_options(Arc::new(blind.clone()), options)
}
