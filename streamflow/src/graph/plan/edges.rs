//! The edges of a graph, with the facts that a plan needs about them.

use std::collections::HashMap;

use crate::message::{EdgeStatus, QueuePolicy};
use crate::operator::NodeFacts;
use crate::port::{PortInfo, PortSize};

/// An edge between two nodes, whose indices are `from` and `to`.
pub(super) struct Edge {
    /// The name of the output at which the edge begins. `input` is the name of the input at which it ends.
    pub(super) output: &'static str,
    pub(super) input: &'static str,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether the edge carries device data.
    pub(super) is_device: bool,
    /// Whether each tick of the consumer needs the device data that the producer sent in its tick of the same number.
    pub(super) follows: bool,
    /// Whether, in addition to `follows`, one wait of the consumer's stream orders the consumer's whole tick after the
    /// producer's.
    pub(super) orders: bool,
}

/// Returns the edges of a graph, in the order of the inputs at which they end.
pub(super) fn edges(nodes: &[NodeFacts]) -> Vec<Edge> {
    let mut producers = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        producers.extend(node.outputs.iter().map(|end| (end.edge.id, (index, end.port))));
    }
    let mut edges = Vec::new();
    for (to, node) in nodes.iter().enumerate() {
        for end in &node.inputs {
            if let Some(&(from, output)) = producers.get(&end.edge.id) {
                edges.push(edge(nodes, (from, output), (to, end.port), &end.edge));
            }
        }
    }
    edges
}

fn edge(
    nodes: &[NodeFacts],
    (from, output): (usize, &PortInfo),
    (to, input): (usize, &PortInfo),
    edge: &EdgeStatus,
) -> Edge {
    // The input tells for both ends whether the edge carries device data, since their messages have the same type.
    let is_device = input.device;
    // The capacity of a feedback edge includes a slot for its first message. This slot does not count here.
    let capacity = edge.capacity - usize::from(edge.feedback);
    let follows = is_device
        && capacity == 1
        && edge.policy == QueuePolicy::BackPressure
        && !input.optional
        && !edge.feedback
        // `graph!` ensures `from < to` for all edges that are not feedback edges.
        && from < to;
    // A node with several streams may wait on one of them and send on another.
    let has_one_stream = |node: &NodeFacts| node.streams == 1 && node.pool.is_some();
    let device = |node: &NodeFacts| node.pool.as_ref().map(crate::stream::StreamPool::device);
    let orders = follows
        && input.size == PortSize::One
        && has_one_stream(&nodes[from])
        // A copy to another device is on the edge's own stream.
        && device(&nodes[from]) == device(&nodes[to]);
    let (output, input) = (output.name, input.name);
    Edge { output, input, from, to, is_device, follows, orders }
}
