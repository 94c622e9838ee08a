//! The nodes that follow a node, over any number of edges.

/// For each node, the nodes that edges lead to from it, directly or through others, as bits.
pub(super) struct Reach {
    words: usize,
    bits: Vec<u64>,
}

impl Reach {
    /// Creates the reach of nodes in an order with producers before consumers. Each of the `edges` leads from a node to
    /// a later one.
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let words = nodes.div_ceil(64);
        let mut reach = Self { words, bits: vec![0; nodes * words] };
        let mut edges: Vec<(usize, usize)> = edges.collect();
        // Sorted, so that the reach of a node is complete before it is added to the nodes before it.
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

    /// The nodes that this node reaches, as bits in words.
    pub(super) fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.words..][..self.words]
    }

    /// Whether edges lead from one node to the other.
    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / 64] & 1 << (to % 64) != 0
    }
}
