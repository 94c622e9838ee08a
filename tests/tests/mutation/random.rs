//! Graphs drawn from a seed.

use streamflow_tests::random::Random;

use super::plan::{Calls, Origin, Plan, PlanNode, Reading, UnaryWork};

/// As [`plan`], with calls of libraries in place of the maps.
pub(crate) fn with_libraries(seed: u64) -> Plan {
    let calls = [Calls::Sum, Calls::Transform, Calls::Spectrum, Calls::Weight, Calls::Bias];
    let mut plan = plan(seed);
    let mut random = Random::new(!seed);
    for node in &mut plan.nodes {
        if let PlanNode::Unary(work @ UnaryWork::Map, _) = node {
            *work = UnaryWork::Calls(calls[random.below(calls.len())]);
        }
    }
    plan.name = format!("{}, with calls of libraries", plan.name);
    plan
}

/// Draws a plan: sources, then operators that read nodes, preferably unread ones, and then a sink for each node
/// that is still unread.
pub(crate) fn plan(seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let origins = [Origin::Kernel, Origin::Kernel, Origin::Upload, Origin::Default];
    let sources = 1 + random.below(2);
    let mut nodes: Vec<_> =
        (0..sources).map(|_| PlanNode::Source(origins[random.below(origins.len())])).collect();
    let operators = 3 + random.below(3);
    for _ in 0..operators {
        let (a, b) = (pick(&mut random, &nodes), pick(&mut random, &nodes));
        nodes.push(match random.below(9) {
            0 | 1 => PlanNode::Unary(UnaryWork::Map, a),
            2 => PlanNode::Unary(UnaryWork::Extra, a),
            3 => PlanNode::Unary(UnaryWork::Scratch, a),
            4 => PlanNode::Taking(a, false),
            5 => PlanNode::Keep(a),
            6 => PlanNode::Relay(a),
            _ => PlanNode::Combine(a, b),
        });
    }
    for node in 0..nodes.len() {
        if readers(&nodes, node) == 0 {
            let reading =
                [Reading::Late, Reading::Late, Reading::Next, Reading::Done][random.below(4)];
            nodes.push(PlanNode::Sink(reading, node));
        }
    }
    // A node whose message others also read can't be taken, so the taking node gets a copy.
    for node in 0..nodes.len() {
        if let PlanNode::Taking(from, _) = nodes[node] {
            let shared = readers(&nodes, from) > 1 || matches!(nodes[from], PlanNode::Relay(_));
            nodes[node] = PlanNode::Taking(from, shared);
        }
    }
    let plan = Plan::new(&format!("random {seed}"), &nodes);
    match random.below(3) {
        0 => plan.freeing(),
        1 => plan.in_flight(2),
        _ => plan,
    }
}

fn readers(nodes: &[PlanNode], node: usize) -> usize {
    nodes.iter().flat_map(|step| step.inputs()).filter(|from| *from == node).count()
}

/// Returns a node to read. In three of four cases this is one without a reader.
fn pick(random: &mut Random, nodes: &[PlanNode]) -> usize {
    let unread: Vec<_> = (0..nodes.len()).filter(|node| readers(nodes, *node) == 0).collect();
    if unread.is_empty() || random.below(4) == 0 {
        return random.below(nodes.len());
    }
    unread[random.below(unread.len())]
}
