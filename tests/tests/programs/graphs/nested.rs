//! Draws graphs of graphs and of arrays: one of the graphs of `shapes`, with drawn scripts, capacities, workers and planned
//! streams. The lists of nodes and edges describe the flat twin.

use std::sync::Arc;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow_tests::random::Random;

use super::build::{build, first_item, first_stream};
use super::draw::Behaviour;
use super::plan::{EdgePlan, Flow, FullPolicy, Kind, Port, Shape};
use super::shapes::{Borders, Chains, Lanes, Ways};

/// A node: its path, its kind, whether it adopts streams, and whether it waits for them.
type ShapeNode = (&'static str, Kind, bool, bool);

/// The work, the unary operators that adopt streams or wait for them, and others.
const WORK: (Kind, bool, bool) = (Kind::Work, false, false);
const UNARY: (Kind, bool, bool) = (Kind::Unary, false, false);
const ADOPTS: (Kind, bool, bool) = (Kind::Unary, true, false);
const AWAITS: (Kind, bool, bool) = (Kind::Unary, false, true);
const FORWARD: (Kind, bool, bool) = (Kind::Forward, false, false);
const MERGE: (Kind, bool, bool) = (Kind::Merge, false, false);

impl Shape {
    /// Returns the nodes in the order of the graph.
    pub(crate) fn nodes(self) -> Vec<ShapeNode> {
        let nodes: &[(&str, (Kind, bool, bool))] = match self {
            Self::Lanes => &[
                ("source", WORK),
                ("lanes[0].work", WORK),
                ("lanes[0].unary", UNARY),
                ("lanes[1].work", WORK),
                ("lanes[1].unary", UNARY),
                ("merge", MERGE),
                ("sink", WORK),
            ],
            Self::Borders => &[
                ("source", WORK),
                ("outer.inner.change", WORK),
                ("outer.inner.look", FORWARD),
                ("outer.join", WORK),
                ("sink", WORK),
            ],
            Self::Ways => &[
                ("front.steady", WORK),
                ("front.rare", WORK),
                ("front.relay", WORK),
                ("back.ends[0]", WORK),
                ("back.ends[1]", WORK),
            ],
            Self::Chains => &[
                ("source", WORK),
                ("chains[0].steps[0]", ADOPTS),
                ("chains[0].steps[1]", ADOPTS),
                ("chains[0].last", AWAITS),
                ("chains[1].steps[0]", ADOPTS),
                ("chains[1].steps[1]", ADOPTS),
                ("chains[1].last", AWAITS),
                ("sink", WORK),
            ],
        };
        nodes.iter().map(|&(name, (kind, adopts, awaits))| (name, kind, adopts, awaits)).collect()
    }

    /// Returns how each node behaves, if that is not drawn.
    pub(super) fn behaviours(self) -> Vec<Option<Behaviour>> {
        match self {
            Self::Ways => [
                Behaviour::Steady,
                Behaviour::Rare,
                Behaviour::Steady,
                Behaviour::Observer,
                Behaviour::Delayed,
            ]
            .map(Some)
            .to_vec(),
            _ => vec![None; self.nodes().len()],
        }
    }

    /// Draws the edges, in the order in which the graph connects them.
    pub(super) fn edges(self, random: &mut Random) -> Vec<EdgePlan> {
        let narrow = 1 + random.below(8);
        let mut drawn = || [1, 1, 2, 4, 8, 16, 64][random.below(7)];
        let edge = |from, to, port, capacity| EdgePlan {
            from,
            shared: false,
            to,
            port,
            capacity,
            full: FullPolicy::BackPressure,
        };
        let shared = |edge| EdgePlan { shared: true, ..edge };
        match self {
            Self::Lanes => {
                let (into, out_of, inside) = (drawn(), drawn(), drawn());
                vec![
                    edge(1, 2, Port::Read, inside),
                    edge(3, 4, Port::Read, inside),
                    edge(0, 1, Port::Read, into),
                    edge(2, 5, Port::All, out_of),
                    edge(0, 3, Port::Read, into),
                    edge(4, 5, Port::All, out_of),
                    edge(5, 6, Port::Read, drawn()),
                    shared(edge(0, 6, Port::Share, 64)),
                ]
            }
            Self::Borders => vec![
                shared(edge(1, 2, Port::Share, drawn())),
                shared(edge(1, 3, Port::Read, drawn())),
                shared(edge(2, 3, Port::Share, drawn())),
                edge(0, 1, Port::Take, drawn()),
                edge(3, 4, Port::Take, drawn()),
                shared(edge(1, 4, Port::Share, 64)),
                edge(0, 4, Port::Read, 64),
                edge(4, 3, Port::Also, 64),
            ],
            Self::Ways => vec![
                edge(0, 2, Port::Read, drawn()),
                edge(1, 2, Port::Also, drawn()),
                edge(2, 3, Port::Read, narrow),
                edge(2, 4, Port::Read, 64),
                edge(1, 4, Port::Also, drawn()),
            ],
            Self::Chains => vec![
                edge(1, 2, Port::Read, drawn()),
                edge(2, 3, Port::Read, drawn()),
                edge(4, 5, Port::Read, drawn()),
                edge(5, 6, Port::Read, drawn()),
                EdgePlan { full: FullPolicy::Pop, ..edge(0, 1, Port::Read, drawn()) },
                edge(3, 4, Port::Read, drawn()),
                edge(6, 7, Port::Read, drawn()),
                edge(0, 7, Port::Also, 64),
            ],
        }
    }
}

/// A graph that `graph!` or the tests have written.
pub(crate) trait Made {
    /// Returns the picture of the graph's plan.
    fn picture(&mut self) -> Result<String, Error>;

    fn run(&mut self) -> Result<streamflow::schedule::Report, Error>;
}

impl<G: Graph> Made for G {
    fn picture(&mut self) -> Result<String, Error> {
        Ok(self.plan()?.mermaid())
    }

    fn run(&mut self) -> Result<streamflow::schedule::Report, Error> {
        streamflow::__private::run(self)
    }
}

fn scheduled(flow: &Flow, mut graph: impl Graph + 'static) -> Result<Box<dyn Made>> {
    if flow.workers > 0 {
        graph.workers(flow.workers)?;
    }
    Ok(Box::new(graph))
}

/// Makes the graph, of `shape` if it has one, or else by hand. `on` is a stream that must be held until the graph is dropped.
pub(crate) fn made(flow: &Flow, platform: &Platform, on: &CudaStream) -> Result<Box<dyn Made>> {
    let (pool, arc) = (flow.pool(), Arc::new(flow.clone()));
    match flow.shape {
        None => scheduled(flow, build(flow, platform, on)?),
        Some(Shape::Lanes) => scheduled(flow, Lanes::new(platform, arc, pool)?),
        Some(Shape::Ways) => scheduled(flow, Ways::new(platform, arc, pool)?),
        Some(Shape::Chains) => scheduled(flow, Chains::new(platform, arc, pool)?),
        Some(Shape::Borders) => {
            let first = first_item(3, platform, on)?;
            scheduled(flow, Borders::new(platform, arc, pool, first)?)
        }
    }
}

/// Runs the graph, whose nodes compare their downloads with the expected values.
pub(crate) fn run(flow: &Flow, platform: &Platform) -> Result<()> {
    let on = first_stream(platform)?;
    let done = made(flow, platform, &on)?.run().map(drop);
    Ok(done?)
}
