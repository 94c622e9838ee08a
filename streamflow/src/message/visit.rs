//! Visitors of a message's device memory and downloads, piece by piece: to order the memory, to find its device, to
//! report it, and to find a download that is not complete.

use super::{Message, Place};
use crate::driver::{AccessMode, DeviceId, Direction, Note};
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Download, Pinned};
use crate::platform::Platform;
use crate::stream::{CudaStream, Point};

/// Visits the device memory of a message. [`Message::memory`] passes each piece to the visitor.
pub struct MemoryVisitor<'a> {
    /// The work on each piece of a message.
    purpose: Purpose<'a>,
    /// The first error, in a box because an error is large and rare.
    failed: Option<Box<Error>>,
}

/// Why the memory of a message is visited. An enum is cheaper than a closure, and each message of each tick is visited.
enum Purpose<'a> {
    /// Make the stream wait for the last write.
    Order(&'a CudaStream),
    /// Find the device of the first piece.
    FindDevice(&'a mut Option<DeviceId>),
    /// Report to the driver's layers that the memory passes a port.
    Report { platform: &'a Platform, port: &'static str, direction: Direction },
    /// Find the first download that is not complete.
    FindDownload { platform: &'a Platform, found: &'a mut Option<Point> },
}

impl std::fmt::Debug for MemoryVisitor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryVisitor").finish_non_exhaustive()
    }
}

impl<'a> MemoryVisitor<'a> {
    /// Visits all device memory of `message`.
    fn visit<M: Message>(message: &M, purpose: Purpose<'a>) -> Self {
        let mut visitor = Self { purpose, failed: None };
        message.memory(&mut visitor);
        visitor
    }

    /// Visits device memory.
    #[inline]
    pub fn slice<T>(&mut self, slice: &DeviceSlice<T>) {
        self.block(slice.block());
    }

    /// Visits a copy to the host. A download is host data, so only a condition looks at it.
    pub fn download<T: crate::Element>(&mut self, download: &Download<T>) {
        if let Purpose::FindDownload { platform, found } = &mut self.purpose
            && found.is_none()
            && self.failed.is_none()
        {
            match download.incomplete(platform.streams()) {
                Ok(point) => **found = point,
                Err(error) => self.failed = Some(Box::new(error)),
            }
        }
    }

    /// Visits page-locked memory. Copies may still be reading or writing it.
    pub fn pinned<T: crate::Element>(&mut self, pinned: &Pinned<T>) {
        self.block(pinned.block());
    }

    /// Visits a block. Inlined: where the compiler knows the purpose, only the code for that purpose is left, mostly
    /// that of `Purpose::Order`.
    #[inline]
    fn block(&mut self, block: &Block) {
        match &self.purpose {
            Purpose::Order(stream) => {
                if self.failed.is_none()
                    && let Err(error) = ordered(block, stream)
                {
                    self.failed = Some(error);
                }
            }
            _ => self.block_otherwise(block),
        }
    }

    #[inline(never)]
    fn block_otherwise(&mut self, block: &Block) {
        match &mut self.purpose {
            Purpose::Order(_) | Purpose::FindDownload { .. } => {}
            Purpose::FindDevice(device) => **device = device.or(Some(block.device())),
            Purpose::Report { platform, port, direction } => {
                let (range, port, direction) = (block.range(), *port, *direction);
                platform.observe(&Note::Port { range, port, direction });
            }
        }
    }
}

/// Makes the stream wait for the last write of a block.
#[inline(never)]
fn ordered(block: &Block, stream: &CudaStream) -> Result<(), Box<Error>> {
    block.check(stream, "the message")?;
    block.order_written(stream, AccessMode::Read)?;
    Ok(())
}

/// Makes `stream` wait for the last write of all device memory in a message, so that a point on
/// `stream` stands for the message (laws 4 and 7). Reads need no wait here: a later write waits for them at its launch.
pub(crate) fn order<M: Message>(message: &M, stream: &CudaStream) -> Result<()> {
    match MemoryVisitor::visit(message, Purpose::Order(stream)).failed {
        None => Ok(()),
        Some(error) => Err(*error),
    }
}

/// The point at which the device data of a feedback edge's first message is ready. No operator sends that message, so
/// the point is on the default stream of its device, and the message names no stream. `None` without device data.
pub(crate) fn ready_point<M: Message>(message: &M, platform: &Platform) -> Result<Option<Point>> {
    let mut device = None;
    MemoryVisitor::visit(message, Purpose::FindDevice(&mut device));
    let Some(device) = device.filter(|_| M::Place::IS_DEVICE) else { return Ok(None) };
    let stream = platform.default_stream(device)?;
    order(message, &stream)?;
    stream.record().map(Some)
}

/// The point at which the first incomplete download in a message will be complete; `None` if all are complete.
pub(crate) fn incomplete_download<M: Message>(
    message: &M,
    platform: &Platform,
) -> Result<Option<Point>> {
    let mut found = None;
    let purpose = Purpose::FindDownload { platform, found: &mut found };
    match MemoryVisitor::visit(message, purpose).failed {
        None => Ok(found),
        Some(error) => Err(*error),
    }
}

/// Reports to the driver's layers that a message's memory passes a port of the hook that is running.
#[inline]
pub(crate) fn report_port<M: Message>(
    message: &M,
    platform: &Platform,
    port: &'static str,
    direction: Direction,
) {
    if platform.is_watched() {
        MemoryVisitor::visit(message, Purpose::Report { platform, port, direction });
    }
}
