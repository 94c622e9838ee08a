//! Finds the fewest chains that cover all nodes. Each chain is a stream of a plan, and each node of a chain follows the node
//! before it in the graph.
//!
//! If neither of two nodes follows the other in the graph, they are in different chains, so they may run at the same time (Kwon
//! et al., Nimble, NeurIPS 2020). By Dilworth's theorem the number of chains is the size of the largest set of nodes of which
//! none follows another. The chains are a largest matching between nodes and their successors, which augmenting paths find.

use super::reach::Reach;

/// A matching between nodes and their successors: `after` and `before` have the neighbours of each node in its chain.
struct Matching<'a> {
    reach: &'a Reach,
    /// For each node, the members of its group as bits; its chain has only nodes of this group. `None` for a node that gets no
    /// chain.
    groups: Vec<Option<&'a [u64]>>,
    after: Vec<Option<usize>>,
    before: Vec<Option<usize>>,
}

/// Covers the nodes that have a group by the fewest chains, each within one group. `edges` are matched first, so that chains
/// follow edges where they can. Each chain has its nodes in ascending order, and the chains are in the order of their first
/// nodes.
pub(super) fn cover(
    groups: &[Option<usize>],
    reach: &Reach,
    edges: impl Iterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let nodes = groups.len();
    let count = groups.iter().flatten().max().map_or(0, |most| most + 1);
    let mut members = vec![vec![0; nodes.div_ceil(64)]; count];
    for (node, group) in groups.iter().enumerate() {
        if let Some(group) = group {
            members[*group][node / 64] |= 1 << (node % 64);
        }
    }
    let groups = groups.iter().map(|group| group.map(|group| &*members[group])).collect();
    let mut matching =
        Matching { reach, groups, after: vec![None; nodes], before: vec![None; nodes] };
    for (from, to) in edges {
        let is_free = matching.after[from].is_none() && matching.before[to].is_none();
        if is_free && matching.may_follow(from, to / 64) & 1 << (to % 64) != 0 {
            matching.put(from, to);
        }
    }
    (0..nodes).for_each(|node| matching.augment(node));
    matching.chains()
}

impl Matching<'_> {
    /// Returns, as the bits of the word with the number `word`, the nodes that may come after `node` in its chain.
    fn may_follow(&self, node: usize, word: usize) -> u64 {
        self.groups[node].map_or(0, |group| group[word] & self.reach.row(node)[word])
    }

    fn put(&mut self, from: usize, to: usize) {
        self.after[from] = Some(to);
        self.before[to] = Some(from);
    }

    /// Finds a successor for the node `start`, if necessary by changing the successors of other nodes. The search is
    /// breadth-first and visits each node once.
    fn augment(&mut self, start: usize) {
        if self.after[start].is_some() || self.groups[start].is_none() {
            return;
        }
        let nodes = self.after.len();
        let mut seen = vec![0_u64; nodes.div_ceil(64)];
        let (mut came_from, mut queue) = (vec![start; nodes], vec![start]);
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            for (word, seen) in seen.iter_mut().enumerate() {
                let mut fresh = self.may_follow(from, word) & !*seen;
                *seen |= fresh;
                while fresh != 0 {
                    let to = word * 64 + fresh.trailing_zeros() as usize;
                    fresh &= fresh - 1;
                    came_from[to] = from;
                    match self.before[to] {
                        Some(other) => queue.push(other),
                        None => return self.turn_around(start, to, &came_from),
                    }
                }
            }
        }
    }

    /// Makes `end` the successor of the node `came_from[end]`. The earlier successor of that node becomes the successor of its
    /// own `came_from`, and so on, back to `start`.
    fn turn_around(&mut self, start: usize, end: usize, came_from: &[usize]) {
        let mut to = end;
        loop {
            let from = came_from[to];
            let given_up = self.after[from];
            self.put(from, to);
            match given_up {
                Some(other) if from != start => to = other,
                _ => return,
            }
        }
    }

    fn chains(&self) -> Vec<Vec<usize>> {
        let first = |node: &usize| self.groups[*node].is_some() && self.before[*node].is_none();
        let follow = |node: usize| std::iter::successors(Some(node), |node| self.after[*node]);
        (0..self.after.len()).filter(first).map(|node| follow(node).collect()).collect()
    }
}
