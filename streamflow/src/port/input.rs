//! Law 1: First the message, then its stream.
//!
//! Inputs. An operator first receives the message, then the stream on which its data is ready, and with the stream the data.
//!
//! [`In::receive`] takes the message from the queue (`message/inlet.rs`). [`In::receive_cuda_stream`] makes the internal stream
//! wait for the message (`context/streams.rs`) and opens the data (`message/receive.rs`).

mod batch;

use std::fmt;
use std::marker::PhantomData;

use super::ends::ReceivingEnd;
use super::info::InputPort;
use super::states::{
    HasMessage, MayMiss, Open, Pending, Received, StreamReady, Unreceived, Unsynchronized,
};
use super::stream_policy::{Adopted, AllocatedOrAdopted, FindStream, OrDefault, ToDefault};
use crate::context::{ExecutionContext, Stream, StreamPolicy, StreamRef, Synchronized};
use crate::error::{Error, Result};
use crate::message::{
    CarriesStream, Description, EdgeStatus, Handled, Inlet, InputState, Many, Mark, Message,
    Metadata, Plain, Receive, ReceiveEach,
};
use crate::platform::Platform;
use crate::stream::Point;
use crate::time::Timestamp;

/// An input of a node, which exists as long as the node: from the first run to the last.
///
/// An [`Inlet`] has the input's queues. A tick gets the input as an [`In`].
#[derive(Debug)]
pub struct Input<P: InputPort> {
    pub(crate) inlet: Inlet<P::Message>,
}

impl<P: InputPort> Input<P> {
    /// Creates an input without edges.
    #[allow(clippy::new_without_default, reason = "made by generated code alone")]
    pub fn new() -> Self {
        Self { inlet: Inlet::new(const { &P::NAME }) }
    }

    /// Begins a tick: returns the input as `compute` gets it.
    pub fn io<'t>(&'t mut self, cx: &'t ExecutionContext) -> In<'t, P::Arg<'t>> {
        self.begin_tick();
        In { inlet: &mut self.inlet, cx, _state: PhantomData }
    }

    /// Returns the input in a tick of `flush`. The run's first such tick gets all messages that are left in the queues.
    pub fn flush_io<'t, A: ReceiveEach<'t, Message = P::Message>>(
        &'t mut self,
        is_first: bool,
        cx: &'t ExecutionContext,
    ) -> In<'t, Many<'t, A>> {
        self.inlet.begin_flush(is_first);
        In { inlet: &mut self.inlet, cx, _state: PhantomData }
    }
}

impl<P: InputPort> ReceivingEnd for Input<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn state(&self) -> InputState {
        self.inlet.state(P::OPTIONAL)
    }

    fn waiting(&self) -> usize {
        self.inlet.waiting()
    }

    fn oldest(&self) -> Option<Timestamp> {
        self.inlet.oldest()
    }

    fn is_optional(&self) -> bool {
        P::OPTIONAL
    }

    fn edges(&self) -> Vec<EdgeStatus> {
        self.inlet.edges()
    }

    fn give_way(&self, edges: &[usize]) {
        self.inlet.give_way(edges);
    }

    fn keep(&self, edges: &[usize]) {
        self.inlet.keep(edges);
    }

    fn compare(&mut self, compares: bool) {
        self.inlet.compares = compares;
    }

    fn begin_run(&mut self) {
        self.inlet.begin_run();
    }

    fn start(&mut self, carries: bool) -> Result<()> {
        self.inlet.start(carries)
    }

    fn stage(&mut self, visit: &mut dyn FnMut(Point)) {
        self.inlet.stage(visit);
    }

    fn incomplete_download(&self, platform: &Platform) -> Result<Option<Point>> {
        self.inlet.incomplete_download(platform)
    }

    fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>)) {
        self.inlet.heads(visit);
    }

    fn drop_older(&mut self, than: u64) {
        self.inlet.drop_older(than);
    }

    #[inline(always)]
    fn begin_tick(&mut self) {
        self.inlet.handled = if P::OPTIONAL { Handled::Ignored } else { Handled::Untouched };
    }

    fn finish(&mut self) -> Handled {
        self.inlet.finish()
    }

    fn oversized(&self) -> Option<crate::Error> {
        self.inlet.oversized()
    }

    fn drop_untaken(&mut self, any: &mut bool) {
        self.inlet.drop_untaken(any);
    }

    fn clear(&mut self) {
        self.inlet.clear();
    }
}

