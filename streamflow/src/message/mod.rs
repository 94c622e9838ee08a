//! What travels along edges.
//!
//! A [`Message`] is one payload (a tensor, a number) or several named ones in a struct with
//! `#[derive(Message)]`. By type it says whether device data is in it: such data can be reached only
//! through a stream. Each message travels with [`Metadata`]: when its data was acquired, and what
//! operators want to say about it.

mod metadata;
mod payloads;
mod place;

pub use metadata::{Metadata, Timestamp, Value};
pub use payloads::HostData;
pub use place::{Device, Host, Place};

use std::ops::Deref;

use crate::driver::{AccessMode, DeviceId, Direction, Note};
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Pinned, Recycler, Shared};
use crate::platform::Platform;
use crate::port::{Owned, Receive, ReceiveEach};
use crate::stream::{CudaStream, Point};

/// What can travel along an edge.
///
/// Derive it for structs whose fields are messages. Any other value that is only for the host goes
/// into a [`HostData`]. A message belongs to nobody else and may move between threads. An operator that is
/// generic in what it takes bounds it `M: Message + for<'t> Receive<'t, Message = M>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "this type can't travel along an edge",
    note = "put `#[derive(Message)]` on its definition if its fields are messages, or wrap host data in `HostData<_>`"
)]
pub trait Message: Send + Sync + 'static {
    /// Whether device data is in it: [`Host`] or [`Device`].
    type Place: Place;
    /// What is received: the type itself, or what a [`Shared`] shares.
    type Item: Message;
    /// How many owners it may have when it is sent: [`Sole`], or [`Several`] for a [`Shared`].
    type Owners: Owned;
    /// The type itself, as what an input gives. By this road, and not by the type, a type that is no message is
    /// told so once, and is then taken for what an input can give.
    #[doc(hidden)]
    type __Own: for<'t> Receive<'t, Message = Self::Item> + for<'t> ReceiveEach<'t>;

    /// Shows all device memory in it.
    fn memory(&self, visit: &mut MemoryVisitor<'_>);

    /// As it travels along an edge.
    fn into_payload(self) -> Payload<Self::Item>;
}

/// A message as it travels: with one owner it needs no place on the heap.
#[derive(Debug)]
pub enum Payload<T> {
    /// Its receiver will be its only owner.
    One(T),
    /// Others may own it as well.
    Many(Shared<T>),
}

impl<T> Payload<T> {
    /// Makes it shareable; a message with one owner goes into a slot of `home`.
    pub(crate) fn into_shared(self, home: &Recycler<T>) -> Shared<T> {
        match self {
            Self::One(message) => home.share(message),
            Self::Many(message) => message,
        }
    }
}

impl<T> Deref for Payload<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::One(message) => message,
            Self::Many(message) => message,
        }
    }
}

/// The sender gives the message away.
#[derive(Debug)]
pub enum Sole {}

/// Others may own the message as well.
#[derive(Debug)]
pub enum Several {}

/// Is shown the device memory of a message.
pub struct MemoryVisitor<'a> {
    /// What is done with each piece.
    purpose: Purpose<'a>,
    /// The first error. Elsewhere, since an error is large, and nearly always there is none.
    failed: Option<Box<Error>>,
}

/// Why the memory of a message is visited. Not a closure: it is done for each message of each tick.
enum Purpose<'a> {
    /// The stream is to wait for the last write.
    Order(&'a CudaStream),
    /// Which device the first piece is on.
    Find(&'a mut Option<DeviceId>),
    /// Who watches is told that it passes a port.
    Pass { platform: &'a Platform, port: &'static str, direction: Direction },
}

impl std::fmt::Debug for MemoryVisitor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryVisitor").finish_non_exhaustive()
    }
}

impl<'a> MemoryVisitor<'a> {
    /// Shows all device memory of `message`.
    fn visit<M: Message>(message: &M, purpose: Purpose<'a>) -> Self {
        let mut visitor = Self { purpose, failed: None };
        message.memory(&mut visitor);
        visitor
    }

    /// Shows device memory.
    pub fn slice<T>(&mut self, slice: &DeviceSlice<T>) {
        self.block(slice.block());
    }

    /// Shows page-locked memory, which copies may still be reading or writing.
    pub fn pinned<T: crate::Element>(&mut self, pinned: &Pinned<T>) {
        self.block(pinned.block());
    }

    fn block(&mut self, block: &Block) {
        match &mut self.purpose {
            Purpose::Order(stream) => {
                if self.failed.is_none()
                    && let Err(error) = block
                        .check(stream, "the message")
                        .and_then(|()| block.order(stream, AccessMode::Read))
                {
                    self.failed = Some(Box::new(error));
                }
            }
            Purpose::Find(device) => **device = device.or(Some(block.device())),
            Purpose::Pass { platform, port, direction } => {
                let (range, port, direction) = (block.range(), *port, *direction);
                platform.tell(&Note::Port { range, port, direction });
            }
        }
    }
}

/// Makes `stream` wait for the last write of all device memory in a message, so that a point on
/// `stream` stands for the message (law 7).
pub(crate) fn order<M: Message>(message: &M, stream: &CudaStream) -> Result<()> {
    match MemoryVisitor::visit(message, Purpose::Order(stream)).failed {
        None => Ok(()),
        Some(error) => Err(*error),
    }
}

/// When the device data of a message is ready that nobody sends: a point on the default stream of its
/// device, so that it names no stream. `None` without device data.
pub(crate) fn ready<M: Message>(message: &M, platform: &Platform) -> Result<Option<Point>> {
    let mut device = None;
    MemoryVisitor::visit(message, Purpose::Find(&mut device));
    let Some(device) = device.filter(|_| M::Place::IS_DEVICE) else { return Ok(None) };
    let stream = platform.default_stream(device)?;
    order(message, &stream)?;
    stream.record().map(Some)
}

/// Tells the driver that a message's memory passes a port of the hook that runs.
#[inline]
pub(crate) fn pass<M: Message>(
    message: &M,
    platform: &Platform,
    port: &'static str,
    direction: Direction,
) {
    if platform.is_watched() {
        MemoryVisitor::visit(message, Purpose::Pass { platform, port, direction });
    }
}

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Envelope<T> {
    pub(crate) message: Payload<T>,
    pub(crate) metadata: Metadata,
    /// When its device data is ready; `None` for host data.
    pub(crate) sent: Option<Point>,
}

impl<T> Envelope<T> {
    /// The same for another reader, if the message can have several.
    pub(crate) fn another(&self) -> Option<Self> {
        let Payload::Many(message) = &self.message else { return None };
        let message = Payload::Many(message.clone());
        Some(Self { message, metadata: self.metadata.clone(), sent: self.sent })
    }
}
