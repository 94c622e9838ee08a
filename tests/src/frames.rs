//! A camera whose frames are numbers, and operators that work on the frames.

use std::time::Duration;

use streamflow::prelude::*;

use crate::seen::{Seen, push_seen};

/// A camera: sends the number of each tick.
#[operator]
pub struct Camera {
    /// The number of the tick, as a frame.
    #[output]
    frame: u64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(cx.tick())
    }
}

/// Finds values in a frame, which takes 100 ms.
#[operator]
pub struct Detect {
    /// The frame to examine.
    #[input]
    frame: &u64,
    /// The frame's number, if it is even.
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
    /// The frame to examine.
    #[input]
    frame: &u64,
    /// The number of the tick.
    #[output]
    found: u64,
}

impl Compute for Half {
    fn compute(&mut self, io: HalfIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        if frame.is_multiple_of(2) { io.found.emit(frame) } else { Ok(()) }
    }
}

/// Sends each frame on as new data, so that the messages have this node as their origin.
#[operator]
pub struct Renew {
    /// The frame to examine.
    #[input]
    frame: &u64,
    /// The values that were found in the frame.
    #[output]
    found: u64,
}

impl Compute for Renew {
    fn compute(&mut self, io: RenewIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        io.found.emit(cx.tick())
    }
}

/// Notes the number of the frame and the found number that it receives in one tick.
#[operator]
pub struct Overlay {
    /// The frame of the camera.
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
