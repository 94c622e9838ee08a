//! A message on its edge, from one operator to the next.

use std::ops::Deref;

use super::Metadata;
use crate::memory::{Recycler, Shared};
use crate::stream::Point;

/// A message as it travels. With one owner it needs no heap allocation.
#[derive(Debug)]
pub enum Payload<T> {
    /// The consumer becomes its only owner.
    One(T),
    /// The message may have other owners.
    Many(Shared<T>),
}

impl<T> Payload<T> {
    /// Makes it shareable. A message with one owner goes into a slot of `recycler`.
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

/// A message with what travels beside it. The producer's `Outlet` makes it, and the consumer's `Inlet` opens it.
#[derive(Debug)]
pub(crate) struct Envelope<T> {
    pub(crate) message: Payload<T>,
    pub(crate) metadata: Metadata,
    /// The point at which its device data is ready, for which `receive_cuda_stream` waits; `None` for host data.
    pub(crate) sent: Option<Point>,
}

impl<T> Envelope<T> {
    /// The message itself, if it can have no other owners.
    #[inline]
    pub(crate) fn into_message(self) -> Option<T> {
        // In parts, so that the envelope is not copied as a whole.
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

    /// The same message for another reader, if it can have several.
    #[inline]
    pub(crate) fn for_another_reader(&self) -> Option<Self> {
        let Payload::Many(message) = &self.message else { return None };
        let message = Payload::Many(message.clone());
        Some(Self { message, metadata: self.metadata.clone(), sent: self.sent })
    }
}
