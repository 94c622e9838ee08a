//! A harness that runs one graph with ports without a graph around it.
//!
//! The nodes inside run by the calls by which a scheduler runs them. An edge without a limit of its capacity leads to each input
//! and from each output (`port/outside.rs`), and the harness has the other ends.

use std::any::Any;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::surroundings::{Emitted, Surroundings};
use crate::context::{RunControl, SingleStream};
use crate::error::Result;
use crate::message::{Message, Metadata, Receiver};
use crate::operator::node::not_made;
use crate::operator::node_type::{GraphValue, MadeNode, NodeType, RunsAsNode};
use crate::operator::{AnyNode, NodeOptions, NodeStreams, Step, Waits, ended, stop_all};
use crate::param::GraphParams;
use crate::platform::Platform;
use crate::port::exported::{ExportedInput, ExportedOutput};
use crate::port::outside::VisitPorts;
use crate::port::{InputPort, OutputPort};
use crate::stream::CudaStream;

/// Runs a graph with ports without a graph around it: push messages into its inputs, let its nodes tick, and take the messages of
/// its outputs.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::GraphHarness;
///
/// /// Multiplies numbers.
/// #[operator]
/// struct Times {
///     #[input]
///     n: &u64,
///     #[output]
///     product: u64,
///     #[param]
///     by: u64,
/// }
///
/// impl Compute for Times {
///     fn compute(&mut self, io: TimesIo<'_>, _: &ExecutionContext) -> Result<()> {
///         io.product.emit(io.n.receive().into_data() * self.by)
///     }
/// }
///
/// graph! {
///     /// Multiplies by two numbers.
///     struct Twice(first: u64, second: u64) {
///         input n: &u64;
///         output product: u64;
///         let one: Times = Times::new(first);
///         let other: Times = Times::new(second);
///         n >> one.n;
///         one.product >> other.n;
///         other.product >> product;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut harness = GraphHarness::new(&Platform::detect()?, Twice::new(2, 3))?;
/// assert!(!harness.tick()?, "without a message no node is ready");
/// harness.push(|ports| &mut ports.n, 7)?;
/// assert!(harness.tick()?);
/// let product = harness.take(|ports| &mut ports.product).expect("it emits in each tick");
/// assert_eq!(*product.message, 42);
///
/// harness.params().one().set_by(10)?;
/// harness.push(|ports| &mut ports.n, 7)?;
/// assert!(harness.tick()?);
/// let product = harness.take(|ports| &mut ports.product).expect("it emits in each tick");
/// assert_eq!(*product.message, 210);
/// harness.stop()?;
/// # Ok(())
/// # }
/// ```
///
/// The nodes have the conditions, the parameters and the reactions to failures that the graph declares, and their paths begin with the
/// name of the graph, as `Twice.one`. The nodes that are on no pool of the graph have streams of one pool, as large as their operators
/// declare. All nodes run on the thread that calls [`tick`](Self::tick).
///
/// The edges that lead to the inputs and from the outputs have no limit of their capacity. So they drop no message before the end of
/// the run, and no node inside waits for room at an output of the graph. Each input has one edge, also an `input(many)`. No operator's
/// [`flush`](crate::Flush) is called, and a harness that is dropped without [`stop`](Self::stop) calls no `stop` hook.
///
/// Device data is pushed on the harness's own [`stream`](Self::stream), so the operators must wait for the data as in a graph. The
/// harness stands for the source of the messages: see [`push_with`](Self::push_with). A message of an output has the point at which its
/// data is ready.
#[must_use = "the nodes run by `tick`"]
pub struct GraphHarness<G: RunsAsNode> {
    graph: G::Made,
    params: GraphParams,
    edges: Edges,
    around: Surroundings,
    platform: Platform,
    /// The run that `tick` has begun.
    run: Option<Arc<RunControl>>,
}

