//! Tests of the parts of a plan that are pure functions: reach and chains of small random graphs are compared with the results of
//! trying all possibilities.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::chains::cover;
use super::reach::Reach;
use crate::splitmix::SplitMix;

/// Returns the number of nodes and the edges of a random graph of up to 12 nodes.
fn draw(random: &mut SplitMix) -> (usize, Vec<(usize, usize)>) {
    let nodes = 1 + random.below(12);
    let chance = 1 + random.below(9);
    let pairs = (0..nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
    let edges = pairs.filter(|_| random.below(10) < chance).collect();
    (nodes, edges)
}

/// Returns whether a path leads from one node to another, by trying all paths.
fn has_path(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
    edges.iter().any(|&(a, b)| a == from && (b == to || has_path(edges, b, to)))
}

#[test]
fn a_node_reaches_what_paths_lead_to() {
    let mut random = SplitMix::new(1);
    for _ in 0..100 {
        let (nodes, edges) = draw(&mut random);
        let reach = Reach::new(nodes, edges.iter().copied());
        for (from, to) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
            assert_eq!(
                reach.reaches(from, to),
                has_path(&edges, from, to),
                "{edges:?} {from} {to}"
            );
        }
    }
}

/// Returns the size of the largest set of nodes of a group of which none follows another. By Dilworth's theorem, this is the
/// least number of chains.
fn width(members: &[usize], reach: &Reach) -> usize {
    let is_free = |set: u32| {
        let chosen: Vec<usize> =
            (0..members.len()).filter(|bit| set & 1 << bit != 0).map(|bit| members[bit]).collect();
        let mut pairs = chosen.iter().flat_map(|&a| chosen.iter().map(move |&b| (a, b)));
        !pairs.any(|(a, b)| reach.reaches(a, b))
    };
    let sets = (0..1_u32 << members.len()).filter(|set| is_free(*set));
    sets.map(|set| set.count_ones() as usize).max().unwrap()
}

#[test]
fn the_chains_are_the_fewest_in_each_group() {
    let mut random = SplitMix::new(7);
    for round in 0..300 {
        let (nodes, edges) = draw(&mut random);
        let reach = Reach::new(nodes, edges.iter().copied());
        // Every fifth node gets no chain, and the other nodes are in two groups.
        let groups: Vec<_> = (0..nodes)
            .map(|node| match (node * 7 + round) % 5 {
                0 => None,
                1 | 2 => Some(0),
                _ => Some(1),
            })
            .collect();
        let chains = cover(&groups, &reach, edges.iter().copied());
        let mut covered: Vec<usize> = chains.iter().flatten().copied().collect();
        covered.sort_unstable();
        let expected: Vec<usize> = (0..nodes).filter(|&node| groups[node].is_some()).collect();
        assert_eq!(covered, expected, "each node is in one chain");
        for chain in &chains {
            assert!(
                chain.windows(2).all(|pair| reach.reaches(pair[0], pair[1])),
                "{edges:?} {chain:?}"
            );
            assert!(chain.iter().all(|&node| groups[node] == groups[chain[0]]), "{chain:?}");
        }
        for group in 0..2 {
            let members: Vec<usize> =
                (0..nodes).filter(|&node| groups[node] == Some(group)).collect();
            let found = chains.iter().filter(|chain| groups[chain[0]] == Some(group)).count();
            assert_eq!(found, width(&members, &reach), "{edges:?} {groups:?}");
        }
    }
}

#[test]
fn a_long_chain_and_a_wide_fan_take_little_time() {
    let nodes = 4000;
    let chain: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    let reach = Reach::new(nodes, chain.iter().copied());
    let chains = cover(&vec![Some(0); nodes], &reach, chain.into_iter());
    assert_eq!(chains.len(), 1);
    let fan: Vec<_> = (1..nodes).map(|node| (0, node)).collect();
    let reach = Reach::new(nodes, fan.iter().copied());
    assert_eq!(cover(&vec![Some(0); nodes], &reach, fan.into_iter()).len(), nodes - 1);
}
