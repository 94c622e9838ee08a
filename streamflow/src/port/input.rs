//! Inputs: first the message, then its stream, then its data.

use std::fmt;
use std::marker::PhantomData;

use super::{AnyInput, CarriesStream, Handled, Inlet, InputPort, Plain, Receive};
use crate::context::{ExecutionContext, Stream};
use crate::driver::{DeviceId, Direction};
use crate::error::Result;
use crate::message::{self, Message, Metadata};
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
        In { inlet: &mut self.inlet, cx, _state: PhantomData }
    }
}

impl<P: InputPort> AnyInput for Input<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn is_optional(&self) -> bool {
        P::OPTIONAL
    }

    fn has_message(&self) -> bool {
        self.inlet.waits()
    }

    fn sent(&self) -> Option<Point> {
        self.inlet.sent()
    }

    fn finish(&mut self) -> Handled {
        self.inlet.finish()
    }

    fn clear(&mut self) {
        self.inlet.clear();
    }
}

/// State of an input: nothing was asked of it in this tick.
#[derive(Debug)]
pub enum Pending {}

/// State of an input: its message was received.
#[derive(Debug)]
pub enum Received {}

/// States in which a message was received.
#[diagnostic::on_unimplemented(
    message = "the message of this input was not received yet",
    label = "this input was not received yet",
    note = "receive first: `let input = input.receive();`"
)]
pub trait HasMessage {}

#[diagnostic::do_not_recommend]
impl HasMessage for Received {}

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
pub trait StreamReady {}

#[diagnostic::do_not_recommend]
impl StreamReady for Received {}

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
    /// Takes the message off the queue. A required input has one, else the operator would not run.
    pub fn receive(self) -> In<'t, A, Received>
    where
        S: Unreceived,
    {
        self.inlet.receive();
        if let Some(envelope) = self.inlet.current() {
            self.cx.note_metadata(&envelope.metadata);
        }
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
    /// message's data was sent with. Each port of an operator gives the same stream.
    ///
    /// The internal stream is allocated from the operator's pool the first time. An operator without
    /// a pool (`#[streams(none)]`) uses the stream of the first message that it ever received.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`](crate::Error::PoolExhausted); the driver's, when the wait fails.
    pub fn receive_cuda_stream<'c>(self, cx: &'c ExecutionContext) -> Result<(A, Stream<'c>)>
    where
        S: StreamReady,
        <A::Message as Message>::Place: CarriesStream<A::Message>,
    {
        let sent = self.inlet.current().and_then(|envelope| envelope.sent);
        let stream = cx.internal_stream(sent)?;
        if let Some(point) = sent {
            stream.wait(point)?;
        }
        self.came_in();
        Ok((A::open(self.inlet), stream))
    }

    /// The streams of the messages, in order of arrival, without waiting for them and without
    /// opening the data. `None` for a message without device data.
    pub fn streams(&self) -> impl Iterator<Item = Option<StreamRef>>
    where
        S: HasMessage,
    {
        let cx = self.cx;
        self.inlet.current().into_iter().map(move |envelope| {
            envelope.sent.map(|point| StreamRef { point, device: cx.device() })
        })
    }

    /// What travelled with the message; `None` when an optional input has no message.
    pub fn metadata(&self) -> Option<&Metadata>
    where
        S: HasMessage,
    {
        self.inlet.current().map(|envelope| &envelope.metadata)
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
        if let Some(envelope) = self.inlet.current() {
            let (platform, port) = (self.cx.platform(), self.inlet.name);
            message::pass(&*envelope.message, platform, port, Direction::Incoming);
        }
    }
}

impl<'t, A: Receive<'t>, S> fmt::Debug for In<'t, A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "In({})", self.inlet.name)
    }
}

/// The stream that a message was sent on, by name: work can't be queued on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamRef {
    point: Point,
    device: DeviceId,
}

impl StreamRef {
    /// What the message's data is ready at.
    pub fn point(self) -> Point {
        self.point
    }

    /// The device of the operator that received it.
    pub fn device(self) -> DeviceId {
        self.device
    }
}
