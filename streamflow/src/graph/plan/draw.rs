//! `Plan`: the plan of a graph as a picture. It has a colour for each stream that nodes share, and at each edge the expected wait
//! of the consumer's stream.

use std::fmt::Write;

use super::assign::{facts, of_environment};
use super::{Planning, Wait, plan};
use crate::error::{Error, Failure, Result};
use crate::graph::Graph;
use crate::graph::drawing::{Drawing, Language, Look};

/// The plan of a graph, from [`Graph::plan`]: which operators share a stream, and the expected wait for each message. A plan only
/// predicts: whether a launch waits is decided at the launch, by the uses of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    graph: &'static str,
    nodes: Vec<DrawnNode>,
    /// For each chain, the names of its nodes, and the number of streams that their ticks use in turn.
    chains: Vec<(Vec<String>, u32)>,
    edges: Vec<DrawnEdge>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DrawnNode {
    label: String,
    chain: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DrawnEdge {
    from: usize,
    to: usize,
    /// The names of the ports, and the expected wait of the consumer's stream.
    label: String,
    waits: bool,
}

impl Plan {
    /// Returns the names of the nodes of each planned stream, in their order. The nodes of a list share one stream; if the plan's
    /// depth is greater than 1, they share as many streams as that, which their ticks use in turn. Nodes with streams of their
    /// own are left out.
    pub fn streams(&self) -> impl Iterator<Item = &[String]> {
        self.chains.iter().map(|(nodes, _)| &**nodes)
    }

    /// Returns the picture as a Mermaid flow chart. Nodes that share a stream have the same colour, and an edge with an expected
    /// wait is thick.
    pub fn mermaid(&self) -> String {
        self.draw(Language::Mermaid)
    }

    /// Returns the picture as a graph in the language of Graphviz.
    pub fn dot(&self) -> String {
        self.draw(Language::Dot)
    }

    fn draw(&self, language: Language) -> String {
        let mut drawing = Drawing::new(language, self.graph);
        for (index, DrawnNode { label, chain }) in self.nodes.iter().enumerate() {
            drawing.node(&format!("n{index}"), label, chain.map_or(Look::Node, Look::Coloured));
        }
        for DrawnEdge { from, to, label, waits } in &self.edges {
            drawing.edge(&format!("n{from}"), &format!("n{to}"), label, *waits);
        }
        drawing.finish()
    }
}

/// Makes the plan of a graph, for its picture.
pub(crate) fn of_graph(graph: &mut dyn Graph) -> Result<Plan> {
    let (name, default) = (graph.__streamflow_name(), of_environment()?);
    let Some(facts) = facts(&mut graph.nodes()) else {
        let problem = "a graph has a plan only if `graph!` wrote it, with all its nodes";
        return Err(Error::Other(Failure::msg(problem)));
    };
    let Planning { edges, waits, chains, .. } = plan(&facts, default);
    let chain_of = |node| chains.iter().position(|chain| chain.nodes.contains(&node));
    let nodes = facts.iter().enumerate().map(|(index, node)| DrawnNode {
        label: format!("{}: {}", node.name, node.operator),
        chain: chain_of(index),
    });
    let drawn = edges.iter().zip(&waits).map(|(edge, wait)| {
        let mut label = format!("{} → {}", edge.output, edge.input);
        match wait {
            Wait::None => {}
            Wait::Made => label.push_str(", waits"),
            Wait::SameStream => label.push_str(", same stream"),
            Wait::ImpliedBy(other) => {
                let _ = write!(label, ", implied by {}", edges[*other].input);
            }
        }
        DrawnEdge { from: edge.from, to: edge.to, label, waits: *wait == Wait::Made }
    });
    let names = |nodes: &[usize]| nodes.iter().map(|&node| facts[node].name.clone()).collect();
    Ok(Plan {
        graph: name,
        nodes: nodes.collect(),
        chains: chains.iter().map(|chain| (names(&chain.nodes), chain.depth)).collect(),
        edges: drawn.collect(),
    })
}
