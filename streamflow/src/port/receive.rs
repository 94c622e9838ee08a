//! How an input hands its message out, by the type that the user wrote for it.

use super::Inlet;
use crate::memory::Shared;
use crate::message::{Device, Host, Message, Place};

/// What an input gives: `&T` reads the message in this tick, [`Shared<T>`] may keep it or hand it on,
/// `T` takes it; an `Option` of these for an optional input.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what an input can give",
    label = "not an input",
    note = "an input is `&T`, `Shared<T>` or `T`, where `T` is a message"
)]
pub trait Receive<'t>: Sized {
    /// The message below.
    type Message: Message;

    /// Opens a message that was received.
    fn open(inlet: &'t mut Inlet<Self::Message>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'t, T: Message> Receive<'t> for &'t T {
    type Message = T;

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

/// Whoever could implement the traits below for other places could open data that is not ready.
mod sealed {
    pub trait Device {}
    impl Device for crate::message::Device {}
    pub trait Host {}
    impl Host for crate::message::Host {}
}

/// Data that comes with a stream: [`Device`].
#[diagnostic::on_unimplemented(
    message = "`{M}` carries no stream",
    label = "this is host data",
    note = "receive it without a stream: `let data = input.receive().into_data();`"
)]
pub trait CarriesStream<M>: Place + sealed::Device {}

#[diagnostic::do_not_recommend]
impl<M> CarriesStream<M> for Device {}

/// Data that needs no stream: [`Host`].
#[diagnostic::on_unimplemented(
    message = "`{M}` is device data, out of reach before its stream was received",
    label = "device data needs a stream",
    note = "receive its stream: `let (data, stream) = input.receive_cuda_stream(cx)?;`"
)]
pub trait Plain<M>: Place + sealed::Host {}

#[diagnostic::do_not_recommend]
impl<M> Plain<M> for Host {}
