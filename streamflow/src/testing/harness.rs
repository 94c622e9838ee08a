//! A harness that runs one operator without a graph.

use std::fmt;
use std::sync::Arc;

use super::surroundings::{Emitted, Surroundings};
use crate::context::{RunControl, SingleStream};
use crate::error::{Error, Result};
use crate::message::{Envelope, Message, Metadata, Payload};
use crate::operator::{
    AnyNode, Compute, Flush, Flushed, Node, NodeOptions, NodeStreams, Readiness, Waits, node,
};
use crate::param::GraphParams;
use crate::platform::Platform;
use crate::port::{Input, InputPort, Output, OutputPort, PortSize};
use crate::stream::CudaStream;

/// The most edges that [`OperatorHarness::push_to`] makes at an input of many edges. Each edge is a queue.
const MOST_EDGES: usize = 1024;

/// Runs an operator without a graph: push messages into its inputs, let it tick, and take the messages that it emitted.
///
/// An input here has the queue of an edge without a limit of its capacity. In a graph, an edge with room for more than 64
/// messages has this queue too; an edge with less room is a ring, and no message can be put into a ring from outside the graph.
/// An operator receives the same messages from a queue and from a ring.
///
/// Device data is pushed on the harness's own [`stream`](Self::stream), so the operator must wait for the data as in a graph. An
/// emitted message has the point at which its data is ready.
#[must_use = "the operator runs by `tick`"]
pub struct OperatorHarness<O: Compute> {
    node: Box<Node<O>>,
    around: Surroundings,
    started: bool,
}

impl<O: Compute + Send + 'static> OperatorHarness<O> {
    /// Creates a harness for an operator on device 0, with a pool of as many streams as the operator declares.
    ///
    /// # Errors
    /// The platform's errors. [`Error::Unexplored`] in a test that [`explore`](crate::testing::explore) runs, for a platform that
    /// the test itself has made.
    #[cfg(doc)]
    pub fn new(platform: &Platform, operator: O) -> Result<Self> {
        Self::begin(platform, operator)
    }

    /// Creates a harness, as the `new` in the documentation. The type of the harness is inferred from the operator. For a value
    /// that is not an operator the harness has no type, so that rustc reports no further error about the harness.
    ///
    /// # Errors
    /// As above.
    #[cfg(not(doc))]
    #[allow(clippy::new_ret_no_self, reason = "the only harness that is made is `Self`")]
    pub fn new<Harness>(platform: &Platform, operator: O) -> Result<Harness>
    where
        O: Harnessed<Harness>,
    {
        operator.__streamflow_harness(platform)
    }

    fn begin(platform: &Platform, operator: O) -> Result<Self> {
        let (around, pool) = Surroundings::new(platform, O::STREAMS)?;
        // Pushed messages come on a stream of another pool, so the graph has more than one stream.
        let (single_stream, params) = (SingleStream::new(2), GraphParams::default());
        let options = NodeOptions::plain(NodeStreams::Pool(&pool), &single_stream, &params);
        let node = node(O::NAME, operator, platform, options)?;
        Ok(Self { node, around, started: false })
    }

    /// The stream that device data is pushed on.
    pub fn stream(&self) -> &CudaStream {
        &self.around.stream
    }

    /// The operator.
    pub fn operator(&mut self) -> &mut O {
        &mut self.node.parts.operator
    }

    /// Returns the handle that sets the operator's parameters: `harness.params().set_threshold(0.5)?`. The next tick sees the new
    /// value.
    pub fn params(&self) -> &O::Params {
        self.node.params()
    }

    /// Puts a message into an input: `harness.push(|ports| &mut ports.image, image)?`.
    ///
    /// # Errors
    /// The driver's, when the message can't be ordered.
    pub fn push<P: InputPort>(
        &mut self,
        port: impl FnOnce(&mut O::Ports) -> &mut Input<P>,
        message: P::Message,
    ) -> Result<()> {
        self.push_with(port, message, Metadata::default())
    }

    /// Puts a message into an input as [`push`](Self::push) does, together with metadata.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn push_with<P: InputPort>(
        &mut self,
        port: impl FnOnce(&mut O::Ports) -> &mut Input<P>,
        message: P::Message,
        metadata: Metadata,
    ) -> Result<()> {
        self.push_on(0, port, message, metadata)
    }

    /// Puts a message, as [`push`](Self::push) does, into one edge of an input with several edges, counted from 0. The first push
    /// to an edge makes this edge and all edges before it. An input of many has up to 1024 edges here, and one with a size has
    /// that many.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an edge that the input can't have; as for [`push`](Self::push).
    pub fn push_to<P: InputPort>(
        &mut self,
        edge: usize,
        port: impl FnOnce(&mut O::Ports) -> &mut Input<P>,
        message: P::Message,
    ) -> Result<()> {
        self.push_on(edge, port, message, Metadata::default())
    }

    fn push_on<P: InputPort>(
        &mut self,
        edge: usize,
        port: impl FnOnce(&mut O::Ports) -> &mut Input<P>,
        message: P::Message,
        metadata: Metadata,
    ) -> Result<()> {
        check_edge::<O, P>(edge)?;
        let sent = self.around.order(&message)?;
        let envelope = Envelope { message: Payload::One(message), metadata, sent };
        port(&mut self.node.parts.ports).inlet.push(edge, envelope);
        Ok(())
    }

    /// Lets the operator tick once, by `compute`. Returns `false` without a tick if it is not ready, or [`flush`](Self::flush)
    /// was called.
    ///
    /// # Errors
    /// The operator's, as a graph would report it; [`Error::Races`].
    pub fn tick(&mut self) -> Result<bool> {
        self.start()?;
        if self.node.has_begun_flush() {
            return Ok(false);
        }
        if self.node.readiness(&mut Waits::default()).map_err(|error| *error)? != Readiness::Ready {
            return Ok(false);
        }
        // Drops the messages that the last tick emitted and the test has not taken.
        self.node.cancel()?;
        self.node.tick_unpublished()?;
        self.around.races()?;
        Ok(true)
    }

    /// Calls the operator's `flush` in a tick, as a graph does when the inputs have ended: the first call gets all
    /// messages that were pushed and not received. Take the emitted messages before the next call. After
    /// [`Flushed::Done`], nothing is called. From the first call on, [`tick`](Self::tick) calls nothing and returns
    /// `false`. All this holds until [`stop`](Self::stop).
    ///
    /// # Errors
    /// As for [`tick`](Self::tick).
    pub fn flush(&mut self) -> Result<Flushed>
    where
        O: Flush,
    {
        self.start()?;
        self.node.cancel()?;
        let flushed = self.node.flush_unpublished()?;
        self.around.races()?;
        Ok(flushed)
    }

    fn start(&mut self) -> Result<()> {
        if !self.started {
            let nodes = [self.node.cell().clone()].into();
            self.node.begin_run();
            self.node.start(&Arc::new(RunControl::new(nodes)))?;
            self.started = true;
        }
        Ok(())
    }

    /// Takes the message that the last tick emitted on an output, if there is one: `harness.take(|ports| &mut ports.out)`.
    pub fn take<P: OutputPort>(
        &mut self,
        port: impl FnOnce(&mut O::Ports) -> &mut Output<P>,
    ) -> Option<Emitted<<P::Item as Message>::Item>> {
        port(&mut self.node.parts.ports).outlet.take_pending().map(Emitted::new)
    }

    /// Stops the operator as a graph does: calls its `stop` hook, and waits for the queued work.
    ///
    /// # Errors
    /// The operator's, or the device's; [`Error::Races`].
    pub fn stop(&mut self) -> Result<()> {
        self.started = false;
        let stopped = self.node.stop();
        stopped.and(self.node.synchronize_blocking()).and(self.around.races())
    }
}

