//! The edges that count for a plan.

use std::collections::HashMap;

use crate::message::{EdgeStatus, QueuePolicy};
use crate::operator::NodeFacts;
use crate::port::{PortInfo, PortSize};

/// An edge between two nodes.
pub(super) struct Edge {
    /// The names of the edge's ports.
    pub(super) output: &'static str,
    pub(super) input: &'static str,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether the edge carries device data.
    pub(super) is_device: bool,
    /// Whether each tick of the consumer needs the device data of the producer's same tick.
    pub(super) follows: bool,
    /// Whether, in addition, one wait of the consumer orders its whole tick after the producer's.
    pub(super) orders: bool,
}

/// The edges of a graph, by the consumers' inputs.
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
    // The input decides for both ends: their messages have the same type.
    let is_device = input.device;
    // A feedback edge holds its first message as well.
    let capacity = edge.capacity - usize::from(edge.feedback);
    let follows = is_device
        && capacity == 1
        && edge.policy == QueuePolicy::BackPressure
        && !input.optional
        && !edge.feedback
        // `graph!` ensures this for all other edges.
        && from < to;
    // A node with several streams may wait on one and send on another.
    let has_one_stream = |node: &NodeFacts| node.streams == 1 && node.pool.is_some();
    let device = |node: &NodeFacts| node.pool.as_ref().map(crate::stream::StreamPool::device);
    let orders = follows
        && input.size == PortSize::One
        && has_one_stream(&nodes[from])
        // A copy to another device is on a stream of its own.
        && device(&nodes[from]) == device(&nodes[to]);
    let (output, input) = (output.name, input.name);
    Edge { output, input, from, to, is_device, follows, orders }
}
