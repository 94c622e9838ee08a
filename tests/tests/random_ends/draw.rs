//! Draws random graphs.

use std::ops::Range;

use streamflow::message::QueuePolicy;
use streamflow_tests::random::Random;

use super::plan::{EdgePlan, Fails, Kind, NodePlan, Plan, Policies, Port, When};

/// A capacity that is larger than the number of messages that any node sends.
const LARGE: usize = 1000;

fn one_in(random: &mut Random, n: usize) -> bool {
    random.below(n) == 0
}

fn of<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())]
}

pub(crate) fn draw(seed: u64) -> Plan {
    let random = &mut Random::new(seed);
    let mut plan = Plan { nodes: Vec::new(), edges: Vec::new(), graphs: Vec::new() };
    for node in 0..2 + random.below(7) {
        let kinds =
            [Kind::Source, Kind::One, Kind::One, Kind::Hold, Kind::Two, Kind::Two, Kind::Merge];
        let kind = if node == 0 { Kind::Source } else { of(random, &kinds) };
        plan.nodes.push(draw_node(random, kind));
        for port in kind.required() {
            draw_edge(random, &mut plan, node, *port);
        }
        for (nth, port) in kind.optional().iter().enumerate() {
            let is_needed = kind == Kind::Merge && nth == 0;
            if is_needed || one_in(random, 2 + nth) {
                draw_edge(random, &mut plan, node, *port);
            }
        }
    }
    for node in 0..plan.nodes.len() {
        limit(random, &mut plan, node);
    }
    end_consumers(random, &mut plan);
    // An edge that loses messages may not have done so when the condition was drawn, so the condition is removed.
    for node in 0..plan.nodes.len() {
        if plan.nodes[node].when == Some(When::SameSequence) && plan.loses_partners(node) {
            plan.nodes[node].when = None;
        }
    }
    plan.graphs = draw_graphs(&mut Random::new(!seed), plan.nodes.len());
    plan
}

/// Draws which nodes are in a graph inside, and which of them are in another graph there. The nodes of a graph follow each other.
fn draw_graphs(random: &mut Random, nodes: usize) -> Vec<Range<usize>> {
    let part = |random: &mut Random, all: Range<usize>| {
        let (a, b) = (random.below(all.len()), random.below(all.len()));
        all.start + a.min(b)..all.start + a.max(b) + 1
    };
    let outer = part(random, 0..nodes);
    let inner = part(random, outer.clone());
    [outer, inner].into_iter().take(random.below(3)).collect()
}

/// Draws sources without an end that send over edges which drop messages, to consumers that end in each way.
fn end_consumers(random: &mut Random, plan: &mut Plan) {
    for index in 0..plan.edges.len() {
        let EdgePlan { from, to, port, .. } = plan.edges[index];
        let is_endless = plan.nodes[from].kind == Kind::Source && plan.nodes[from].count.is_none();
        if is_endless && one_in(random, 2) {
            plan.edges[index].policy = of(random, &[QueuePolicy::Pop, QueuePolicy::Reject]);
        }
        if !plan.edges[index].is_lossy() || port != Port::A {
            continue;
        }
        let (ticks, consumer) = (1 + random.below(6) as u64, &mut plan.nodes[to]);
        match random.below(4) {
            0 => consumer.count = Some(ticks),
            1 => consumer.finish = Some(ticks),
            2 => consumer.when = Some(When::Credits(ticks)),
            _ => {}
        }
    }
    let attends = plan.up_to_timing().attends;
    if !attends.contains(&true) {
        return;
    }
    // An attendant may do hundreds of ticks before the run finds out that no node needs its messages, so its ticks
    // must be fast.
    for (node, _) in plan.nodes.iter_mut().zip(attends).filter(|(_, attends)| *attends) {
        node.slow = node.slow.min(1);
    }
    // A source that never waits lets no simulated time pass. It would send too many messages while a periodic node
    // waits, so no node is periodic.
    let is_periodic = |node: &&mut NodePlan| node.when == Some(When::Periodic);
    plan.nodes.iter_mut().filter(is_periodic).for_each(|node| node.when = None);
    let faults = plan.edges.iter_mut().filter(|edge| edge.policy == QueuePolicy::Fault);
    faults.for_each(|edge| edge.policy = QueuePolicy::BackPressure);
}

