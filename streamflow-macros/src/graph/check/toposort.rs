//! Finds a topological order of a graph, and its cycles.

use std::collections::VecDeque;

/// A cycle of edges.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    /// The index of the edge that closes the cycle: the one that the user wrote last.
    pub(super) edge: usize,
    /// The nodes of the cycle in the order of its edges. The first node is repeated at the end.
    pub(super) path: Vec<usize>,
}

/// Orders the nodes so that each node comes after its producers. Nodes that no edge orders keep the order of their declarations.
///
/// Edges are added one by one, in the order in which they are written. An edge that would close a cycle is reported and not
/// added. So an order always exists, and each cycle is reported at that of its edges which the user wrote last.
pub(super) fn order(nodes: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<Cycle>) {
    let mut consumers: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut cycles = Vec::new();
    for (edge, &(from, to)) in edges.iter().enumerate() {
        match path(&consumers, to, from) {
            Some(mut path) => {
                path.push(to);
                cycles.push(Cycle { edge, path });
            }
            None => consumers[from].push(to),
        }
    }
    (sort(&consumers), cycles)
}

/// Returns the nodes whose messages can return to them along the edges. Each such way has one of the edges in `back`.
pub(super) fn in_cycles(
    nodes: usize,
    edges: &[(usize, usize)],
    back: &[(usize, usize)],
) -> Vec<usize> {
    let (mut consumers, mut producers) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for &(from, to) in edges {
        consumers[from].push(to);
        producers[to].push(from);
    }
    let mut found = vec![false; nodes];
    for &(from, to) in back {
        let (after, before) = (reached(&consumers, to), reached(&producers, from));
        for node in 0..nodes {
            found[node] |= after[node] && before[node];
        }
    }
    (0..nodes).filter(|&node| found[node]).collect()
}

/// Returns for each node whether it can be reached from `start`.
fn reached(next: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(&next[node]);
        }
    }
    reached
}