impl<G: RunsAsNode<Made: 'static>> GraphHarness<G> {
    /// Creates a harness for a graph on device 0. `graph` is the value of a node: `Preprocess::new(1.0)`.
    ///
    /// # Errors
    /// The errors of the graph's nodes when they are made, as [`Error::CountZero`](crate::Error::CountZero);
    /// [`Error::ImpossibleCondition`](crate::Error::ImpossibleCondition); the platform's errors.
    /// [`Error::Unexplored`](crate::Error::Unexplored) in a test that [`explore`](crate::testing::explore) runs, for a platform that
    /// the test itself has made. The checks of a graph with parameters are made when the program is built.
    pub fn new<V: GraphValue<Graph = G>>(platform: &Platform, graph: V) -> Result<Self>
    where
        G: NodeType<Value = V>,
    {
        let () = const { G::CHECKED };
        let (around, pool) = Surroundings::new(platform, G::STREAMS)?;
        // Pushed messages come on a stream of another pool, so the graph has more than one stream.
        let (single_stream, params) = (SingleStream::new(2), GraphParams::default());
        let options = NodeOptions::plain(NodeStreams::Pool(&pool), &single_stream, &params);
        let (mut made, mut failed) = (None, None);
        let is_made =
            G::__streamflow_make_node(graph, &mut made, &mut failed, G::NAME, platform, options);
        let Some(mut graph) = made.filter(|_| is_made) else { return Err(not_made(failed)) };
        let mut edges = Edges::default();
        V::__streamflow_visit(&mut graph.ports(), &mut edges);
        nodes::<G>(&mut graph).iter_mut().try_for_each(|node| node.bind_conditions())?;
        Ok(Self { graph, params, edges, around, platform: platform.clone(), run: None })
    }

    /// The stream that device data is pushed on.
    pub fn stream(&self) -> &CudaStream {
        &self.around.stream
    }

    /// The graph, with a method for each of its nodes.
    pub fn graph(&self) -> G::Shown<'_> {
        G::__streamflow_shown(&self.graph)
    }

    /// The operators of the graph, to change them: `harness.graph_mut().cast_mut()`.
    pub fn graph_mut(&mut self) -> G::Mut<'_> {
        G::__streamflow_shown_mut(&mut self.graph)
    }

    /// Returns the handle that sets the parameters of the nodes: `harness.params().resize().set_factor(0.5)?`. The next tick of a
    /// node sees the new value.
    pub fn params(&self) -> &G::Params {
        GraphParams::node(&self.params, G::NAME)
    }

    /// Puts a message into an input: `harness.push(|ports| &mut ports.frame, frame)?`. Several nodes inside that read the input share
    /// the message.
    ///
    /// # Errors
    /// The driver's, when the message can't be ordered.
    pub fn push<P: InputPort>(
        &mut self,
        port: impl for<'p, 'g> FnOnce(&'p mut PortsOf<'g, G>) -> &'p mut ExportedInput<'g, P>,
        message: P::Message,
    ) -> Result<()> {
        self.push_with(port, message, Metadata::default())
    }

    /// Puts a message into an input as [`push`](Self::push) does, together with metadata.
    ///
    /// The data of the message begins at the harness, as at a source. Without an acquisition time in the metadata, the time is that
    /// of the push. Without a sequence number, the number is how many messages were pushed into this input before in the same run. So
    /// `#[when(same_sequence)]` inside finds that the first messages of two inputs belong together, the second ones, and so on.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn push_with<P: InputPort>(
        &mut self,
        port: impl for<'p, 'g> FnOnce(&'p mut PortsOf<'g, G>) -> &'p mut ExportedInput<'g, P>,
        message: P::Message,
        mut metadata: Metadata,
    ) -> Result<()> {
        let sent = self.around.order(&message)?;
        let mut ports = PortsOf(self.graph.ports());
        let input = port(&mut ports);
        let number = self.edges.count((P::NAME, input.element));
        // The numbers of the nodes are lower.
        metadata.begin(self.platform.clock().now(), number, Some(NonZeroU32::MAX));
        input.push(message, metadata, sent);
        Ok(())
    }

    /// Makes one pass over the nodes, in an order in which producers come before their consumers: each node that is ready ticks once.
    /// So a message can pass through the whole graph in one call. The call does not wait for a condition. Returns whether a node has
    /// run and has changed something: `false` if no node is ready, as while a message is missing or a stream is not done, or if an
    /// operator has stopped the graph.
    ///
    /// The first call begins a run, by the `start` hooks of the operators. [`stop`](Self::stop) ends it.
    ///
    /// # Errors
    /// The error of an operator, as a graph would report it, with the path of the node; [`Error::Races`](crate::Error::Races). An
    /// error ends the run as [`stop`](Self::stop) does. If more errors follow, all of them are in an
    /// [`Error::Run`](crate::Error::Run). The next call begins another run; after a failure in a cycle each further call is an
    /// [`Error::FeedbackLost`](crate::Error::FeedbackLost).
    pub fn tick(&mut self) -> Result<bool> {
        match self.pass() {
            Ok(ran) => Ok(ran),
            Err(cause) => self.end(Err(cause)).map(|()| false),
        }
    }

    fn pass(&mut self) -> Result<bool> {
        let mut nodes = nodes::<G>(&mut self.graph);
        if self.run.is_none() {
            for (number, node) in nodes.iter_mut().enumerate() {
                node.set_number(NonZeroU32::MIN.saturating_add(number as u32));
            }
            let cells = nodes.iter().map(|node| node.cell().clone()).collect();
            let run = self.run.insert(Arc::new(RunControl::new(cells)));
            nodes.iter_mut().try_for_each(|node| node.start(run))?;
            run.set_begun(self.platform.clock().now());
        }
        let (mut has_run, mut waits) = (false, Waits::default());
        for node in nodes {
            match node.step(&mut waits, None).map_err(|error| *error)? {
                Step::Changed => has_run = true,
                Step::Nothing => {}
                Step::Interrupted | Step::TimeOver => break,
            }
        }
        self.around.races()?;
        Ok(has_run)
    }

    /// Takes the oldest message of an output that was not taken before, if there is one: `harness.take(|ports| &mut ports.image)`.
    pub fn take<P: OutputPort>(
        &mut self,
        port: impl for<'p, 'g> FnOnce(&'p mut PortsOf<'g, G>) -> &'p mut ExportedOutput<'g, P>,
    ) -> Option<Emitted<<P::Item as Message>::Item>> {
        let ExportedOutput { element, .. } = *port(&mut PortsOf(self.graph.ports()));
        let edge = self.edges.output::<P>(element)?;
        edge.receive()?;
        edge.take().map(Emitted::new)
    }

    /// Stops the nodes as the end of a graph's run does: calls their `stop` hooks, in the reverse order, and waits for the queued
    /// work. Messages that were pushed and not received are dropped, and those on edges inside. The messages of the outputs can still
    /// be taken.
    ///
    /// # Errors
    /// The first error of an operator or of the device, or [`Error::Races`](crate::Error::Races); an
    /// [`Error::Run`](crate::Error::Run) for several errors.
    pub fn stop(&mut self) -> Result<()> {
        self.end(Ok(()))
    }

    fn end(&mut self, done: Result<()>) -> Result<()> {
        if let Some(run) = self.run.take() {
            run.end();
        }
        self.edges.begin_run();
        let mut followed = Vec::new();
        let nodes = &mut nodes::<G>(&mut self.graph);
        stop_all(nodes, &self.platform, done.is_err(), &mut followed);
        followed.extend(self.around.races().err());
        ended(done, followed, &self.platform)
    }
}

