//! Makes failing graphs smaller.

use super::plan::{Flow, NodePlan};
use crate::programs::shrink::{each_without, without_chunks};

/// Returns graphs that are each a little smaller than this one, the smallest first. A graph of graphs becomes its flat twin, or
/// keeps its nodes and edges.
pub(crate) fn smaller(flow: &Flow) -> Vec<Flow> {
    let mut all = vec![
        Flow { shape: None, ..flow.clone() },
        Flow { workers: 0, ..flow.clone() },
        Flow { depth: 0, ..flow.clone() },
    ];
    if flow.shape.is_none() {
        all.extend((0..flow.nodes.len()).map(|node| without_node(flow, node)));
        let fewer = each_without(&flow.edges).into_iter();
        all.extend(fewer.map(|edges| Flow { edges, ..flow.clone() }));
    }
    let fewer = [flow.ticks / 2, flow.ticks - flow.ticks / 4, flow.ticks.saturating_sub(1)];
    let fewer = fewer.into_iter().filter(|ticks| *ticks > 0);
    all.extend(fewer.map(|ticks| Flow { ticks, ..flow.clone() }));
    for node in 0..flow.nodes.len() {
        all.extend(smaller_nodes(&flow.nodes[node]).into_iter().map(|smaller| {
            let mut fewer = flow.clone();
            fewer.nodes[node] = smaller;
            fewer
        }));
    }
    let streams = |flow: &Flow| -> Vec<_> {
        flow.nodes.iter().map(|node| (node.adopts, node.awaits)).collect()
    };
    all.retain(|smaller| {
        smaller != flow && (smaller.shape.is_none() || streams(smaller) == streams(flow))
    });
    all
}

fn without_node(flow: &Flow, node: usize) -> Flow {
    let mut fewer = flow.clone();
    fewer.nodes.remove(node);
    fewer.edges.retain(|edge| edge.from != node && edge.to != node);
    for end in fewer.edges.iter_mut().flat_map(|edge| [&mut edge.from, &mut edge.to]) {
        *end -= usize::from(*end > node);
    }
    fewer
}

fn smaller_nodes(node: &NodePlan) -> Vec<NodePlan> {
    let scripts = each_without(&node.script).into_iter();
    let mut all: Vec<_> = scripts.map(|script| NodePlan { script, ..node.clone() }).collect();
    for (index, phase) in node.script.iter().enumerate() {
        let mut change = |change: &dyn Fn(&mut NodePlan)| {
            let mut smaller = node.clone();
            change(&mut smaller);
            all.push(smaller);
        };
        for calls in without_chunks(&phase.calls) {
            change(&|node| node.script[index].calls = calls.clone());
        }
        for ticks in [1, phase.ticks / 2, phase.ticks.saturating_sub(1)] {
            if ticks < phase.ticks {
                change(&|node| node.script[index].ticks = ticks);
            }
        }
        if phase.every > 1 {
            change(&|node| node.script[index].every = 1);
        }
    }
    all.push(NodePlan { adopts: false, awaits: false, ..node.clone() });
    all
}
