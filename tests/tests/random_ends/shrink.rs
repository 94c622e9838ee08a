//! Makes a failing graph smaller while it still fails.

use std::time::{Duration, Instant};

use streamflow::message::QueuePolicy;

use super::plan::{Kind, Plan, Policies, Port, When};

/// Returns graphs that are each a little smaller than this one.
fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut all: Vec<Plan> = (1..plan.nodes.len()).map(|node| without(plan, node)).collect();
    all.extend((0..plan.graphs.len()).map(|graph| {
        let mut fewer = plan.clone();
        fewer.graphs.remove(graph);
        fewer
    }));
    for index in 0..plan.edges.len() {
        let edge = plan.edges[index];
        if plan.is_optional(&edge) {
            let mut fewer = plan.clone();
            fewer.edges.remove(index);
            all.push(fewer);
        }
        let mut plain = plan.clone();
        plain.edges[index].policy = QueuePolicy::BackPressure;
        plain.edges[index].capacity = match (edge.port, plan.nodes[edge.to].when) {
            (Port::A, Some(When::Available(n))) => n,
            _ => 1,
        };
        all.push(plain);
    }
    for index in 0..plan.nodes.len() {
        let node = plan.nodes[index];
        for count in node.count.into_iter().flat_map(|count| [1, count / 2, count - 1]) {
            let mut fewer = plan.clone();
            fewer.nodes[index].count = Some(count.max(1));
            all.push(fewer);
        }
        let mut simple = [node; 10];
        simple[0].when = None;
        simple[1].finish = None;
        simple[2].slow = 0;
        simple[3].every = [1, 1];
        simple[4].takes = 1;
        simple[5].holds = node.holds.min(1);
        if node.kind == Kind::Hold {
            simple[6].kind = Kind::One;
        }
        simple[7].stops = None;
        simple[8].fails = None;
        simple[9].on_failure = Policies::Stop;
        all.extend(simple.map(|simple| {
            let mut other = plan.clone();
            other.nodes[index] = simple;
            other
        }));
    }
    // A graph that is refused, that compares numbers of different sources, or that loses partners for ever would
    // fail for a reason of its own.
    let compares = |plan: &Plan, node: usize| plan.nodes[node].when == Some(When::SameSequence);
    let is_sound = |plan: &Plan| {
        (0..plan.nodes.len())
            .all(|node| !compares(plan, node) || plan.joins(node) && !plan.loses_partners(node))
    };
    all.retain(|other| other != plan && other.nodes.len() > 1 && is_sound(other));
    all
}

/// Returns the graph without a node, and without the nodes that need it.
fn without(plan: &Plan, node: usize) -> Plan {
    let mut keeps = vec![true; plan.nodes.len()];
    keeps[node] = false;
    for node in node + 1..plan.nodes.len() {
        let inputs = || plan.inputs(node).filter(|edge| !edge.is_feedback());
        keeps[node] = match plan.nodes[node].kind {
            Kind::Source => keeps[node],
            Kind::Merge => inputs().any(|edge| keeps[edge.from]),
            _ => !inputs().any(|edge| !keeps[edge.from] && !plan.is_optional(edge)),
        };
    }
    let place = |node: usize| keeps[..node].iter().filter(|keeps| **keeps).count();
    let nodes = plan.nodes.iter().zip(&keeps).filter(|(_, keeps)| **keeps).map(|(node, _)| *node);
    let mut edges = plan.edges.clone();
    edges.retain(|edge| keeps[edge.from] && keeps[edge.to]);
    for edge in &mut edges {
        (edge.from, edge.to) = (place(edge.from), place(edge.to));
    }
    let graphs = plan.graphs.iter().map(|graph| place(graph.start)..place(graph.end));
    let graphs = graphs.filter(|graph| !graph.is_empty()).collect();
    Plan { nodes: nodes.collect(), edges, graphs }
}

/// Returns the smallest graph found in the time that still fails, and its fault. `fails` decides whether a graph
/// fails.
pub(crate) fn shrink(
    plan: Plan,
    fault: String,
    time: Duration,
    fails: impl Fn(&Plan) -> Option<String>,
) -> (Plan, String) {
    let end = Instant::now() + time;
    let mut least = (plan, fault);
    loop {
        let found = smaller(&least.0).into_iter().find_map(|plan| {
            if Instant::now() >= end { None } else { fails(&plan).map(|fault| (plan, fault)) }
        });
        match found {
            Some(smaller) => least = smaller,
            None => return least,
        }
    }
}
