//! Law 4: A message leaves on the stream that wrote it.
//!
//! Outputs. An operator first chooses the stream, and then emits the message, once. The chosen stream is *made to wait* for the
//! streams that wrote the message: [`Out::emit`] passes the message to the [`Outlet`] (`port/outlet.rs`), which calls
//! [`message::order`](crate::message::order), in `message/visit.rs`.
//!
//! For speed, the metadata of a message is copied as a whole, unless the output sets a field itself. If no input has left its
//! message in the tick, `emit` reads the sending stream from a field, and calls no function for it; the docs of `message::edges`
//! have the measurement.

use std::fmt;
use std::marker::PhantomData;

use super::ends::SendingEnd;
use super::info::OutputPort;
use super::outlet::Outlet;
use crate::Result;
use crate::context::{ExecutionContext, Stream};
use crate::error::{Error, Failure};
use crate::message::{CarriesStream, Device, EdgeStatus, Host, Message, Metadata, Place};
use crate::stream::CudaStream;
use crate::time::Timestamp;

/// An output of a node, which exists as long as the node: from the first run to the last.
///
/// An [`Outlet`] has the output's queues. A tick gets the output as an [`Out`].
#[derive(Debug)]
pub struct Output<P: OutputPort> {
    pub(crate) outlet: Outlet<P::Item>,
}

impl<P: OutputPort> Output<P> {
    /// Creates an output without edges.
    #[allow(clippy::new_without_default, reason = "made by generated code alone")]
    pub fn new() -> Self {
        Self { outlet: Outlet::new(P::NAME) }
    }

    /// Begins a tick: returns the output as `compute` gets it.
    pub fn io<'t, S: Initial>(&'t mut self, cx: &'t ExecutionContext) -> Out<'t, P::Item, S> {
        Out { outlet: &mut self.outlet, cx, stream: S::INITIAL, acquired: None, sequence: None }
    }
}

impl<P: OutputPort> SendingEnd for Output<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn is_branch(&self) -> bool {
        P::IS_BRANCH
    }

    fn has_room(&self) -> bool {
        self.outlet.has_room()
    }

    fn is_full(&self) -> bool {
        self.outlet.is_full()
    }

    fn edges(&self) -> Vec<EdgeStatus> {
        self.outlet.edges()
    }

    fn may_fault(&self) -> bool {
        self.outlet.may_fault()
    }

    fn full(&self) -> Option<Error> {
        self.outlet.full()
    }

    fn publish(&mut self) -> bool {
        self.outlet.publish()
    }

    fn cancel(&mut self) {
        self.outlet.cancel();
    }

    fn begin_run(&mut self) {
        self.outlet.has_emitted = false;
    }

    fn has_emitted(&self) -> bool {
        self.outlet.has_emitted
    }

    fn synchronize_blocking(&self) -> Result<(), Error> {
        self.outlet.synchronize_blocking()
    }
}

/// State of an output: no stream is chosen yet. `P` is the place of the data that the operator's inputs receive. With `Device`,
/// the default, the output sends on the operator's internal stream. With `Host`, for operators without inputs of device data, no
/// internal stream exists.
#[derive(Debug, Clone, Copy)]
pub struct Unset<P: Place = Host>(PhantomData<P>);

/// State of an output: `set_cuda_stream` has chosen the stream on which it sends.
#[derive(Debug)]
pub struct On<'c>(Stream<'c>);

/// The states that an output can have at the beginning of a tick.
pub trait Initial: Sized {
    /// The state as a value.
    const INITIAL: Self;
}

impl<P: Place> Initial for Unset<P> {
    const INITIAL: Self = Self(PhantomData);
}

/// The states of an output whose stream is not chosen yet.
#[diagnostic::on_unimplemented(
    message = "the stream of this message is chosen already",
    label = "a second `set_cuda_stream`",
    note = "call `set_cuda_stream` once, with the stream that wrote the data last"
)]
pub trait Unchosen {}

#[diagnostic::do_not_recommend]
impl<P: Place> Unchosen for Unset<P> {}

/// The states of an output in which it can send data of the place `P`: `Host` or `Device`.
#[diagnostic::on_unimplemented(
    message = "device data is emitted without a stream",
    label = "an operator without a device input has no internal stream",
    note = "choose one: `.set_cuda_stream(&stream).emit(…)`; `#[operator(streams(name))]` declares a stream, and `cx.allocate_cuda_stream(io.name)?` returns it"
)]
pub trait Sends<P> {
    /// Returns the stream on which the message is sent; `None` for host data.
    ///
    /// # Errors
    /// [`Error::NoStream`] if no stream was chosen, and the operator has not received its internal stream.
    fn stream<'a>(
        &'a self,
        cx: &'a ExecutionContext,
        port: &str,
    ) -> Result<Option<&'a CudaStream>, Error>;
}

#[diagnostic::do_not_recommend]
impl<S> Sends<Host> for S {
    #[inline]
    fn stream<'a>(
        &'a self,
        _: &'a ExecutionContext,
        _: &str,
    ) -> Result<Option<&'a CudaStream>, Error> {
        Ok(None)
    }
}

