//! Decides which nodes of a run measure times, and which paths the sinks measure.
//!
//! Each node measures the host's time for its ticks. Each sink measures the age of the messages that it receives, separately for
//! each origin. A message carries the number of its origin in its metadata, so a sink finds the histogram without searching by
//! name. Each run numbers its nodes, also without statistics, because joins compare these numbers.
//!
//! A histogram takes 36 KiB. There is one for each pair of a source and a sink between which messages can pass. The first
//! [`MOST_PATHS`] pairs are measured, in 36 MiB of memory. The messages of all other pairs are counted together, and the report
//! has their number.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU32;

use crate::graph::{AnyNode, NodePaths, NodeStatus};
use crate::message::EdgeStatus;

/// The largest number of latency histograms in a run.
const MOST_PATHS: usize = 1024;

/// How many more histograms a sink gets, if there are enough, for origins that are no sources: nodes that discard their messages
/// and send others.
const SPARE: usize = 2;

/// Begins the measurements of a run: tells each node which paths it measures.
pub(super) fn keep(nodes: &mut [&mut dyn AnyNode]) {
    let statuses: Vec<NodeStatus> = nodes.iter_mut().map(|node| node.status()).collect();
    let paths = paths(&statuses, MOST_PATHS);
    for (node, paths) in nodes.iter_mut().zip(paths) {
        node.keep_statistics(paths.as_ref());
    }
}

/// Gives each node its number as an origin of messages.
pub(super) fn number_nodes(nodes: &mut [&mut dyn AnyNode]) {
    for (index, node) in nodes.iter_mut().enumerate() {
        if let Some(number) = number(index) {
            node.set_number(number);
        }
    }
}

/// Returns, for each node that is a sink, the paths that end at it: at most `most` paths for all sinks together.
fn paths(nodes: &[NodeStatus], most: usize) -> Vec<Option<NodePaths>> {
    let mut producers = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let edges = node.outputs.iter().flat_map(|output| &output.edges);
        producers.extend(edges.map(|edge| (edge.id, index)));
    }
    let mut left = most;
    let mut paths: Vec<Option<NodePaths>> = (0..nodes.len())
        .map(|sink| {
            is_sink(&nodes[sink]).then(|| {
                let sources = sources(nodes, sink, &producers);
                let sources: Vec<_> = sources.into_iter().filter_map(number).take(left).collect();
                left -= sources.len();
                NodePaths { sources, spare: 0 }
            })
        })
        .collect();
    for paths in paths.iter_mut().flatten() {
        paths.spare = SPARE.min(left);
        left -= paths.spare;
    }
    paths
}

/// Returns the number of a node as an origin. `None` beyond 2³² nodes, which no memory could hold.
fn number(index: usize) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(index).ok()?.checked_add(1)?)
}

/// Whether the messages of the edge carry acquisition times. Those of a feedback edge don't, since they are of an earlier tick.
fn carries_time(edge: &EdgeStatus) -> bool {
    !edge.feedback
}

/// Whether the node receives messages, and sends none to another node in the same tick.
fn is_sink(node: &NodeStatus) -> bool {
    let mut edges = node.outputs.iter().flat_map(|output| &output.edges);
    !node.inputs.is_empty() && !edges.any(carries_time)
}

/// Whether the node may run without receiving a message that carries an acquisition time.
fn is_source(node: &NodeStatus) -> bool {
    let required = node.inputs.iter().filter(|input| !input.optional);
    !required.flat_map(|input| &input.edges).any(carries_time)
}

/// Returns the sources whose messages can get to a node.
fn sources(
    nodes: &[NodeStatus],
    sink: usize,
    producers: &HashMap<usize, usize>,
) -> BTreeSet<usize> {
    let (mut seen, mut open, mut found) = (BTreeSet::from([sink]), vec![sink], BTreeSet::new());
    while let Some(node) = open.pop() {
        if node != sink && is_source(&nodes[node]) {
            found.insert(node);
        }
        let edges = nodes[node].inputs.iter().flat_map(|input| &input.edges);
        let edges = edges.filter(|edge| carries_time(edge));
        let before = edges.filter_map(|edge| producers.get(&edge.id));
        open.extend(before.filter(|node| seen.insert(**node)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::QueuePolicy;
    use crate::operator::PortStatus;

    /// Creates a port with these edges. A negative number stands for a feedback edge.
    fn port(optional: bool, edges: &[isize]) -> PortStatus {
        let edge = |&id: &isize| EdgeStatus {
            name: "an edge",
            id: id.unsigned_abs(),
            waiting: 0,
            capacity: 1,
            policy: QueuePolicy::BackPressure,
            feedback: id < 0,
            gives_way: false,
            sent: 0,
            received: 0,
            dropped_to_go_on: 0,
            dropped_by_policy: 0,
            dropped_alone: 0,
            dropped_by_failure: 0,
            dropped_at_end: 0,
        };
        PortStatus {
            name: "a port",
            optional,
            is_awaited: false,
            is_paired: false,
            has_emitted: true,
            is_branch: false,
            edges: edges.iter().map(edge).collect(),
        }
    }

    fn node(inputs: Vec<PortStatus>, outputs: Vec<PortStatus>) -> NodeStatus {
        NodeStatus::idle("", inputs, outputs)
    }

    /// Returns the index of each sink, the indices of its sources, and the number of its histograms for origins that are no
    /// sources.
    fn found(nodes: &[NodeStatus], most: usize) -> Vec<(usize, Vec<usize>, usize)> {
        let paths = paths(nodes, most).into_iter().enumerate();
        let index = |number: &NonZeroU32| number.get() as usize - 1;
        paths
            .filter_map(|(sink, paths)| {
                let NodePaths { sources, spare } = paths?;
                Some((sink, sources.iter().map(index).collect(), spare))
            })
            .collect()
    }

    /// Creates a graph of seven nodes: two sources; a node that joins them, with a feedback edge; a node that runs for an
    /// optional message only; two sinks, one with an output that is discarded; and a node without ports.
    fn graph() -> Vec<NodeStatus> {
        vec![
            node(vec![], vec![port(false, &[1])]),
            node(vec![], vec![port(false, &[2, 3])]),
            node(
                vec![port(false, &[1]), port(false, &[2]), port(false, &[-4])],
                vec![port(false, &[-4]), port(false, &[5])],
            ),
            node(vec![port(true, &[3])], vec![port(false, &[6])]),
            node(vec![port(false, &[5])], vec![]),
            node(vec![port(false, &[6])], vec![port(false, &[])]),
            node(vec![], vec![]),
        ]
    }

    #[test]
    fn only_pairs_that_messages_connect_have_a_path() {
        let expected = vec![(4, vec![0, 1], 2), (5, vec![1, 3], 2)];
        assert_eq!(found(&graph(), 100), expected);
    }

    #[test]
    fn the_number_of_paths_is_bounded_and_sources_come_first() {
        assert_eq!(found(&graph(), 3), vec![(4, vec![0, 1], 0), (5, vec![1], 0)]);
        assert_eq!(found(&graph(), 5), vec![(4, vec![0, 1], 1), (5, vec![1, 3], 0)]);
        assert_eq!(found(&graph(), 0), vec![(4, vec![], 0), (5, vec![], 0)]);
    }

    #[test]
    fn feedback_makes_neither_a_path_nor_a_circle() {
        let own_state = vec![
            node(vec![port(false, &[-1])], vec![port(false, &[-1, 2])]),
            node(vec![port(false, &[2]), port(false, &[-3])], vec![port(false, &[-3])]),
        ];
        assert_eq!(found(&own_state, 9), vec![(1, vec![0], 2)]);
    }
}
