//! Builds a graph with the calls that `graph!` expands to.

use std::sync::Arc;
use std::time::Duration;

use streamflow::__private::{AnyNode, NodeOptions, NodeStreams, OnFailure};
use streamflow::__private::{
    EdgeOptions, GraphParams, QueuePolicy, SingleStream, begin, connect, connect_shared, edge,
    restarting, when,
};
use streamflow::operator::{AsyncHandle, Operator};
use streamflow::prelude::*;
use streamflow_tests::built::{Built, no_such_port, node};
use streamflow_tests::{into_graphs, out_of_graphs};

use super::operators::{Core, Counts, Hold, Merge, One, Source, Two};
use super::plan::{EdgePlan, Kind, NodePlan, Plan, Policies, Port, When};

/// The ports of a node whose `AnyNode` is not built yet.
#[allow(clippy::large_enum_variant, reason = "there are few values, for a short time")]
enum Ports {
    Source(<Source as Operator>::Ports),
    One(<One as Operator>::Ports),
    Hold(<Hold as Operator>::Ports),
    Two(<Two as Operator>::Ports),
    Merge(<Merge as Operator>::Ports),
}

impl Ports {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Source => Self::Source(Source::__streamflow_ports()),
            Kind::One => Self::One(One::__streamflow_ports()),
            Kind::Hold => Self::Hold(Hold::__streamflow_ports()),
            Kind::Two => Self::Two(Two::__streamflow_ports()),
            Kind::Merge => Self::Merge(Merge::__streamflow_ports()),
        }
    }
}

/// Runs code with the output at which an edge begins.
macro_rules! with_output {
    ($from:expr, $out:expr, $output:ident => $do:expr) => {
        match ($from, $out) {
            (Ports::Source(ports), 0) => {
                let $output = &mut ports.x;
                $do
            }
            (Ports::Source(ports), _) => {
                let $output = &mut ports.y;
                $do
            }
            (Ports::One(ports), 0) => {
                let $output = &mut ports.x;
                $do
            }
            (Ports::One(ports), _) => {
                let $output = &mut ports.y;
                $do
            }
            (Ports::Hold(ports), 0) => {
                let $output = &mut ports.x;
                $do
            }
            (Ports::Hold(ports), _) => {
                let $output = &mut ports.y;
                $do
            }
            (Ports::Two(ports), 0) => {
                let $output = &mut ports.x;
                $do
            }
            (Ports::Two(ports), _) => {
                let $output = &mut ports.y;
                $do
            }
            (Ports::Merge(_), _) => Err(no_such_port()),
        }
    };
}

/// Connects an output to an input, each of a node or of a graph around it.
macro_rules! wire {
    ($from:expr, $plan:expr, $input:expr, $options:expr, $is_shared:expr) => {
        with_output!($from, $plan.out, output => {
            macro_rules! connect_edge {
                ($edge:expr) => {
                    match $edge {
                        edge if $is_shared => connect_shared(edge),
                        edge => connect(edge),
                    }
                };
            }
            match $options.1 {
                [0, 0] => connect_edge!(edge(output, $input, $options.0)),
                [out_of, 0] => {
                    connect_edge!(edge(&mut out_of_graphs!(output, out_of), $input, $options.0));
                }
                [0, into] => {
                    connect_edge!(edge(output, &mut into_graphs!($input, into), $options.0));
                }
                [out_of, into] => {
                    let mut output = out_of_graphs!(output, out_of);
                    connect_edge!(edge(&mut output, &mut into_graphs!($input, into), $options.0));
                }
            }
            Ok(())
        })
    };
}

fn wire(
    from: &mut Ports,
    to: &mut Ports,
    plan: &EdgePlan,
    options: (EdgeOptions, [usize; 2]),
    is_shared: bool,
) -> Result<()> {
    match (to, plan.port) {
        (Ports::One(to), Port::A) => wire!(from, plan, &mut to.a, options, is_shared),
        (Ports::One(to), Port::O) => wire!(from, plan, &mut to.o, options, is_shared),
        (Ports::One(to), Port::P) => wire!(from, plan, &mut to.p, options, is_shared),
        (Ports::Hold(to), Port::A) => wire!(from, plan, &mut to.a, options, is_shared),
        (Ports::Hold(to), Port::O) => wire!(from, plan, &mut to.o, options, is_shared),
        (Ports::Hold(to), Port::P) => wire!(from, plan, &mut to.p, options, is_shared),
        (Ports::Two(to), Port::A) => wire!(from, plan, &mut to.a, options, is_shared),
        (Ports::Two(to), Port::B) => wire!(from, plan, &mut to.b, options, is_shared),
        (Ports::Two(to), Port::O) => wire!(from, plan, &mut to.o, options, is_shared),
        (Ports::Two(to), Port::P) => wire!(from, plan, &mut to.p, options, is_shared),
        (Ports::Merge(to), Port::O) => wire!(from, plan, &mut to.o, options, is_shared),
        (Ports::Merge(to), Port::P) => wire!(from, plan, &mut to.p, options, is_shared),
        _ => Err(no_such_port()),
    }
}

/// Connects an output of a node to the node's own input, and puts the first message there.
fn wire_back(
    node: &mut Ports,
    plan: &EdgePlan,
    options: EdgeOptions,
    is_shared: bool,
    platform: &Platform,
) -> Result<()> {
    let Ports::Two(ports) = node else { return Err(no_such_port()) };
    let (input, options) = (&mut ports.b, options.feedback());
    match (plan.out, is_shared) {
        (0, true) => connect_shared(edge(&mut ports.x, input, options)),
        (0, false) => connect(edge(&mut ports.x, input, options)),
        (_, true) => connect_shared(edge(&mut ports.y, input, options)),
        (_, false) => connect(edge(&mut ports.y, input, options)),
    }
    Ok(begin(&mut ports.b, 0, platform)?)
}