#[diagnostic::do_not_recommend]
impl<P: CarriesStream<()>> Sends<Device> for Unset<P> {
    #[inline]
    fn stream<'a>(
        &'a self,
        cx: &'a ExecutionContext,
        port: &str,
    ) -> Result<Option<&'a CudaStream>, Error> {
        cx.sending_stream(port).map(Some)
    }
}

#[diagnostic::do_not_recommend]
impl Sends<Device> for On<'_> {
    #[inline]
    fn stream<'a>(
        &'a self,
        _: &'a ExecutionContext,
        _: &str,
    ) -> Result<Option<&'a CudaStream>, Error> {
        Ok(Some(&self.0))
    }
}

/// An output in one tick, as `compute` gets it. The type parameter `S` is the state of the output: [`Unset`], or [`On`] the
/// stream that was chosen.
///
/// The message is sent when the tick has succeeded. A failed tick sends nothing, with one exception: if an edge drops an older
/// message to make room, and the `Drop` of that one panics, the tick fails but all its messages are sent.
#[must_use = "nothing is sent until `emit`"]
pub struct Out<'t, T: Message, S = Unset<Device>> {
    outlet: &'t mut Outlet<T>,
    cx: &'t ExecutionContext,
    stream: S,
    acquired: Option<Timestamp>,
    sequence: Option<u64>,
}

impl<'t, T: Message, S> Out<'t, T, S> {
    /// Chooses the stream that the message is sent on: the stream that wrote its data last. If other streams wrote parts of the
    /// data, this stream is made to wait for them.
    pub fn set_cuda_stream<'c>(self, stream: &Stream<'c>) -> Out<'t, T, On<'c>>
    where
        S: Unchosen,
    {
        let Self { outlet, cx, acquired, sequence, .. } = self;
        Out { outlet, cx, stream: On(*stream), acquired, sequence }
    }

    /// Sets when the data of this message was acquired. The default is the earliest acquisition time of the messages received in
    /// this tick; if there are none, the time of the tick's first `emit`, by the platform's clock. A tick of
    /// [`flush`](crate::Flush) counts the messages of the preceding tick as received. See [`Metadata`].
    pub fn acquired(mut self, at: Timestamp) -> Self {
        self.acquired = Some(at);
        self
    }

    /// Sets the sequence number of this message. The default is the number of the received message with the earliest acquisition
    /// time in this tick; without received messages, the number of the [tick](ExecutionContext::tick). A tick of
    /// [`flush`](crate::Flush) counts the messages of the preceding tick as received. See [`Metadata`].
    pub fn sequence(mut self, number: u64) -> Self {
        self.sequence = Some(number);
        self
    }

    /// Emits a message. The runtime sends it when the tick has succeeded, with the metadata of the messages received
    /// in this tick.
    ///
    /// # Errors
    /// A failed call loses the message, so the tick fails with this error, even if the operator ignores it: [`Error::NoStream`]
    /// for device data of an operator that received no stream in this or an earlier tick; [`Error::WrongDevice`] and
    /// [`Error::ForeignPlatform`]; [`Error::Unwritten`] for memory that a failed call should have written; errors of the
    /// driver.
    #[inline]
    pub fn emit(self, message: T) -> Result<()>
    where
        S: Sends<T::Place>,
    {
        self.emit_with(message, |_| ())
    }

    /// Emits a message as [`emit`](Self::emit) does, after `change` has changed its metadata: `io.frame.emit_with(frame,
    /// |metadata| metadata.set("gain", 0.5))`. See [`Metadata`].
    ///
    /// # Errors
    /// As for [`emit`](Self::emit).
    #[inline]
    pub fn emit_with(self, message: T, change: impl FnOnce(&mut Metadata)) -> Result<()>
    where
        S: Sends<T::Place>,
    {
        let (cx, port) = (self.cx, self.outlet.name);
        let emitted = self.try_emit(message, change);
        if let Err(error) = &emitted {
            lost(cx, port, error);
        }
        emitted
    }

    #[inline(always)]
    fn try_emit(self, message: T, change: impl FnOnce(&mut Metadata)) -> Result<()>
    where
        S: Sends<T::Place>,
    {
        let stream = self.stream.stream(self.cx, self.outlet.name)?;
        let mut metadata = self.cx.metadata();
        if self.acquired.is_some() | self.sequence.is_some() {
            stamp(&mut metadata, self.acquired, self.sequence);
        }
        change(&mut metadata);
        self.outlet.emit(message, metadata, stream, self.cx)
    }
}

/// Records in the context that a message could not be emitted, and is lost.
#[cold]
#[inline(never)]
pub(super) fn lost(cx: &ExecutionContext, port: &'static str, error: &Failure) {
    cx.add_lost("emit", port, error.clone());
}

/// Sets the time and the number that the operator chose. Not inlined: other messages' metadata is then copied as a whole.
#[cold]
#[inline(never)]
pub(super) fn stamp(metadata: &mut Metadata, acquired: Option<Timestamp>, sequence: Option<u64>) {
    if let Some(at) = acquired {
        metadata.set_acquired(at);
    }
    if let Some(number) = sequence {
        metadata.set_sequence(number);
    }
}

impl<T: Message, S> fmt::Debug for Out<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Out({})", self.outlet.name)
    }
}
