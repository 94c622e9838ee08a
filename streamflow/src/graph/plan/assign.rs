//! Plans a graph, and gives each node its part of the plan.

use super::{Planning, plan};
use crate::context::{Budget, Chain, Planned};
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, joined};
use crate::operator::NodeFacts;
use crate::stream::Assign;

/// The environment variable that sets the assignment of streams for pools that do not set it themselves.
const VARIABLE: &str = "STREAMFLOW_ASSIGN";

/// Completes a graph after its edges are connected: checks the values in its conditions, finds the inputs whose messages are
/// compared, and plans the graph if a pool has planned streams.
///
/// # Errors
/// [`Error::ImpossibleCondition`] for the first condition that can never hold; [`Error::AssignVariable`].
pub fn finish(graph: &mut dyn Graph) -> Result<()> {
    let mut nodes = graph.nodes();
    nodes.iter_mut().try_for_each(|node| node.bind_conditions())?;
    joined::finish(&mut nodes)?;
    let default = of_environment()?;
    let is_planned = |assign: Option<Assign>| assign.unwrap_or(default) != Assign::PerOperator;
    let is_planned = nodes.iter().any(|node| is_planned(node.assign()));
    if is_planned && let Some(facts) = facts(&mut nodes) {
        assign(&mut nodes, &facts, &plan(&facts, default));
    }
    Ok(())
}

fn assign(nodes: &mut [&mut dyn AnyNode], facts: &[NodeFacts], planning: &Planning) {
    let mut budgets = Vec::new();
    for chain in &planning.chains {
        let Some(pool) = &facts[chain.nodes[0]].pool else { continue };
        if budgets.len() <= chain.group {
            budgets.resize_with(chain.group + 1, || None);
        }
        let budget = budgets[chain.group].get_or_insert_with(|| Budget::new(pool.clone()));
        let depth = chain.depth as usize;
        let streams =
            Chain::new(budget, label(chain.nodes.iter().map(|&node| &*facts[node].name)), depth);
        for &node in &chain.nodes {
            let is_quiet = planning.is_quiet[node];
            nodes[node].set_planned(Planned::new(&streams, depth, is_quiet));
        }
    }
}

/// Returns the label of the stream that these nodes share: the names of the nodes.
fn label<'a>(mut names: impl ExactSizeIterator<Item = &'a str> + DoubleEndedIterator) -> String {
    match names.len() {
        0..=3 => names.collect::<Vec<_>>().join(", "),
        _ => format!(
            "{} … {}",
            names.next().unwrap_or_default(),
            names.next_back().unwrap_or_default()
        ),
    }
}

/// Returns the facts about all nodes. `None` if `graph!` did not make all of them.
pub(super) fn facts(nodes: &mut [&mut dyn AnyNode]) -> Option<Vec<NodeFacts>> {
    nodes.iter_mut().map(|node| node.facts()).collect()
}

/// Returns the assignment of streams for pools that do not set it: the one of the environment variable, or `PerOperator`.
pub(super) fn of_environment() -> Result<Assign> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(Assign::PerOperator) };
    let assign = text.to_str().and_then(Assign::of_text);
    assign.ok_or_else(|| Error::AssignVariable { value: text.to_string_lossy().into_owned() })
}
