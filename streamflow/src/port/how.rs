//! How `receive_cuda_stream` finds the operator's internal stream: Holoscan's `allocate` and
//! `sync_to_default`, as types.
//!
//! Whichever it is, the first one found stays: every other port and every later tick gives the same.

use super::{HasMessage, Received, StreamReady};

/// A way to the internal stream.
pub trait How: sealed::How {
    /// Whether it is allocated from the operator's pool.
    const ALLOCATE: bool;
    /// Whether it may be the first stream that comes with a message.
    const ADOPT: bool;
    /// Whether it may be the default stream, when no message comes with one.
    const DEFAULT: bool;
    /// Whether the default stream shall wait for it.
    const TO_DEFAULT: bool;
}

/// From the operator's pool. Holoscan's `allocate = true`, without its fallbacks.
#[derive(Debug)]
pub enum Allocated {}

/// From the operator's pool; when that is exhausted, or when there is none, the first stream that
/// comes with a message. Holoscan's `allocate = true`.
#[derive(Debug)]
pub enum AllocatedOrAdopted {}

/// The first stream that comes with a message. Holoscan's `allocate = false`.
#[derive(Debug)]
pub enum Adopted {}

/// As `S`, a way or a state of an input; and when no message comes with a stream, the default stream.
#[derive(Debug)]
pub struct OrDefault<S>(std::marker::PhantomData<S>);

/// As `S`, a way or a state of an input; and the default stream waits for what is found. Holoscan's
/// `sync_to_default`.
#[derive(Debug)]
pub struct ToDefault<S>(std::marker::PhantomData<S>);

/// Whoever could make another one would have to know the whole of the rules.
mod sealed {
    pub trait How {}
    impl How for super::Allocated {}
    impl How for super::AllocatedOrAdopted {}
    impl How for super::Adopted {}
    impl<H: How> How for super::OrDefault<H> {}
    impl<H: How> How for super::ToDefault<H> {}
}

impl How for Allocated {
    const ALLOCATE: bool = true;
    const ADOPT: bool = false;
    const DEFAULT: bool = false;
    const TO_DEFAULT: bool = false;
}

impl How for AllocatedOrAdopted {
    const ALLOCATE: bool = true;
    const ADOPT: bool = true;
    const DEFAULT: bool = false;
    const TO_DEFAULT: bool = false;
}

impl How for Adopted {
    const ALLOCATE: bool = false;
    const ADOPT: bool = true;
    const DEFAULT: bool = false;
    const TO_DEFAULT: bool = false;
}

impl<H: How> How for OrDefault<H> {
    const ALLOCATE: bool = H::ALLOCATE;
    const ADOPT: bool = H::ADOPT;
    const DEFAULT: bool = true;
    const TO_DEFAULT: bool = H::TO_DEFAULT;
}

impl<H: How> How for ToDefault<H> {
    const ALLOCATE: bool = H::ALLOCATE;
    const ADOPT: bool = H::ADOPT;
    const DEFAULT: bool = H::DEFAULT;
    const TO_DEFAULT: bool = true;
}

/// States of inputs for which it was not said yet where their stream comes from.
#[diagnostic::on_unimplemented(
    message = "this says where the stream comes from, but the message was not received yet, or it was \
               said already",
    label = "not here",
    note = "say it once, behind `receive()`: `input.receive().or_adopt().receive_cuda_stream(cx)?`"
)]
pub trait Open {}

#[diagnostic::do_not_recommend]
impl Open for Received<Allocated> {}

/// States of inputs that may find no stream.
#[diagnostic::on_unimplemented(
    message = "`or_default` stands behind `adopt()` or `or_adopt()`: a stream from the pool is always there",
    label = "nothing can be missing here",
    note = "write `input.receive().adopt().or_default().receive_cuda_stream(cx)?`"
)]
pub trait MayMiss {}

#[diagnostic::do_not_recommend]
impl MayMiss for Received<Adopted> {}
#[diagnostic::do_not_recommend]
impl MayMiss for Received<AllocatedOrAdopted> {}

#[diagnostic::do_not_recommend]
impl<S: StreamReady> StreamReady for OrDefault<S> {
    type How = OrDefault<S::How>;
}
#[diagnostic::do_not_recommend]
impl<S: HasMessage> HasMessage for OrDefault<S> {}

/// States of inputs whose stream the default stream does not wait for yet.
#[diagnostic::on_unimplemented(
    message = "`sync_to_default` is written behind `receive()` and what finds the stream, once",
    label = "not here",
    note = "write `input.receive().sync_to_default().receive_cuda_stream(cx)?`"
)]
pub trait Unsynchronized {}

#[diagnostic::do_not_recommend]
impl<H> Unsynchronized for Received<H> {}
#[diagnostic::do_not_recommend]
impl<S> Unsynchronized for OrDefault<S> {}

#[diagnostic::do_not_recommend]
impl<S: StreamReady> StreamReady for ToDefault<S> {
    type How = ToDefault<S::How>;
}
#[diagnostic::do_not_recommend]
impl<S: HasMessage> HasMessage for ToDefault<S> {}