/// An input in one tick, as `compute` gets it. The type parameter `S` is the state of the input: first [`Pending`], and
/// [`Received`] once the message was received.
///
/// `A` is the type that the operator declared: `&T`, [`Shared<T>`](crate::Shared) or `T`, in an `Option` for an optional input.
///
/// ```text
/// let input = io.input.receive();                        // host data: `.into_data()`
/// let (data, stream) = input.receive_cuda_stream(cx)?;   // device data
/// ```
#[must_use = "receive the message, `leave()` it in the queue, or `discard()` it"]
pub struct In<'t, A: Receive<'t>, S = Pending> {
    inlet: &'t mut Inlet<A::Message>,
    cx: &'t ExecutionContext,
    _state: PhantomData<(A, S)>,
}

impl<'t, A: Receive<'t>, S> In<'t, A, S> {
    /// Takes the message from the queue; at an input with several edges, one message from each. A required input has messages,
    /// since the operator runs only then. The data may stay unopened: then no stream waits for it.
    #[inline]
    pub fn receive(self) -> In<'t, A, Received>
    where
        S: Unreceived,
    {
        self.inlet.receive_noted(self.cx.carried());
        self.into_state()
    }

    fn into_state<T>(self) -> In<'t, A, T> {
        In { inlet: self.inlet, cx: self.cx, _state: PhantomData }
    }

    /// Leaves the message in the queue for a later tick. After a tick that takes no message and sends none, the node runs again
    /// only when another node has changed something; if no node can, the run has [stalled](crate::Error::Stalled).
    pub fn leave(self)
    where
        S: Unreceived,
    {
        self.inlet.handled = Handled::Left;
    }

    /// Takes the message from the queue and drops it unread.
    pub fn discard(self)
    where
        S: Unreceived,
    {
        self.inlet.discard();
    }

    /// Returns the data and the operator's internal stream. Work that is queued on this stream from now on comes after the work
    /// that wrote the data, whichever stream wrote it. All inputs of an operator return the same stream, in all ticks. The call
    /// makes the stream's device current on this thread.
    ///
    /// The first call allocates the internal stream from the node's pool. An adopting node, `#[streams(none)]`, adopts the first
    /// stream that comes with a message; for messages that were sent on the default stream, it uses that. To choose another rule,
    /// first call [`or_adopt`](Self::or_adopt), [`adopt`](Self::adopt), [`or_default`](Self::or_default) or
    /// [`sync_to_default`](Self::sync_to_default).
    ///
    /// Outputs send on this stream, unless `set_cuda_stream` chooses another. Holoscan calls this `receive_cuda_stream` as well.
    ///
    /// # Errors
    /// A failed call loses the message, so the tick fails with this error, even if the operator ignores it:
    /// [`Error::PoolExhausted`](crate::Error::PoolExhausted), [`Error::NothingToAdopt`](crate::Error::NothingToAdopt), or an
    /// error of the driver, when the wait fails.
    pub fn receive_cuda_stream<'c>(self, cx: &'c ExecutionContext) -> Result<(A, Stream<'c>)>
    where
        S: StreamReady,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        let stream = match self.inlet.only() {
            Some(envelope) => cx.receive_stream(S::Policy::POLICY, envelope.sent.into_iter()),
            None => order_each(self.inlet, S::Policy::POLICY, cx),
        };
        let stream =
            stream.inspect_err(|error| lost(self.cx, "receive_cuda_stream", self.inlet, error))?;
        self.report_received();
        Ok((A::open(self.inlet), stream))
    }

    /// Receives the message, and returns its data and the operator's internal stream, as [`receive`](Self::receive) and then
    /// [`receive_cuda_stream`](Self::receive_cuda_stream) do. The two calls are written apart where something stands between them:
    /// [`metadata`](Self::metadata), [`streams`](Self::streams), or another rule for the stream.
    ///
    /// # Errors
    /// Those of [`receive_cuda_stream`](Self::receive_cuda_stream).
    pub fn receive_with_stream<'c>(self, cx: &'c ExecutionContext) -> Result<(A, Stream<'c>)>
    where
        S: Unreceived,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        self.receive().receive_cuda_stream(cx)
    }

    /// If the pool is exhausted, or if the node has no pool, the first stream that comes with a message becomes the internal
    /// stream. Holoscan does so by default.
    pub fn or_adopt(self) -> In<'t, A, Received<AllocatedOrAdopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// The first stream that comes with a message becomes the internal stream. No stream is allocated from the pool. Holoscan's
    /// `allocate = false`.
    pub fn adopt(self) -> In<'t, A, Received<Adopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// If no message comes with a stream, the work of this tick goes to the device's default stream, and the messages that the
    /// tick emits name no stream. Their consumers still wait for the work: each message carries its point on the default stream.
    pub fn or_default(self) -> In<'t, A, OrDefault<S>>
    where
        S: MayMiss,
    {
        self.into_state()
    }

    /// Makes the device's default stream wait for the messages too, for libraries that queue work there. Work that is queued
    /// through streamflow does not need this. Holoscan's `sync_to_default`.
    pub fn sync_to_default(self) -> In<'t, A, ToDefault<S>>
    where
        S: Unsynchronized,
    {
        self.into_state()
    }

    /// Returns the streams of the messages, in order of arrival. No stream is made to wait, and the data is not opened. The item
    /// is `None` for a message without a named stream: host data, or device data that was sent on the default stream. Holoscan's
    /// `receive_cuda_streams`.
    pub fn streams(&self) -> impl Iterator<Item = Option<StreamRef>> + use<'_, 't, A, S>
    where
        S: HasMessage,
    {
        let table = self.cx.table();
        self.inlet.batch().map(move |envelope| {
            let point = envelope.sent.filter(|point| !table.is_default(point.stream()))?;
            let device = table.timeline(point.stream()).device();
            Some(StreamRef::new(point, device, table.platform()))
        })
    }

    /// Returns the device data, for work on a stream that [`synchronize_streams`](ExecutionContext::synchronize_streams) has made
    /// wait for all streams that [`streams`](Self::streams) returned. No stream is allocated, and no stream becomes the internal
    /// stream: an output then needs `set_cuda_stream`.
    ///
    /// # Errors
    /// A failed call loses the message, so the tick fails with this error, even if the operator ignores it:
    /// [`Error::NotSynchronized`](crate::Error::NotSynchronized) if a stream was left out; errors of the driver.
    pub fn into_synchronized_data(self, after: &Synchronized<'_>) -> Result<A>
    where
        S: HasMessage,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        let (node, port) = (self.cx.node(), *self.inlet.name);
        let mut sent = self.inlet.batch().filter_map(|envelope| envelope.sent);
        let ordered = sent.try_for_each(|point| after.check(point, node, port));
        ordered.inspect_err(|error| lost(self.cx, "into_synchronized_data", self.inlet, error))?;
        self.report_received();
        Ok(A::open(self.inlet))
    }

    /// Returns a description of each message, in order of arrival: the names, types, shapes and devices of its parts. The data is
    /// not opened. The call allocates host memory.
    pub fn describe(&self) -> impl Iterator<Item = Description> + use<'_, 't, A, S>
    where
        S: HasMessage,
    {
        self.inlet.batch().map(|envelope| Description::of(&*envelope.message))
    }

    /// The metadata of the message, or of the first of several; `None` if an optional input has no message. Call it after
    /// [`receive`](Self::receive) and before [`receive_cuda_stream`](Self::receive_cuda_stream), which consumes the input.
    pub fn metadata(&self) -> Option<&Metadata>
    where
        S: HasMessage,
    {
        self.inlet.batch().next().map(|envelope| &envelope.metadata)
    }

    /// Returns the host data of the message.
    #[inline]
    pub fn into_data(self) -> A
    where
        S: HasMessage,
        <A::Message as Message>::Place: Plain<A::Message>,
    {
        A::open(self.inlet)
    }

    /// Returns the device data without a stream that waits for it.
    ///
    /// # Safety
    /// Work on the data that is queued outside of streamflow must come after the points that [`streams`](Self::streams) names.
    /// Launches and copies of streamflow wait for those points by themselves.
    pub unsafe fn into_unordered_data(self) -> A
    where
        S: HasMessage,
    {
        self.report_received();
        A::open(self.inlet)
    }

    /// Tells the layers of the driver, such as the race checker, which memory the received messages have.
    fn report_received(&self) {
        let platform = self.cx.platform();
        if platform.is_watched() {
            self.inlet.report_batch(platform);
        }
    }
}

/// Records in the context that a call at an input has failed, if the input has a message: the failed call loses it.
#[cold]
#[inline(never)]
pub(super) fn lost<T>(cx: &ExecutionContext, call: &'static str, inlet: &Inlet<T>, error: &Error) {
    if inlet.has_message() {
        cx.add_lost(call, inlet.name, error.clone().into());
    }
}

impl<'t, A: Receive<'t>, S> fmt::Debug for In<'t, A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "In({})", self.inlet.name)
    }
}

/// Makes the operator's internal stream wait for all messages of an input, and returns the stream.
#[inline(never)]
pub(super) fn order_each<'c, T: Message>(
    inlet: &Inlet<T>,
    policy: StreamPolicy,
    cx: &'c ExecutionContext,
) -> Result<Stream<'c>> {
    cx.receive_stream(policy, inlet.batch().filter_map(|envelope| envelope.sent))
}