/// Refuses an edge that an input of the operator can't have: the edges before it would be made too, and never get a message.
fn check_edge<O: Compute, P: InputPort>(edge: usize) -> Result<()> {
    let size = O::INPUTS.iter().find(|input| input.name == P::NAME).map(|input| input.size);
    let (edges, remedy) = match size {
        Some(PortSize::Many) => (MOST_EDGES, "push to an edge with a lower number"),
        Some(PortSize::Exactly(size)) => {
            (size, "it is `#[input(size = n)]`, whose edges begin with 0")
        }
        Some(PortSize::One) | None => {
            (1, "it has one edge; use `push`, or declare it `#[input(many)]`")
        }
    };
    if edge < edges {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what: format!("the edge of a push to input `{}.{}`", O::NAME, P::NAME),
        given: edge as u64,
        least: 0,
        most: edges as u64 - 1,
        remedy,
    })
}

impl<O: Compute> fmt::Debug for OperatorHarness<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorHarness").field("node", &self.node).finish()
    }
}

/// An operator that a harness can run, and the type of that harness. The trait implies [`Compute`], so rustc reports only one of
/// the two if a type has neither.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a harness runs an operator, and `{Self}` is none",
    label = "this is no operator",
    note = "pass an operator itself, as `Blur::new()`: a struct that has both `#[operator]` and an `impl Compute`"
)]
pub trait Harnessed<Harness>: Compute {
    /// The harness.
    fn __streamflow_harness(self, platform: &Platform) -> Result<Harness>;
}

#[diagnostic::do_not_recommend]
impl<O: Compute + Send + 'static> Harnessed<OperatorHarness<O>> for O {
    fn __streamflow_harness(self, platform: &Platform) -> Result<OperatorHarness<O>> {
        OperatorHarness::begin(platform, self)
    }
}

/// A trait that no type implements.
#[doc(hidden)]
pub trait Nothing {}

// The second implementation makes rustc infer the harness from the first one only if the bounds of the first one hold.
#[diagnostic::do_not_recommend]
impl<O: Compute + Nothing> Harnessed<()> for O {
    fn __streamflow_harness(self, _: &Platform) -> Result<()> {
        Ok(())
    }
}
