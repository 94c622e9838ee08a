//! Law 1: First the message, then its stream.
//!
//! Inputs: first the message, then its stream, then its data.

use std::fmt;
use std::marker::PhantomData;

use super::ends::ReceivingEnd;
use super::info::InputPort;
use super::states::{
    HasMessage, MayMiss, Open, Pending, Received, StreamReady, Unreceived, Unsynchronized,
};
use super::stream_policy::{Adopted, AllocatedOrAdopted, FindStream, OrDefault, ToDefault};
use crate::context::{ExecutionContext, Stream, StreamRef, Synchronized};
use crate::error::Result;
use crate::message::{
    CarriesStream, Handled, Inlet, InputState, Message, Metadata, Plain, Receive,
};
use crate::stream::Point;

/// An input port of a node.
#[derive(Debug)]
pub struct Input<P: InputPort> {
    pub(crate) inlet: Inlet<P::Message>,
}

impl<P: InputPort> Input<P> {
    /// Not connected yet.
    #[allow(clippy::new_without_default, reason = "made by generated code alone")]
    pub fn new() -> Self {
        Self { inlet: Inlet::new(P::NAME) }
    }

    /// The input for one tick.
    pub fn io<'t>(&'t mut self, cx: &'t ExecutionContext) -> In<'t, P::Arg<'t>> {
        self.inlet.handled = if P::OPTIONAL { Handled::Left } else { Handled::Untouched };
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

    fn would_lose(&self) -> bool {
        self.inlet.would_lose()
    }

    fn check_start(&self) -> Result<()> {
        self.inlet.check_start()
    }

    fn stage(&mut self, visit: &mut dyn FnMut(Point)) {
        self.inlet.stage();
        self.inlet.batch().filter_map(|envelope| envelope.sent).for_each(visit);
    }

    fn finish(&mut self) -> Handled {
        self.inlet.finish()
    }

    fn clear(&mut self) {
        self.inlet.clear();
    }
}

/// An input during one tick. `A` is what the operator declared: `&T`, [`Shared<T>`](crate::Shared) or
/// `T`, in an `Option` for an optional input. `S` says what was done: [`Pending`], then [`Received`].
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
    /// Takes the message off the queue, or one off each edge of an input with several. A required
    /// input has them, else the operator would not run.
    pub fn receive(self) -> In<'t, A, Received>
    where
        S: Unreceived,
    {
        self.inlet.receive();
        self.inlet.batch().for_each(|envelope| self.cx.note_metadata(&envelope.metadata));
        self.into_state()
    }

    fn into_state<T>(self) -> In<'t, A, T> {
        In { inlet: self.inlet, cx: self.cx, _state: PhantomData }
    }

    /// Leaves the message in the queue for a later tick.
    pub fn leave(self)
    where
        S: Unreceived,
    {
        self.inlet.handled = Handled::Left;
    }

    /// Takes the message off the queue and drops it.
    pub fn discard(self)
    where
        S: Unreceived,
    {
        self.inlet.discard();
    }

    /// The data and the operator's internal stream, on which work now comes after all that the
    /// messages' data was sent with, whatever streams they came with. Each port of an operator gives
    /// the same stream, each tick too. Its device is current on this thread now.
    ///
    /// The internal stream is allocated from the operator's pool the first time. An operator without
    /// a pool (`#[streams(none)]`) uses the first stream that a message ever came with, and the default
    /// stream for what was sent there. Other ways are written before: [`or_adopt`](Self::or_adopt), [`adopt`](Self::adopt),
    /// [`or_default`](Self::or_default), [`sync_to_default`](Self::sync_to_default).
    ///
    /// Outputs send on this stream by themselves. Holoscan's `receive_cuda_stream`.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`](crate::Error::PoolExhausted);
    /// [`Error::NothingToAdopt`](crate::Error::NothingToAdopt); the driver's, when the wait fails.
    pub fn receive_cuda_stream<'c>(self, cx: &'c ExecutionContext) -> Result<(A, Stream<'c>)>
    where
        S: StreamReady,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        let sent = self.inlet.batch().filter_map(|envelope| envelope.sent);
        let stream = cx.receive_stream(S::Policy::POLICY, sent)?;
        self.came_in();
        Ok((A::open(self.inlet), stream))
    }

    /// When the pool is exhausted, or when there is none, the first stream that comes with a message
    /// becomes the internal one. Holoscan does so in silence.
    pub fn or_adopt(self) -> In<'t, A, Received<AllocatedOrAdopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// The first stream that comes with a message becomes the internal one; none is allocated.
    /// Holoscan's `allocate = false`.
    pub fn adopt(self) -> In<'t, A, Received<Adopted>>
    where
        S: Open,
    {
        self.into_state()
    }

    /// When no message comes with a stream, the work of this tick goes to the device's default stream,
    /// and messages that are emitted then name no stream. Consumers still wait for that work: the
    /// point of its last write travels in any case.
    pub fn or_default(self) -> In<'t, A, OrDefault<S>>
    where
        S: MayMiss,
    {
        self.into_state()
    }

    /// Work that is queued on the device's default stream from now on comes after the messages, too:
    /// for libraries that work there. Work through streamflow needs no such barrier. Holoscan's
    /// `sync_to_default`.
    pub fn sync_to_default(self) -> In<'t, A, ToDefault<S>>
    where
        S: Unsynchronized,
    {
        self.into_state()
    }

    /// The streams of the messages, in order of arrival, without waiting for them and without
    /// opening the data. `None` for a message that names none: host data, and device data that was
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

    /// Device data, for use on the stream that was made to wait for all that
    /// [`streams`](Self::streams) named. No stream is allocated, and none becomes the internal one: what
    /// is emitted needs `set_cuda_stream`.
    ///
    /// # Errors
    /// [`Error::NotSynchronized`](crate::Error::NotSynchronized) when one of them was left out; the
    /// driver's.
    pub fn into_synchronized_data(self, after: &Synchronized<'_>) -> Result<A>
    where
        S: HasMessage,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        let (node, port) = (self.cx.node(), self.inlet.name);
        let mut sent = self.inlet.batch().filter_map(|envelope| envelope.sent);
        sent.try_for_each(|point| after.check(point, node, port))?;
        self.came_in();
        Ok(A::open(self.inlet))
    }

    /// What travelled with the message, the first of several; `None` when an optional input has none.
    pub fn metadata(&self) -> Option<&Metadata>
    where
        S: HasMessage,
    {
        self.inlet.batch().next().map(|envelope| &envelope.metadata)
    }

    /// Host data.
    pub fn into_data(self) -> A
    where
        S: HasMessage,
        <A::Message as Message>::Place: Plain<A::Message>,
    {
        A::open(self.inlet)
    }

    /// Device data without its stream.
    ///
    /// # Safety
    /// Whatever is queued with the data outside of streamflow's launches and copies, which order
    /// themselves, must come after the points that [`streams`](Self::streams) names.
    pub unsafe fn into_unordered_data(self) -> A
    where
        S: HasMessage,
    {
        self.came_in();
        A::open(self.inlet)
    }

    /// Tells whoever watches which memory this port brings.
    fn came_in(&self) {
        let platform = self.cx.platform();
        if platform.is_watched() {
            self.inlet.tell_batch(platform);
        }
    }
}

impl<'t, A: Receive<'t>, S> fmt::Debug for In<'t, A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "In({})", self.inlet.name)
    }
}
