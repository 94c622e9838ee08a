//! Draws random graphs: their nodes, and the edges between the nodes.

use streamflow_tests::random::Random;

use super::draw::{Behaviour, Draw};
use super::plan::{EdgePlan, Flow, FullPolicy, Kind, On, Port, Shape};

/// Draws a graph of a few nodes. In one case out of five it is a graph of graphs and of arrays.
pub(crate) fn flow(random: &mut Random) -> Flow {
    let shape = (random.below(5) == 0).then(|| Shape::EACH[random.below(Shape::EACH.len())]);
    of_shape(shape, random)
}

/// Draws a graph of graphs and of arrays.
pub(crate) fn nested(random: &mut Random) -> Flow {
    let shape = Shape::EACH[random.below(Shape::EACH.len())];
    of_shape(Some(shape), random)
}

fn of_shape(shape: Option<Shape>, random: &mut Random) -> Flow {
    let ticks =
        if random.below(4) == 0 { 6 + random.below(12) } else { 30 + random.below(31) } as u64;
    let quiet = if random.below(6) == 0 { u64::MAX } else { 1 + random.below(8) as u64 };
    const STREAMS: [&[On]; 4] = [
        &[On::Internal],
        &[On::Internal, On::First],
        &[On::Internal, On::First, On::Second],
        &[On::Internal, On::First, On::Second, On::Default],
    ];
    let streams = STREAMS[random.below(4)];
    let others = [0, 1, 4][random.below(3)];
    let (kinds, behaviours, edges) = match shape {
        Some(shape) => {
            let kinds = shape.nodes().into_iter().map(|(_, kind, ..)| kind).collect();
            (kinds, shape.behaviours(), shape.edges(random))
        }
        None if random.below(2) == 0 => two_ways(random),
        None => any(random),
    };
    let mut draw = Draw { random, tag: 100, quiet, streams, others, sends: [false; 2] };
    let mut nodes: Vec<_> = kinds
        .iter()
        .enumerate()
        .map(|(node, kind)| {
            let mut ports: Vec<_> =
                edges.iter().filter(|edge| edge.to == node).map(|edge| edge.port).collect();
            ports.dedup();
            let sends =
                |shared| edges.iter().any(|edge| edge.from == node && edge.shared == shared);
            draw.sends = [sends(false), sends(true)];
            let mut drawn = draw.node(*kind, &ports, ticks, behaviours[node]);
            let narrow = edges.iter().filter(|edge| {
                edge.to == node && edge.full == FullPolicy::BackPressure && edge.capacity < 32
            });
            draw.drain(&mut drawn, &narrow.map(|edge| edge.port).collect::<Vec<_>>());
            drawn
        })
        .collect();
    let Some(shape) = shape else { return Flow { ticks, nodes, edges, ..Flow::default() } };
    for (node, (.., adopts, awaits)) in nodes.iter_mut().zip(shape.nodes()) {
        (node.adopts, node.awaits) = (adopts, awaits);
    }
    let (workers, depth) = ([0, 0, 1, 2, 4][random.below(5)], [0, 0, 1, 2][random.below(4)]);
    Flow { ticks, nodes, edges, shape: Some(shape), workers, depth }
}

type Parts = (Vec<Kind>, Vec<Option<Behaviour>>, Vec<EdgePlan>);

/// Draws random nodes with random edges.
fn any(random: &mut Random) -> Parts {
    let count = [3, 3, 4, 4, 5, 6, 7][random.below(7)];
    let kind = |node| match random.below(10) {
        _ if node == 0 => Kind::Work,
        0 | 1 => Kind::Unary,
        2 => Kind::Forward,
        3 => Kind::Merge,
        _ => Kind::Work,
    };
    let kinds: Vec<_> = (0..count).map(kind).collect();
    let edges = edges(random, &kinds);
    (kinds, vec![None; count], edges)
}

/// Draws a graph in which messages of one node reach another by two paths, one of them with a deep queue, while a
/// third node reads the first messages on the host.
fn two_ways(random: &mut Random) -> Parts {
    let behaviours = [
        Behaviour::Steady,
        [Behaviour::Rare, Behaviour::Steady][random.below(2)],
        Behaviour::Steady,
    ];
    let behaviours = [&behaviours[..], &[Behaviour::Observer, Behaviour::Delayed]].concat();
    let mut last = 0;
    let mut edge = |from: usize, to: usize, deep: bool| {
        // A node other than the last one.
        last = (last + 1 + random.below(4)) % 5;
        let port = Port::EACH[last];
        let capacity = if deep { 64 } else { 1 + random.below(8) };
        let full =
            if deep || random.below(2) == 0 { FullPolicy::BackPressure } else { FullPolicy::Pop };
        EdgePlan { from, shared: random.below(4) == 0, to, port, capacity, full }
    };
    let edges = vec![
        edge(0, 2, false),
        edge(1, 2, false),
        edge(2, 3, false),
        edge(2, 4, true),
        edge(1, 4, false),
    ];
    (vec![Kind::Work; behaviours.len()], behaviours.into_iter().map(Some).collect(), edges)
}

fn edges(random: &mut Random, kinds: &[Kind]) -> Vec<EdgePlan> {
    let mut edges = Vec::new();
    for (to, kind) in kinds.iter().enumerate().skip(1) {
        let alone = *kind == Kind::Work && random.below(5) == 0;
        for _ in 0..if alone { 0 } else { [1, 2, 2, 3][random.below(4)] } {
            let back = *kind == Kind::Work && random.below(12) == 0;
            let mut from = if back { random.below(kinds.len()) } else { random.below(to) };
            // Often the edge begins at the producer of another producer of the same node. The same work then arrives by two
            // paths, possibly of different lengths.
            let near: Vec<_> = edges.iter().filter(|edge: &&EdgePlan| edge.to == to).collect();
            if !near.is_empty() && random.below(4) > 0 {
                let through = near[random.below(near.len())].from;
                let before: Vec<_> = edges.iter().filter(|edge| edge.to == through).collect();
                if !before.is_empty() {
                    from = before[random.below(before.len())].from;
                }
            }
            let port = match kind {
                Kind::Work => Port::EACH[random.below(5)],
                other => other.port(),
            };
            let shared = kinds[from] == Kind::Forward || random.below(4) == 0;
            // A deep queue holds old messages. A queue that drops its oldest message holds new ones.
            let deep = random.below(2) == 0;
            let capacity = if deep { 64 } else { [1, 1, 2, 4, 8, 16][random.below(6)] };
            let full = match random.below(8) {
                0 => FullPolicy::Reject,
                1 => FullPolicy::Pop,
                2 | 3 if !deep => FullPolicy::Pop,
                _ => FullPolicy::BackPressure,
            };
            edges.push(EdgePlan { from, shared, to, port, capacity, full });
        }
    }
    // The first node may also receive messages of later nodes.
    if random.below(4) == 0 && kinds.len() > 1 {
        let from = 1 + random.below(kinds.len() - 1);
        let shared = kinds[from] == Kind::Forward;
        let port = Port::EACH[random.below(5)];
        edges.push(EdgePlan { from, shared, to: 0, port, capacity: 2, full: FullPolicy::Pop });
    }
    edges
}
