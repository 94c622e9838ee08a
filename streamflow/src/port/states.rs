//! The states of an input in one tick, as types: what was done, and what may be done next.

use std::marker::PhantomData;

use super::stream_policy::{
    Adopted, Allocated, AllocatedOrAdopted, FindStream, OrDefault, ToDefault,
};

/// State of an input: nothing was asked of it in this tick.
#[derive(Debug)]
pub enum Pending {}

/// State of an input: its message was received. `P` says how the internal stream is found, for
/// `receive_cuda_stream`: by default it is [`Allocated`].
#[derive(Debug)]
pub struct Received<P = Allocated>(PhantomData<P>);

/// States in which a message was received.
#[diagnostic::on_unimplemented(
    message = "the message of this input was not received yet",
    label = "this input was not received yet",
    note = "receive first: `let input = input.receive();`"
)]
pub trait HasMessage {}

#[diagnostic::do_not_recommend]
impl<P> HasMessage for Received<P> {}

/// States in which no message was received yet.
#[diagnostic::on_unimplemented(
    message = "this input was received already",
    label = "a message is received once per tick",
    note = "keep what the first `receive()` returned"
)]
pub trait Unreceived {}

#[diagnostic::do_not_recommend]
impl Unreceived for Pending {}

/// States in which the stream of the message may be asked for.
#[diagnostic::on_unimplemented(
    message = "`receive_cuda_stream` is called before `receive` on this input",
    label = "this input was not received yet",
    note = "receive first: `let input = input.receive();`, then `input.receive_cuda_stream(cx)?`"
)]
pub trait StreamReady {
    /// How the internal stream is found.
    type Policy: FindStream;
}

#[diagnostic::do_not_recommend]
impl<P: FindStream> StreamReady for Received<P> {
    type Policy = P;
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
    type Policy = OrDefault<S::Policy>;
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
impl<P> Unsynchronized for Received<P> {}
#[diagnostic::do_not_recommend]
impl<S> Unsynchronized for OrDefault<S> {}

#[diagnostic::do_not_recommend]
impl<S: StreamReady> StreamReady for ToDefault<S> {
    type Policy = ToDefault<S::Policy>;
}
#[diagnostic::do_not_recommend]
impl<S: HasMessage> HasMessage for ToDefault<S> {}
