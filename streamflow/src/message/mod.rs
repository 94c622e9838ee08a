//! What travels along edges.
//!
//! A [`Message`] is one payload (a tensor, a number) or several named ones in a struct with
//! `#[derive(Message)]`. By type it says whether device data is in it: such data can be reached only
//! through a stream. Each message travels with [`Metadata`]: when its data was acquired, and what
//! operators want to say about it.

mod inlet;
mod metadata;
mod owners;
mod payload;
mod payloads;
mod place;
mod queue;
mod receive;
mod visit;

pub use inlet::{Handled, Inlet, InputState};
pub use metadata::{Metadata, Timestamp, Value};
pub use owners::{Owned, Reads, Several, Shares, Sole, Takes};
pub use payload::Payload;
pub use payloads::HostData;
pub use place::{CarriesStream, Device, Host, Place, Plain};
pub use queue::{EdgeOptions, Policy};
pub use receive::{Many, Read, Receive, ReceiveEach};
pub use visit::MemoryVisitor;

pub(crate) use payload::Envelope;
pub(crate) use queue::{Queue, Slot};
pub(crate) use visit::{order, pass, ready};

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
    /// What is received: the type itself, or what a [`Shared`](crate::Shared) shares.
    type Item: Message;
    /// How many owners it may have when it is sent: [`Sole`], or [`Several`] for a [`Shared`](crate::Shared).
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