/// Returns the nodes of the shortest path from `from` to `to`, with these two. Returns `None` if there is no path.
fn path(consumers: &[Vec<usize>], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut came_from: Vec<Option<usize>> = vec![None; consumers.len()];
    let mut queue = VecDeque::from([from]);
    came_from[from] = Some(from);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = vec![to];
            let mut at = to;
            while at != from {
                at = came_from[at]?;
                path.push(at);
            }
            path.reverse();
            return Some(path);
        }
        for &next in &consumers[node] {
            if came_from[next].is_none() {
                came_from[next] = Some(node);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Sorts by Kahn's algorithm. If several nodes may come next, the node that was declared first does.
fn sort(consumers: &[Vec<usize>]) -> Vec<usize> {
    let mut missing = vec![0_usize; consumers.len()];
    for &consumer in consumers.iter().flatten() {
        missing[consumer] += 1;
    }
    let mut done = vec![false; consumers.len()];
    let mut order = Vec::with_capacity(consumers.len());
    while let Some(next) = (0..consumers.len()).find(|&node| !done[node] && missing[node] == 0) {
        done[next] = true;
        order.push(next);
        for &consumer in &consumers[next] {
            missing[consumer] -= 1;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splitmix::SplitMix;

    fn shuffle<T>(random: &mut SplitMix, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, random.below(last + 1));
        }
    }

    /// Returns random edges of a graph without cycles.
    fn acyclic(random: &mut SplitMix, nodes: usize, edges: usize) -> Vec<(usize, usize)> {
        let mut hidden: Vec<usize> = (0..nodes).collect();
        shuffle(random, &mut hidden);
        (0..edges)
            .map(|_| {
                let to = 1 + random.below(nodes - 1);
                (hidden[random.below(to)], hidden[to])
            })
            .collect()
    }

    fn assert_ordered(nodes: usize, order: &[usize], edges: &[(usize, usize)]) {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..nodes).collect::<Vec<_>>(), "each node once");
        let place = |node: usize| order.iter().position(|&other| other == node);
        for &(from, to) in edges {
            assert!(place(from) < place(to), "{from} feeds {to}, but the order is {order:?}");
        }
    }

    #[test]
    fn every_node_comes_after_its_producers_in_any_order_of_the_edges() {
        for seed in 0..500 {
            let random = &mut SplitMix::new(seed);
            let nodes = 2 + random.below(30);
            let count = random.below(60);
            let mut edges = acyclic(random, nodes, count);
            let (first, cycles) = order(nodes, &edges);
            assert_eq!(cycles, [], "seed {seed}");
            assert_ordered(nodes, &first, &edges);
            shuffle(random, &mut edges);
            let (second, _) = order(nodes, &edges);
            assert_eq!(first, second, "seed {seed}: the order of the edges decides nothing");
        }
    }

    #[test]
    fn every_cycle_is_found_and_each_path_is_a_cycle() {
        let mut found = 0;
        for seed in 0..500 {
            let random = &mut SplitMix::new(seed);
            let nodes = 1 + random.below(12);
            let edges: Vec<_> =
                (0..random.below(25)).map(|_| (random.below(nodes), random.below(nodes))).collect();
            let (order, cycles) = order(nodes, &edges);
            let refused: Vec<usize> = cycles.iter().map(|cycle| cycle.edge).collect();
            let kept: Vec<_> = (0..edges.len())
                .filter(|edge| !refused.contains(edge))
                .map(|edge| edges[edge])
                .collect();
            // The edges that are not reported have an order, so at least one edge of every cycle is reported.
            assert_ordered(nodes, &order, &kept);
            for Cycle { edge, path } in &cycles {
                found += 1;
                assert_eq!(path.first(), path.last(), "seed {seed}");
                assert_eq!(edges[*edge], (path[path.len() - 2], path[0]), "seed {seed}");
                for step in path.windows(2) {
                    let step = (step[0], step[1]);
                    assert!(edges[..=*edge].contains(&step), "seed {seed}: no edge {step:?}");
                }
            }
        }
        assert!(found > 100, "{found} cycles are too few to test anything");
    }

    /// Compares the results with those of petgraph, which has its own algorithms for orders and cycles.
    #[test]
    fn orders_and_cycles_agree_with_petgraph() {
        use petgraph::algo::{is_cyclic_directed, kosaraju_scc, toposort};
        use petgraph::graph::{DiGraph, NodeIndex};

        let graph_of = |nodes: usize, edges: &[(usize, usize)]| {
            let mut graph = DiGraph::<(), ()>::new();
            for _ in 0..nodes {
                graph.add_node(());
            }
            for &(from, to) in edges {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
            graph
        };
        let (mut cyclic, mut acyclic) = (0, 0);
        for seed in 0..2000 {
            let random = &mut SplitMix::new(seed);
            let nodes = 1 + random.below(20);
            let mut edges: Vec<_> =
                (0..random.below(30)).map(|_| (random.below(nodes), random.below(nodes))).collect();
            shuffle(random, &mut edges);
            let whole = graph_of(nodes, &edges);
            let (order, cycles) = order(nodes, &edges);
            assert_eq!(!cycles.is_empty(), is_cyclic_directed(&whole), "seed {seed}");
            // Each reported path is within a cycle: all its nodes reach each other.
            let components = kosaraju_scc(&whole);
            for Cycle { path, .. } in &cycles {
                let component =
                    components.iter().find(|nodes| nodes.contains(&NodeIndex::new(path[0])));
                let together = |node: &usize| {
                    component.is_some_and(|nodes| nodes.contains(&NodeIndex::new(*node)))
                };
                assert!(path.iter().all(together), "seed {seed}: {path:?} is no cycle");
            }
            // The graph without the reported edges has an order, and `order` is a valid one.
            let refused: Vec<usize> = cycles.iter().map(|cycle| cycle.edge).collect();
            let kept: Vec<_> = (0..edges.len())
                .filter(|edge| !refused.contains(edge))
                .map(|edge| edges[edge])
                .collect();
            assert!(toposort(&graph_of(nodes, &kept), None).is_ok(), "seed {seed}");
            assert_ordered(nodes, &order, &kept);
            if cycles.is_empty() { acyclic += 1 } else { cyclic += 1 }
        }
        assert!(cyclic > 200 && acyclic > 200, "{cyclic} and {acyclic}");
    }

    #[test]
    fn without_edges_nodes_run_in_the_order_of_their_declarations() {
        assert_eq!(order(4, &[]).0, [0, 1, 2, 3]);
    }

    #[test]
    fn nodes_that_edges_do_not_order_run_in_the_order_of_their_declarations() {
        // Node 3 feeds node 0; nodes 1 and 2 have no edges.
        assert_eq!(order(4, &[(3, 0)]).0, [1, 2, 3, 0]);
    }

    #[test]
    fn the_shortest_path_of_a_cycle_is_reported() {
        let (_, cycles) = order(4, &[(0, 1), (1, 2), (0, 2), (2, 0)]);
        assert_eq!(cycles, [Cycle { edge: 3, path: vec![0, 2, 0] }]);
        let (order, cycles) = order(1, &[(0, 0)]);
        assert_eq!(cycles, [Cycle { edge: 0, path: vec![0, 0] }]);
        assert_eq!(order, [0]);
    }
}