/// Returns the nodes of a graph, in the order in which they run.
fn nodes<G: RunsAsNode>(graph: &mut G::Made) -> Vec<&mut dyn AnyNode> {
    let mut nodes = Vec::new();
    G::list(graph, &mut nodes);
    nodes
}

/// The harness's ends of the edges outside of the graph.
#[derive(Default)]
struct Edges {
    /// The inputs, each with the number of messages that were pushed in this run.
    inputs: Vec<(PortId, u64)>,
    /// The outputs, each with the [`Receiver`] of its edge.
    outputs: Vec<(PortId, Box<dyn Any + Send>)>,
}

/// The name of a port, and its index in an array of ports.
type PortId = (&'static str, usize);

impl Edges {
    /// Counts a message for an input. Returns how many were counted before.
    fn count(&mut self, input: PortId) -> u64 {
        let Some((_, count)) = self.inputs.iter_mut().find(|(name, _)| *name == input) else {
            return 0;
        };
        *count += 1;
        *count - 1
    }

    fn begin_run(&mut self) {
        self.inputs.iter_mut().for_each(|(_, count)| *count = 0);
    }

    fn output<P: OutputPort>(
        &mut self,
        element: usize,
    ) -> Option<&mut Receiver<<P::Item as Message>::Item>> {
        let (_, edge) = self.outputs.iter_mut().find(|(id, _)| *id == (P::NAME, element))?;
        edge.downcast_mut()
    }
}

impl VisitPorts for Edges {
    fn input<P: InputPort>(&mut self, input: &mut ExportedInput<'_, P>) {
        input.connect_outside();
        self.inputs.push(((P::NAME, input.element), 0));
    }

    fn output<P: OutputPort>(&mut self, output: &mut ExportedOutput<'_, P>) {
        let edge = output.connect_outside();
        self.outputs.extend(edge.map(|edge| ((P::NAME, output.element), Box::new(edge) as _)));
    }
}

/// The ports of a graph in a harness: a struct with a field for each of them.
#[allow(missing_debug_implementations, reason = "the ports of a graph have none")]
pub struct PortsOf<'g, G: RunsAsNode<Made: 'g>>(<G::Made as MadeNode>::Ports<'g>);

impl<'g, G: RunsAsNode<Made: 'g>> Deref for PortsOf<'g, G> {
    type Target = <G::Made as MadeNode>::Ports<'g>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'g, G: RunsAsNode<Made: 'g>> DerefMut for PortsOf<'g, G> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<G: RunsAsNode> fmt::Debug for GraphHarness<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphHarness").field("graph", &G::NAME).finish_non_exhaustive()
    }
}
