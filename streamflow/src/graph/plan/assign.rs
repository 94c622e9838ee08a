//! Gives the nodes of a graph their places in a plan.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Planning, Wait, plan};
use crate::context::{Budget, Chain, Planned, Prediction};
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, joined};
use crate::operator::NodeFacts;
use crate::stream::Assign;

/// The assignment for each pool for which the program sets none.
const VARIABLE: &str = "STREAMFLOW_ASSIGN";

/// Ends the making of a graph whose edges are connected: checks the values of its conditions, finds
/// which messages its nodes compare, and plans it.
///
/// # Errors
/// [`Error::ImpossibleCondition`], for the first that can never hold; [`Error::AssignVariable`].
#[doc(hidden)]
pub fn finish(graph: &mut dyn Graph) -> Result<()> {
    let mut nodes = graph.nodes();
    nodes.iter_mut().try_for_each(|node| node.bind_conditions())?;
    joined::finish(&mut nodes)?;
    let default = of_environment()?;
    let is_planned = |assign: Option<Assign>| assign.unwrap_or(default) != Assign::PerOperator;
    let is_planned = nodes.iter().any(|node| is_planned(node.assign()));
    // Debug builds compare the prediction with what the claims find, in each graph.
    if (is_planned || cfg!(debug_assertions))
        && let Some(facts) = facts(&mut nodes)
    {
        let planning = plan(&facts, default);
        assign(&mut nodes, &facts, &planning);
        if cfg!(debug_assertions) {
            predict(&mut nodes, &planning);
        }
    }
    Ok(())
}

/// Gives each node whose tick has a wait that others imply, and all whose ticks that depends on, what the plan expects.
fn predict(nodes: &mut [&mut dyn AnyNode], planning: &Planning) {
    let Planning { edges, waits, .. } = planning;
    if !waits.iter().any(|wait| matches!(wait, Wait::ImpliedBy(_))) {
        return;
    }
    let holds = Arc::new(AtomicBool::new(true));
    for (index, node) in nodes.iter_mut().enumerate() {
        let inputs: Vec<usize> = (0..edges.len())
            .filter(|&edge| edges[edge].orders && edges[edge].to == index)
            .collect();
        let place = |edge: usize| inputs.iter().position(|&other| other == edge);
        let expected = inputs.iter().map(|&edge| match waits[edge] {
            Wait::ImpliedBy(other) => (edges[edge].input, place(other)),
            _ => (edges[edge].input, None),
        });
        let mut outputs: Vec<&'static str> = edges
            .iter()
            .filter(|edge| edge.orders && edge.from == index)
            .map(|edge| edge.output)
            .collect();
        outputs.sort_unstable();
        outputs.dedup();
        if !inputs.is_empty() || !outputs.is_empty() {
            node.set_prediction(Prediction::new(&holds, expected, outputs.into_iter()));
        }
    }
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

/// What the stream of these nodes is called.
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

/// What the plan needs to know of all nodes. `None` for a graph with nodes of another make.
pub(super) fn facts(nodes: &mut [&mut dyn AnyNode]) -> Option<Vec<NodeFacts>> {
    nodes.iter_mut().map(|node| node.facts()).collect()
}

/// The assignment for pools that set none.
pub(super) fn of_environment() -> Result<Assign> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(Assign::PerOperator) };
    let assign = text.to_str().and_then(Assign::of_text);
    assign.ok_or_else(|| Error::AssignVariable { value: text.to_string_lossy().into_owned() })
}
