//! Law 1: First the message, then its stream.
//!
//! Inputs: first the message, then its stream, then its data.
//!
//! [`In::receive`] takes the message from the queue (`message/inlet.rs`); [`In::receive_cuda_stream`] then makes the
//! internal stream wait for it (`context/streams.rs`) and opens the data (`message/receive.rs`).

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

/// An input of a node, from the first run to the last.
///
/// An [`Inlet`] has the queues. A tick gets the input as an [`In`].
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

    /// The input in one tick.
    pub fn io<'t>(&'t mut self, cx: &'t ExecutionContext) -> In<'t, P::Arg<'t>> {
        self.begin_tick();
        In { inlet: &mut self.inlet, cx, _state: PhantomData }
    }

    /// The input in a tick of `flush`. The first such tick gets all messages that are left.
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

/// An input in one tick, as `compute` gets it. The type has the state of the input: `S` is [`Pending`], then
/// [`Received`].
///
/// `A` is the declared type: `&T`, [`Shared<T>`](crate::Shared) or `T`, in an `Option` for an optional input.
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
    /// Takes the message from the queue; at an input with several edges, one from each. A required input has messages,
    /// else the operator would not run. The data need not be opened: no stream then waits for it.
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

    /// Leaves the message in the queue for a later tick. A tick that takes no message and sends none is repeated only
    /// when another node has changed something; if no node can, the run has [stalled](crate::Error::Stalled).
    pub fn leave(self)
    where
        S: Unreceived,
    {
        self.inlet.handled = Handled::Left;
    }

    /// Takes the message from the queue and drops it.
    pub fn discard(self)
    where
        S: Unreceived,
    {
        self.inlet.discard();
    }

    /// The data and the operator's internal stream. Work that is queued on this stream from now on comes after the work
    /// that made the data, on whichever stream that was queued. All inputs of an operator give the same stream, in all
    /// ticks. The stream's device is current on this thread now.
    ///
    /// The internal stream is allocated from the node's pool at the first call. An adopting node, `#[streams(none)]`,
    /// uses the first stream that a message came with, and the default stream for messages that
    /// were sent there. To choose another way, call one of these before: [`or_adopt`](Self::or_adopt),
    /// [`adopt`](Self::adopt), [`or_default`](Self::or_default), [`sync_to_default`](Self::sync_to_default).
    ///
    /// Outputs send on this stream, unless `set_cuda_stream` chooses another. Holoscan's `receive_cuda_stream`.
    ///
    /// # Errors
    /// An error loses the message, so the tick fails with it, also if the operator drops the error.
    /// [`Error::PoolExhausted`](crate::Error::PoolExhausted);
    /// [`Error::NothingToAdopt`](crate::Error::NothingToAdopt); errors of the driver, when the wait fails.
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

    /// If the pool is exhausted, or if there is no pool, the first stream that comes with a message becomes the
    /// internal one. Holoscan does so by default.
    pub fn or_adopt(self) -> In<'t, A, Received<AllocatedOrAdopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// The first stream that comes with a message becomes the internal one; no stream is allocated.
    /// Holoscan's `allocate = false`.
    pub fn adopt(self) -> In<'t, A, Received<Adopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// If no message comes with a stream, the work of this tick goes to the device's default stream, and the messages
    /// that it emits name no stream. Consumers still wait for that work: the message carries the point of it.
    pub fn or_default(self) -> In<'t, A, OrDefault<S>>
    where
        S: MayMiss,
    {
        self.into_state()
    }

    /// Orders the device's default stream after the messages as well, for libraries that work there. Work through
    /// streamflow does not need it. Holoscan's `sync_to_default`.
    pub fn sync_to_default(self) -> In<'t, A, ToDefault<S>>
    where
        S: Unsynchronized,
    {
        self.into_state()
    }

    /// The streams of the messages, in order of arrival, without waiting for them and without
    /// opening the data. `None` for a message without a named stream: host data, and device data that was
    /// sent on the default stream. Holoscan's `receive_cuda_streams`.
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

    /// The device data, for use on the stream that [`synchronize_streams`](ExecutionContext::synchronize_streams)
    /// made wait for all streams that [`streams`](Self::streams) named. No stream is allocated, and no stream becomes
    /// the internal one: an output needs `set_cuda_stream`.
    ///
    /// # Errors
    /// An error loses the message, so the tick fails with it, also if the operator drops the error.
    /// [`Error::NotSynchronized`](crate::Error::NotSynchronized) if one of the streams was left out; errors of the driver.
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

    /// A description of the messages, in order of arrival: the names, types, shapes and devices of their parts. The
    /// data is not opened. The call allocates.
    pub fn describe(&self) -> impl Iterator<Item = Description> + use<'_, 't, A, S>
    where
        S: HasMessage,
    {
        self.inlet.batch().map(|envelope| Description::of(&*envelope.message))
    }

    /// The metadata of the message, or of the first of several; `None` if an optional input has no message. Read it after
    /// [`receive`](Self::receive) and before [`receive_cuda_stream`](Self::receive_cuda_stream): that call consumes the input.
    pub fn metadata(&self) -> Option<&Metadata>
    where
        S: HasMessage,
    {
        self.inlet.batch().next().map(|envelope| &envelope.metadata)
    }

    /// The host data.
    #[inline]
    pub fn into_data(self) -> A
    where
        S: HasMessage,
        <A::Message as Message>::Place: Plain<A::Message>,
    {
        A::open(self.inlet)
    }

    /// The device data without its stream.
    ///
    /// # Safety
    /// Work with the data that is queued outside of streamflow must come after the points that
    /// [`streams`](Self::streams) names. Launches and copies of streamflow order themselves.
    pub unsafe fn into_unordered_data(self) -> A
    where
        S: HasMessage,
    {
        self.report_received();
        A::open(self.inlet)
    }

    /// Reports the memory of the received messages to the layers below, such as the race checker.
    fn report_received(&self) {
        let platform = self.cx.platform();
        if platform.is_watched() {
            self.inlet.report_batch(platform);
        }
    }
}

/// Records that a call at an input has failed. If a message was received there, it is lost.
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

/// Makes the internal stream come after all messages of an input.
#[inline(never)]
pub(super) fn order_each<'c, T: Message>(
    inlet: &Inlet<T>,
    policy: StreamPolicy,
    cx: &'c ExecutionContext,
) -> Result<Stream<'c>> {
    cx.receive_stream(policy, inlet.batch().filter_map(|envelope| envelope.sent))
}
