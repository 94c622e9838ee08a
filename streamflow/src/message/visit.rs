//! Visitors of a message's device memory and downloads, one block after the other. A visitor makes a stream wait for the
//! memory, finds its device, reports it to the driver's layers, or finds a download that is not complete.

use super::{Message, Place};
use crate::driver::{AccessMode, DeviceId, Direction, Note};
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Download, Pinned};
use crate::platform::Platform;
use crate::stream::{CudaStream, Point};

/// A visitor of the device memory of a message. [`Message::memory`] passes each block of the message to the visitor.
pub struct MemoryVisitor<'a> {
    /// The work of the visitor on each block of the message.
    purpose: Purpose<'a>,
    /// The first error, in a box, because an error is large and rare.
    failed: Option<Box<Error>>,
}

/// The work of a visitor on each block of a message. This is an enum, because a call of a closure would cost more, and each
/// message of each tick is visited.
enum Purpose<'a> {
    /// Make the stream wait for the last write of the block.
    Order(&'a CudaStream),
    /// Find the device of the first block.
    FindDevice(&'a mut Option<DeviceId>),
    /// Report to the driver's layers that the block passes a port.
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

    /// Visits a copy to the host. A download is host data, so only `FindDownload`, for the condition `host_done`, uses it.
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

    /// Visits page-locked memory, which queued copies may still read or write.
    pub fn pinned<T: crate::Element>(&mut self, pinned: &Pinned<T>) {
        self.block(pinned.block());
    }

    /// Visits a block. The function is inlined, so that where the compiler knows the purpose, mostly `Purpose::Order`, it
    /// removes the code for other purposes.
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
/// `stream` stands for the message (laws 4 and 7). The stream need not wait for reads, because a later write waits for them.
pub(crate) fn order<M: Message>(message: &M, stream: &CudaStream) -> Result<()> {
    match MemoryVisitor::visit(message, Purpose::Order(stream)).failed {
        None => Ok(()),
        Some(error) => Err(*error),
    }
}

/// The point at which the device data of a feedback edge's first message is ready. No operator sends that message, so
/// this function makes the default stream of its device wait for the data, and the point is on that stream. `None` for a
/// message without device data.
pub(crate) fn ready_point<M: Message>(message: &M, platform: &Platform) -> Result<Option<Point>> {
    let mut device = None;
    MemoryVisitor::visit(message, Purpose::FindDevice(&mut device));
    let Some(device) = device.filter(|_| M::Place::IS_DEVICE) else { return Ok(None) };
    let stream = platform.default_stream(device)?;
    order(message, &stream)?;
    stream.record().map(Some)
}

/// The point at which the first incomplete download in a message will be complete; `None` if all downloads are complete.
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

/// Reports to the driver's layers that a message's memory passes the port `port` of the hook that is running.
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
