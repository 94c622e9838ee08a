//! Handing out received messages to the operator, and dropping the messages that it has not opened.

use std::slice;

use super::Inlet;
use crate::driver::Direction;
use crate::error::Result;
use crate::memory::Shared;
use crate::message::edges::Edges;
use crate::message::{Envelope, Message, Receiver, visit};
use crate::platform::Platform;
use crate::stream::Point;

/// An iterator over the messages that were received and not handed out yet, in the order of the edges. Messages of one edge
/// are in the order in which they were sent.
#[derive(Debug)]
pub(crate) struct Batch<'a, T>(slice::Iter<'a, Receiver<T>>);

impl<'a, T> Iterator for Batch<'a, T> {
    type Item = &'a Envelope<T>;

    #[inline]
    fn next(&mut self) -> Option<&'a Envelope<T>> {
        loop {
            if let Some(envelope) = self.0.next()?.message() {
                return Some(envelope);
            }
        }
    }
}

impl<T> Clone for Batch<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Inlet<T> {
    /// The messages that were received and not handed out yet, in the order of the edges.
    pub(crate) fn batch(&self) -> Batch<'_, T> {
        Batch(self.edges.iter())
    }

    /// The message of an input with one edge, if the message was received and not handed out yet.
    #[inline]
    pub(crate) fn only(&self) -> Option<&Envelope<T>> {
        match &self.edges {
            Edges::One([edge]) => edge.message(),
            Edges::Several(_) => None,
        }
    }

    #[inline(always)]
    pub(super) fn drop_batch(&mut self) {
        self.handed_out = 0;
        if let Edges::One([edge]) = &mut self.edges {
            edge.drop_message();
        } else {
            self.drop_each();
        }
    }

    #[inline(never)]
    fn drop_each(&mut self) {
        self.edges.iter_mut().for_each(Receiver::drop_message);
    }

    /// A reference to the first received message. A required input always has a message here, because the scheduler runs an
    /// operator only when its required inputs have messages.
    #[inline]
    pub fn read(&self) -> &T {
        match self.only() {
            Some(envelope) => &envelope.message,
            None => self.read_first(),
        }
    }

    #[inline(never)]
    fn read_first(&self) -> &T {
        match self.batch().next() {
            Some(envelope) => &envelope.message,
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Whether a message was received and not handed out yet.
    pub fn has_message(&self) -> bool {
        self.batch().next().is_some()
    }

    /// The number of messages that were received and not handed out yet.
    pub fn len(&self) -> usize {
        self.batch().count()
    }

    /// Whether all received messages were handed out.
    pub fn is_empty(&self) -> bool {
        !self.has_message()
    }

    /// Hands out the next received message, in its envelope.
    fn next(&mut self) -> Option<Envelope<T>> {
        while let Some(edge) = self.edges.get_mut(self.handed_out) {
            self.handed_out += 1;
            if let Some(envelope) = edge.take() {
                return Some(envelope);
            }
        }
        None
    }

    /// Hands out the next received message as a `Shared`, which the operator may keep or send on.
    pub fn share(&mut self) -> Shared<T> {
        match self.next() {
            Some(envelope) => envelope.message.into_shared(&self.recycler),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Hands out the next received message as a `T`. The message has no other owner, because only edges with one reader lead
    /// to an input of the form `T`.
    #[inline]
    pub fn take(&mut self) -> T {
        if let Edges::One([edge]) = &mut self.edges
            && let Some(message) = edge.take_with(Envelope::into_message).flatten()
        {
            return message;
        }
        self.take_next()
    }

    #[inline(never)]
    fn take_next(&mut self) -> T {
        match self.next().map(Envelope::into_message) {
            Some(Some(message)) => message,
            Some(None) => {
                unreachable!("`{}` takes a message that may have other owners", self.name)
            }
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }
}

impl<T: Message> Inlet<T> {
    /// Reports the memory of the received messages to the driver's layers, such as the race checker.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_batch(&self, platform: &Platform) {
        for envelope in self.batch() {
            visit::report_port(&*envelope.message, platform, self.name, Direction::Inward);
        }
    }

    /// The point at which the first incomplete download in the received messages will be complete. `None` if all downloads
    /// are complete.
    pub(crate) fn incomplete_download(&self, platform: &Platform) -> Result<Option<Point>> {
        for envelope in self.batch() {
            if let Some(point) = visit::incomplete_download(&*envelope.message, platform)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }
}
