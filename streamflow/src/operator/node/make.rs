//! Functions that make a node from an operator, and that describe the node for the plan of its graph.

use super::{Node, Parts};
use crate::context::{ExecutionContext, Streams};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operator::condition::Conditions;
use crate::operator::facts::{EdgeFacts, NodeFacts};
use crate::operator::options::{NodeOptions, NodeStreams};
use crate::operator::readiness::Progress;
use crate::operator::runner::NodeRunner;
use crate::param::OperatorParams;
use crate::platform::{Platform, device};
use crate::port::{PortInfo, Ports};
use crate::stream::CudaStreamPool;

/// Makes a node from an operator. Its ports are not connected yet. The node is boxed, so that the caller's stack frame has only
/// its address.
///
/// # Errors
/// [`Error::CountZero`]; [`Error::ParamOutOfRange`]; an error of the platform if the device does not exist or the streams can't
/// be made.
pub(crate) fn node<O: Operator>(
    name: &str,
    operator: O,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Box<Node<O>>> {
    let graph_params = options.params;
    let names = Names { streams: O::STREAM_NAMES, inputs: O::INPUTS, outputs: O::OUTPUTS };
    let runner = runner(name, names, platform, options)?;
    let params = O::Params::of_node(&operator, name, graph_params)?;
    Ok(Box::new(Node { parts: Parts { ports: O::__streamflow_ports(), operator, params }, runner }))
}

/// The names of the streams and the ports that an operator's type declares.
pub(super) struct Names {
    pub(super) streams: &'static [&'static str],
    pub(super) inputs: &'static [PortInfo],
    pub(super) outputs: &'static [PortInfo],
}

/// Makes the part of a node that does not depend on the operator's type. This part of [`node()`] is compiled only once.
fn runner(
    name: &str,
    names: Names,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<NodeRunner> {
    let owns_pool = matches!(options.streams, NodeStreams::Default | NodeStreams::Own(_));
    if options.count == Some(0) {
        return Err(Error::CountZero { node: name.to_owned() });
    }
    let (streams, on) = match options.streams {
        NodeStreams::Pool(pool) if pool.is_default_stream() => (Streams::Default, pool.device()),
        NodeStreams::Pool(pool) => (Streams::Pool(pool.clone()), pool.device()),
        NodeStreams::Default => {
            let pool = platform.stream_pool(name, &CudaStreamPool::new())?;
            (Streams::Pool(pool), device(0))
        }
        NodeStreams::Own(description) => {
            let pool = platform.stream_pool(name, description)?;
            (Streams::Pool(pool), description.get_device())
        }
        NodeStreams::None => (Streams::Adopt, device(0)),
    };
    let mut cx =
        ExecutionContext::new(platform, name, on, streams, names.streams, options.single_stream);
    if names.outputs.is_empty() {
        cx.set_silent();
    }
    // A tick of an operator without ports always counts as a change, since the operator works outside of the graph. So does a
    // tick that uses up a condition.
    let idle = match (names.inputs, names.outputs) {
        ([], []) => Progress::Changed,
        _ if is_paced(&options) => Progress::Changed,
        ([], _) => Progress::Empty,
        _ if runs_without_messages(&options) => Progress::Empty,
        _ => Progress::Unchanged,
    };
    let conditions = options.conditions.map(Box::new);
    let NodeOptions { worker, count, on_failure, .. } = options;
    let mut runner = NodeRunner::new(cx, worker, count, conditions, idle, on_failure);
    runner.owns_pool = owns_pool;
    Ok(runner)
}

fn is_paced(options: &NodeOptions<'_>) -> bool {
    options.conditions.as_ref().is_some_and(Conditions::pace)
}

fn runs_without_messages(options: &NodeOptions<'_>) -> bool {
    options.conditions.as_ref().is_some_and(Conditions::runs_without_messages)
}

/// The part of [`AnyNode::facts`] that does not depend on the operator's type, so that it is compiled only once.
pub(super) fn facts(
    runner: &NodeRunner,
    ports: &mut dyn Ports,
    operator: &'static str,
    streams: usize,
    declared: &Names,
) -> NodeFacts {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let end = |list: &mut Vec<EdgeFacts>, ports: &'static [PortInfo], name, edges: Vec<_>| {
        let port = ports.iter().find(|port| port.name == name);
        let end = |edge| port.map(|port| EdgeFacts { port, edge });
        list.extend(edges.into_iter().filter_map(end));
    };
    ports.inputs(&mut |input| end(&mut inputs, declared.inputs, input.name(), input.edges()));
    ports.outputs(&mut |output| end(&mut outputs, declared.outputs, output.name(), output.edges()));
    NodeFacts {
        name: runner.cx.node().to_owned(),
        operator,
        worker: runner.worker(),
        pool: runner.cx.pool().cloned(),
        owns_pool: runner.owns_pool,
        streams,
        named: declared.streams.len(),
        inputs,
        outputs,
    }
}
