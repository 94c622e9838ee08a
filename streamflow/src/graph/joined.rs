//! Whether a node with `#[when(same_sequence)]` can ever find messages that belong together: the ways to its inputs must have
//! a node in common, at which their data may begin.

use std::collections::{HashMap, HashSet};

use super::AnyNode;
use crate::error::{Error, Result};
use crate::operator::{NodeStatus, PortStatus};

/// Checks all nodes with the condition, when all edges are connected.
///
/// # Errors
/// [`Error::ImpossibleCondition`], for the first node whose inputs have no source in common.
pub(super) fn check(nodes: &mut [&mut dyn AnyNode]) -> Result<()> {
    if nodes.iter().all(|node| node.pairs().is_none()) {
        return Ok(());
    }
    let statuses: Vec<NodeStatus> = nodes.iter_mut().map(|node| node.status()).collect();
    let mut producers = HashMap::new();
    for (index, status) in statuses.iter().enumerate() {
        let edges = status.outputs.iter().flat_map(|output| &output.edges);
        producers.extend(edges.map(|edge| (edge.id, index)));
    }
    for (node, status) in nodes.iter().zip(&statuses) {
        let Some(condition) = node.pairs() else { continue };
        let inputs = status.inputs.iter().filter(|input| input.is_paired);
        let mut first: Option<(&str, HashSet<usize>)> = None;
        for input in inputs {
            let (name, way) = (input.name, before(input, &statuses, &producers));
            let (first, common) = first.get_or_insert_with(|| (name, way.clone()));
            common.retain(|node| way.contains(node));
            if common.is_empty() {
                let problem = format!(
                    "no node sends to both `{first}` and `{name}`, directly or through others, so their numbers say \
                     nothing about each other; name the inputs whose messages come from one source, \
                     `same_sequence([a, b])`, or remove the condition"
                );
                let node = status.name.clone();
                return Err(Error::ImpossibleCondition { node, condition, problem });
            }
        }
    }
    Ok(())
}

/// The nodes whose messages get to an input over each of its edges.
fn before(
    input: &PortStatus,
    nodes: &[NodeStatus],
    producers: &HashMap<usize, usize>,
) -> HashSet<usize> {
    let mut common: Option<HashSet<usize>> = None;
    for edge in input.edges.iter().filter(|edge| !edge.feedback) {
        let mut seen: HashSet<usize> = producers.get(&edge.id).copied().into_iter().collect();
        let mut open: Vec<usize> = seen.iter().copied().collect();
        while let Some(node) = open.pop() {
            let edges = nodes[node].inputs.iter().flat_map(|input| &input.edges);
            let edges = edges.filter(|edge| !edge.feedback);
            let before = edges.filter_map(|edge| producers.get(&edge.id)).copied();
            open.extend(before.filter(|node| seen.insert(*node)));
        }
        match &mut common {
            None => common = Some(seen),
            Some(common) => common.retain(|node| seen.contains(node)),
        }
    }
    common.unwrap_or_default()
}
