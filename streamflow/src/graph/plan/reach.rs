//! `Reach`: which nodes follow a node, over any number of edges.

/// For each node, a set of the nodes to which edges lead from it, directly or through other nodes. The sets are rows of bits.
pub(super) struct Reach {
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Computes the sets. Each of the `edges` must lead from a node to a node with a greater number.
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let words = nodes.div_ceil(64);
        let mut reach = Self { words, bits: vec![0; nodes * words] };
        let mut edges: Vec<(usize, usize)> = edges.collect();
        // Edges from later nodes come first, so that the set of a node is complete before it is added to the sets of its
        // producers.
        edges.sort_unstable_by(|a, b| b.cmp(a));
        for (from, to) in edges {
            debug_assert!(from < to, "an edge leads to a later node");
            let (before, after) = reach.bits.split_at_mut(to * words);
            let row = &mut before[from * words..][..words];
            row.iter_mut().zip(&after[..words]).for_each(|(row, word)| *row |= word);
            row[to / 64] |= 1 << (to % 64);
        }
        reach
    }

    /// Returns the set of nodes that follow `from`, as the bits of a slice of words.
    pub(super) fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.words..][..self.words]
    }

    /// Returns whether edges lead from `from` to `to`, directly or through other nodes.
    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / 64] & 1 << (to % 64) != 0
    }
}
