//! The types of inputs: each opens a received message as the type that the operator declared.

use std::fmt;

use super::Message;
use super::inlet::{Batch, Inlet};
use crate::memory::Shared;

/// The type of an input. With `&T` the operator reads the message in this tick, with [`Shared<T>`] it may keep the message
/// or send it on, and with `T` it owns the message. An optional input has an `Option` of one of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the type of an input",
    label = "not a message, nor a reference to one",
    note = "an input is `&T`, `Shared<T>` or `T`, where `T` is a message; put `#[derive(Message)]` on its definition"
)]
pub trait Receive<'t>: Sized {
    /// The message type `T`.
    type Message: Message;

    /// Opens the message that the inlet has received for this tick.
    fn open(inlet: &'t mut Inlet<Self::Message>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'t, T: Message> Receive<'t> for &'t T {
    type Message = T;

    #[inline]
    fn open(inlet: &'t mut Inlet<T>) -> Self {
        inlet.read()
    }
}

#[diagnostic::do_not_recommend]
impl<'t, T: Message> Receive<'t> for Shared<T> {
    type Message = T;

    fn open(inlet: &'t mut Inlet<T>) -> Self {
        inlet.share()
    }
}

#[diagnostic::do_not_recommend]
impl<'t, A: Receive<'t>> Receive<'t> for Option<A> {
    type Message = A::Message;

    fn open(inlet: &'t mut Inlet<A::Message>) -> Self {
        inlet.has_message().then(|| A::open(inlet))
    }
}

/// The type of each message of an input with several messages: a type that [`Receive`]s one message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the type of a message at an input with several messages",
    label = "not one message",
    note = "declare such an input as `&T`, `Shared<T>` or `T`: it gives each message as that type"
)]
pub trait ReceiveEach<'t>: Receive<'t> {
    /// The type of the messages that were not opened yet.
    type Messages;

    /// Returns the received messages, of which none is opened yet.
    fn each(inlet: &'t mut Inlet<Self::Message>) -> Self::Messages;
    /// Opens the next message.
    fn next(messages: &mut Self::Messages) -> Option<Self>;
    /// The number of messages that were not opened yet.
    fn left(messages: &Self::Messages) -> usize;
}

#[diagnostic::do_not_recommend]
impl<'t, T: Message> ReceiveEach<'t> for &'t T {
    type Messages = Read<'t, T>;

    fn each(inlet: &'t mut Inlet<T>) -> Read<'t, T> {
        Read(inlet.batch())
    }

    fn next(messages: &mut Read<'t, T>) -> Option<Self> {
        messages.0.next().map(|envelope| &*envelope.message)
    }

    fn left(messages: &Read<'t, T>) -> usize {
        messages.0.clone().count()
    }
}

/// An iterator over the received messages of an input `&T`.
pub struct Read<'t, T>(Batch<'t, T>);

impl<T> Clone for Read<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Read<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Read({})", self.0.clone().count())
    }
}

#[diagnostic::do_not_recommend]
impl<'t, T: Message> ReceiveEach<'t> for Shared<T> {
    type Messages = &'t mut Inlet<T>;

    fn each(inlet: &'t mut Inlet<T>) -> &'t mut Inlet<T> {
        inlet
    }

    fn next(messages: &mut &'t mut Inlet<T>) -> Option<Self> {
        messages.has_message().then(|| messages.share())
    }

    fn left(messages: &&'t mut Inlet<T>) -> usize {
        messages.len()
    }
}

/// An iterator over several received messages: the messages of an input with several producers, `#[input(many)]`, in the
/// order of the edges; or the messages of one edge, from [`receive_batch`](crate::port::In::receive_batch), in the order in
/// which they were sent.
///
/// ```
/// # use streamflow::prelude::*;
/// # use streamflow::port::Many;
/// fn longest<'t>(images: Many<'t, &'t Tensor<f32>>) -> usize {
///     images.map(|image| image.len()).max().unwrap_or(0)
/// }
/// ```
pub struct Many<'t, A: ReceiveEach<'t>> {
    messages: A::Messages,
}

impl<'t, A: ReceiveEach<'t>> Receive<'t> for Many<'t, A> {
    type Message = A::Message;

    fn open(inlet: &'t mut Inlet<A::Message>) -> Self {
        Self { messages: A::each(inlet) }
    }
}

impl<'t, A: ReceiveEach<'t>> Iterator for Many<'t, A> {
    type Item = A;

    fn next(&mut self) -> Option<A> {
        A::next(&mut self.messages)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl<'t, A: ReceiveEach<'t>> ExactSizeIterator for Many<'t, A> {
    fn len(&self) -> usize {
        A::left(&self.messages)
    }
}

/// Messages of the type `&T` can be iterated over again by a clone.
impl<'t, T: Message> Clone for Many<'t, &'t T> {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone() }
    }
}

impl<'t, A: ReceiveEach<'t>> fmt::Debug for Many<'t, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Many({})", self.len())
    }
}

/// Opens one message of each edge, in the order of the edges: an array is the type of `#[input(size = n)]`.
#[diagnostic::do_not_recommend]
impl<'t, A: ReceiveEach<'t>, const N: usize> Receive<'t> for [A; N] {
    type Message = A::Message;

    fn open(inlet: &'t mut Inlet<A::Message>) -> Self {
        let name = inlet.name;
        let mut messages = A::each(inlet);
        std::array::from_fn(|_| match A::next(&mut messages) {
            Some(message) => message,
            None => unreachable!("`{name}` has fewer messages than edges"),
        })
    }
}

/// Implements [`Receive`] and [`ReceiveEach`] for a message type itself, by which an input owns its message.
macro_rules! received {
    ([$($generics:tt)*] $ty:ty) => {
        #[diagnostic::do_not_recommend]
        impl<'t, $($generics)*> Receive<'t> for $ty {
            type Message = Self;

            #[inline]
            fn open(inlet: &'t mut Inlet<Self>) -> Self {
                inlet.take()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'t, $($generics)*> ReceiveEach<'t> for $ty {
            type Messages = &'t mut Inlet<Self>;

            fn each(inlet: &'t mut Inlet<Self>) -> &'t mut Inlet<Self> {
                inlet
            }

            fn next(messages: &mut &'t mut Inlet<Self>) -> Option<Self> {
                messages.has_message().then(|| messages.take())
            }

            fn left(messages: &&'t mut Inlet<Self>) -> usize {
                messages.len()
            }
        }
    };
}
pub(super) use received;
