//! Operators with messages in pinned memory, which a test reads without waiting, to see whether the data has arrived.

use std::sync::Arc;

use streamflow::memory::Pinned;
use streamflow::prelude::*;

use crate::kernels::slow_fill;
use crate::layers::Blind;
use crate::tensors::LEN;

/// Makes a tensor full of `first + tick` in a kernel of `cycles` clock cycles, copies it to pinned memory, and sends the
/// copy. The message is complete when the copy is.
#[operator(streams(tx))]
#[derive(Debug)]
pub struct FlagTx {
    /// The copy in pinned memory.
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

/// Makes a platform without a race checker, for tests that read memory without waiting. A checker would report the race
/// before the data shows it.
///
/// # Errors
/// Those of the driver.
pub fn unchecked(blind: &Blind) -> Result<Platform> {
    let builder = Platform::builder().race_check(false);
    Ok(builder.driver(Arc::new(blind.clone()))?)
}
