//! A message on its way from one operator to the next.

use std::ops::Deref;

use super::Metadata;
use crate::memory::{Recycler, Shared};
use crate::stream::Point;

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