fn draw_node(random: &mut Random, kind: Kind) -> NodePlan {
    let count = 1 + random.below(10) as u64;
    NodePlan {
        kind,
        count: match kind {
            Kind::Source => (!one_in(random, 6)).then_some(count),
            Kind::One | Kind::Hold | Kind::Two => one_in(random, 8).then_some(count),
            Kind::Merge => None,
        },
        every: [of(random, &[1, 1, 1, 1, 2, 3]), of(random, &[1, 1, 1, 1, 2, 3])],
        takes: of(random, &[1, 1, 1, 1, 2]),
        finish: (kind.has_outputs() && one_in(random, 8)).then(|| 1 + random.below(6) as u64),
        holds: of(random, &[0, 1, 2, 3, LARGE]),
        slow: of(random, &[0, 0, 0, 1, 3, 10]),
        when: None,
        stops: (kind.has_outputs() && one_in(random, 40)).then(|| 1 + random.below(8) as u64),
        fails: one_in(random, 8).then(|| {
            let how = of(random, &[Fails::Early, Fails::Between, Fails::Late]);
            (1 + random.below(6) as u64, how)
        }),
        // This policy is drawn rarely, since a run that ends at once says less about the other nodes.
        on_failure: of(
            random,
            &[Policies::Stop, Policies::Skip, Policies::Restart, Policies::Restart],
        ),
    }
}

/// Draws an edge from an earlier node, or sometimes a feedback edge to `b`.
fn draw_edge(random: &mut Random, plan: &mut Plan, to: usize, port: Port) {
    let is_feedback = port == Port::B && one_in(random, 6);
    let from = if is_feedback {
        to
    } else {
        let earlier: Vec<_> = (0..to).filter(|node| plan.nodes[*node].kind.has_outputs()).collect();
        let any = of(random, &earlier);
        let a = plan.inputs(to).find(|edge| edge.port == Port::A).map(|edge| edge.from);
        let origin = a.filter(|_| port == Port::B).and_then(|from| plan.origin(from));
        let partners: Vec<_> =
            earlier.into_iter().filter(|node| plan.origin(*node) == origin).collect();
        if origin.is_some() && one_in(random, 2) { of(random, &partners) } else { any }
    };
    let policies = [QueuePolicy::BackPressure; 8].into_iter();
    let policies: Vec<_> =
        policies.chain([QueuePolicy::Pop, QueuePolicy::Reject, QueuePolicy::Fault]).collect();
    let policy = if is_feedback { QueuePolicy::BackPressure } else { of(random, &policies) };
    let capacity = match policy {
        QueuePolicy::Fault => LARGE,
        _ => of(random, &[1, 1, 1, 2, 3, 100]),
    };
    plan.edges.push(EdgePlan { from, out: random.below(2), to, port, capacity, policy });
}

/// Gives a node a condition that its edges permit.
fn limit(random: &mut Random, plan: &mut Plan, node: usize) {
    if plan.joins(node) && one_in(random, 2) && !plan.loses_partners(node) {
        plan.nodes[node].when = Some(When::SameSequence);
        return;
    }
    if !one_in(random, 5) {
        return;
    }
    let at_a = plan.inputs(node).find(|edge| edge.port == Port::A).map(|edge| edge.capacity);
    let has_x = plan.outputs(node).any(|edge| edge.out == 0);
    plan.nodes[node].when = match (plan.nodes[node].kind, at_a) {
        (Kind::Merge, _) => Some(When::Periodic),
        (_, Some(capacity)) if one_in(random, 2) => {
            Some(When::Available(1 + random.below(capacity.min(3))))
        }
        _ => has_x.then_some(When::Room),
    };
}
