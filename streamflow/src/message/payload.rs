//! The form of a message on its edge: the payload, with one owner or several, in an envelope.

use std::ops::Deref;

use super::Metadata;
use crate::memory::{Recycler, Shared};
use crate::stream::Point;

/// A message as it travels along an edge, with one owner or several. A message with one owner needs no heap allocation.
#[derive(Debug)]
pub enum Payload<T> {
    /// A message of which the consumer becomes the only owner.
    One(T),
    /// A message that may have other owners.
    Many(Shared<T>),
}

impl<T> Payload<T> {
    /// Converts the message to a `Shared`. A message with one owner is moved into a slot of `recycler`.
    pub(crate) fn into_shared(self, recycler: &Recycler<T>) -> Shared<T> {
        match self {
            Self::One(message) => recycler.share(message),
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

#[inline(never)]
fn drop_apart<T>(shared: Shared<T>) {
    drop(shared);
}

/// A message with its metadata and the point at which its device data is ready. The producer's `Outlet` makes the envelope,
/// and the consumer's `Inlet` opens it.
#[derive(Debug)]
pub(crate) struct Envelope<T> {
    pub(crate) message: Payload<T>,
    pub(crate) metadata: Metadata,
    /// The point at which the message's device data is ready. `receive_cuda_stream` makes a stream wait for this point. `None`
    /// for host data.
    pub(crate) sent: Option<Point>,
}

impl<T> Envelope<T> {
    /// The message itself; `None` if the message may have other owners.
    #[inline]
    pub(crate) fn into_message(self) -> Option<T> {
        // The envelope is destructured, so that it is not copied as a whole.
        let Self { message, metadata, .. } = self;
        drop(metadata);
        match message {
            Payload::One(message) => Some(message),
            Payload::Many(shared) => {
                drop_apart(shared);
                None
            }
        }
    }

    /// An envelope with the same message for another reader; `None` if the message can have only one owner.
    #[inline]
    pub(crate) fn for_another_reader(&self) -> Option<Self> {
        let Payload::Many(message) = &self.message else { return None };
        let message = Payload::Many(message.clone());
        Some(Self { message, metadata: self.metadata.clone(), sent: self.sent })
    }
}
