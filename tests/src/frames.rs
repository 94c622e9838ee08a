//! Frames that are numbers: a camera, and operators on its frames.

use std::time::Duration;

use streamflow::prelude::*;

use crate::seen::{Seen, push_seen};

/// Sends the numbers of its ticks.
#[operator]
pub struct Camera {
    /// The number of the tick.
    #[output]
    frame: u64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(cx.tick())
    }
}

/// Needs 100 ms for a frame.
#[operator]
pub struct Detect {
    /// A frame.
    #[input]
    frame: &u64,
    /// The values that were found there.
    #[output]
    found: u64,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        cx.sleep(Duration::from_millis(100));
        io.found.emit(frame)
    }
}

/// Sends every second frame on.
#[operator]
pub struct Half {
    /// A frame.
    #[input]
    frame: &u64,
    /// The values that were found there.
    #[output]
    found: u64,
}

impl Compute for Half {
    fn compute(&mut self, io: HalfIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        if frame.is_multiple_of(2) { io.found.emit(frame) } else { Ok(()) }
    }
}

/// Sends frames on as data of its own.
#[operator]
pub struct Renew {
    /// A frame.
    #[input]
    frame: &u64,
    /// The values that were found there.
    #[output]
    found: u64,
}

impl Compute for Renew {
    fn compute(&mut self, io: RenewIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        io.found.emit(cx.tick())
    }
}

/// Notes the messages that it receives together.
#[operator]
pub struct Overlay {
    /// A frame.
    #[input]
    frame: &u64,
    /// The values that were found in a frame.
    #[input]
    found: u64,
    seen: Seen<(u64, u64)>,
}

impl Compute for Overlay {
    fn compute(&mut self, io: OverlayIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        push_seen(&self.seen, (frame, io.found.receive().into_data()));
        Ok(())
    }
}