/// Returns the name of an edge, as a static string.
pub(crate) fn edge_name(index: usize) -> &'static str {
    const NAMES: [&str; 32] = [
        "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "e10", "e11", "e12", "e13",
        "e14", "e15", "e16", "e17", "e18", "e19", "e20", "e21", "e22", "e23", "e24", "e25", "e26",
        "e27", "e28", "e29", "e30", "e31",
    ];
    NAMES[index]
}

/// Builds the graph, with operators that count their messages in `counts`.
pub(crate) fn build(plan: &Plan, counts: &[Arc<Counts>], platform: &Platform) -> Result<Built> {
    let mut ports: Vec<Ports> = plan.nodes.iter().map(|node| Ports::of(node.kind)).collect();
    for (index, edge) in plan.edges.iter().enumerate() {
        let policy = match edge.policy {
            streamflow::message::QueuePolicy::Pop => QueuePolicy::Pop,
            streamflow::message::QueuePolicy::Reject => QueuePolicy::Reject,
            streamflow::message::QueuePolicy::Fault => QueuePolicy::Fault,
            _ => QueuePolicy::BackPressure,
        };
        let options = EdgeOptions::new(edge_name(index), edge.capacity, policy)?;
        let is_shared = plan.outputs(edge.from).filter(|other| other.out == edge.out).count() > 1;
        if edge.is_feedback() {
            wire_back(&mut ports[edge.to], edge, options, is_shared, platform)?;
        } else {
            let (before, after) = ports.split_at_mut(edge.to);
            let options = (options, plan.borders(edge));
            wire(&mut before[edge.from], &mut after[0], edge, options, is_shared)?;
        }
    }
    let (params, single_stream) = (GraphParams::default(), SingleStream::new(0));
    let mut nodes: Vec<Box<dyn AnyNode>> = Vec::new();
    // In a graph without edges that drop messages, an attendant counts as an ordinary node: it stands still, or its
    // run has no end.
    let is_lossy = plan.edges.iter().any(EdgePlan::is_lossy);
    let attends = plan.up_to_timing().attends.into_iter().map(|attends| attends && is_lossy);
    let attends: Vec<_> = attends.collect();
    for (index, ((of, ports), counts)) in plan.nodes.iter().zip(ports).zip(counts).enumerate() {
        let options = NodeOptions {
            streams: NodeStreams::None,
            worker: None,
            count: of.count,
            conditions: of.when.map(conditions).transpose()?,
            on_failure: match of.on_failure {
                Policies::Stop => OnFailure::Stop,
                Policies::Skip => OnFailure::Skip,
                Policies::Restart => OnFailure::Restart { most: 9, back_off: Duration::ZERO },
            },
            single_stream: &single_stream,
            params: &params,
        };
        let (name, core) = (format!("n{index}"), Core::new(*of, attends[index], counts.clone()));
        nodes.push(match ports {
            Ports::Source(ports) => remade(core, Source::new, ports, &name, platform, options)?,
            Ports::One(ports) => remade(core, One::new, ports, &name, platform, options)?,
            Ports::Hold(ports) => {
                let hold = |core| Hold::new(core, Default::default());
                remade(core, hold, ports, &name, platform, options)?
            }
            Ports::Two(ports) => remade(core, Two::new, ports, &name, platform, options)?,
            Ports::Merge(ports) => remade(core, Merge::new, ports, &name, platform, options)?,
        });
    }
    Ok(Built::new(platform, nodes, Vec::new())?)
}

fn conditions(condition: When) -> Result<streamflow::__private::Conditions, Error> {
    Ok(when::all(vec![match condition {
        When::Available(n) => when::message_available("message_available(a, n)", "a", n),
        When::Room => when::room("room(x)", "x"),
        When::Credits(credits) => {
            let handle = AsyncHandle::new();
            (0..credits).try_for_each(|_| handle.notify())?;
            handle.close();
            when::asynchronous("asynchronous(credits)", &handle)
        }
        When::Periodic => {
            when::periodic("periodic(1ms)", Duration::from_millis(1), when::CatchUp::Skip)
        }
        When::SameSequence => when::same_sequence("same_sequence([a, b])", &["a", "b"]),
    }]))
}

/// Returns a node with ports that are connected already. After a failure, the node makes its operator again.
fn remade<O: Compute + Send + 'static>(
    core: Core,
    new: impl Fn(Core) -> O + Send + 'static,
    ports: O::Ports,
    name: &str,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Box<dyn AnyNode>, Error> {
    let restarts = options.on_failure != OnFailure::Stop;
    let mut node = Some(node(new(core.clone()), ports, name, platform, options)?);
    if restarts && !restarting(&mut node, Box::new(move || Ok(new(core.clone())))) {
        return Err(streamflow::__private::not_made(None));
    }
    node.map(|node| node as Box<dyn AnyNode>).ok_or_else(|| streamflow::__private::not_made(None))
}

/// Returns counters for the nodes of one run.
pub(crate) fn counts(plan: &Plan) -> Vec<Arc<Counts>> {
    plan.nodes.iter().map(|_: &NodePlan| Arc::default()).collect()
}
