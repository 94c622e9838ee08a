//! The states of an input in one tick, as types. A state tells which methods were called on the input, and so which may follow.

use std::marker::PhantomData;

use super::stream_policy::{
    Adopted, Allocated, AllocatedOrAdopted, FindStream, OrDefault, ToDefault,
};

/// State of an input: its message was not received yet in this tick.
#[derive(Debug)]
pub enum Pending {}

/// State of an input: its message was received. `P` says where `receive_cuda_stream` gets the internal stream from; by default,
/// `Allocated`, from the node's pool.
#[derive(Debug)]
pub struct Received<P = Allocated>(PhantomData<P>);

/// The states of an input whose message was received.
#[diagnostic::on_unimplemented(
    message = "the message of this input was not received yet",
    label = "this input was not received yet",
    note = "receive first: `let input = input.receive();`; `receive_with_stream` returns the data and the stream at once"
)]
pub trait HasMessage {}

#[diagnostic::do_not_recommend]
impl<P> HasMessage for Received<P> {}

/// The states of an input whose message was not received yet.
#[diagnostic::on_unimplemented(
    message = "this input was received already",
    label = "a message is received once per tick",
    note = "keep what the first call returned; after `receive()`, its stream comes by `receive_cuda_stream(cx)?`"
)]
pub trait Unreceived {}

#[diagnostic::do_not_recommend]
impl Unreceived for Pending {}

/// The states of an input in which `receive_cuda_stream` may be called.
#[diagnostic::on_unimplemented(
    message = "`receive_cuda_stream` is called before `receive` on this input",
    label = "this input was not received yet",
    note = "receive first: `let input = input.receive();`, then `input.receive_cuda_stream(cx)?`; `receive_with_stream(cx)?` is both"
)]
pub trait StreamReady {
    /// Where `receive_cuda_stream` gets the internal stream from.
    type Policy: FindStream;
}

#[diagnostic::do_not_recommend]
impl<P: FindStream> StreamReady for Received<P> {
    type Policy = P;
}

/// The states of an input in which `or_adopt` and `adopt` may be called: neither was called yet.
#[diagnostic::on_unimplemented(
    message = "where the stream comes from is chosen once, after `receive()`",
    label = "the message is not received yet, or the choice is made already",
    note = "choose once, after `receive()`: `input.receive().or_adopt().receive_cuda_stream(cx)?`"
)]
pub trait Open {}

#[diagnostic::do_not_recommend]
impl Open for Received<Allocated> {}

/// The states of an input in which `or_default` may be called: after `adopt` or `or_adopt`, messages may come without a stream.
#[diagnostic::on_unimplemented(
    message = "`or_default` is called after `adopt()` or `or_adopt()`: without them the stream comes from the pool",
    label = "there is always a stream here",
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

/// The states of an input in which `sync_to_default` may be called: it was not called yet.
#[diagnostic::on_unimplemented(
    message = "`sync_to_default` is called once, after `receive()` and after the choice of the stream",
    label = "the message is not received yet, or `sync_to_default` is called already",
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
