//! The list of a port's edges.
//!
//! A single edge is stored in the list itself and not on the heap, and is found by comparing a tag and no length. A ring stores
//! its first slot in itself, too. With the copy of metadata in `port::output` that saves 136 of 768 instructions for a task
//! of a chain, counted by callgrind on `floor`.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// The edges of a port, in the order in which they were connected. Most ports have a single edge, which is stored in this
/// value itself. A tick uses that edge about six times, and each time compares only the enum's tag and no length.
pub(crate) enum Edges<E> {
    One([E; 1]),
    /// Any other number of edges.
    Several(Vec<E>),
}

impl<E> Edges<E> {
    /// Creates a list without edges.
    pub(crate) fn new() -> Self {
        Self::Several(Vec::new())
    }

    /// Adds an edge.
    pub(crate) fn push(&mut self, edge: E) {
        let mut edges = match std::mem::replace(self, Self::new()) {
            Self::Several(edges) if edges.is_empty() => return *self = Self::One([edge]),
            Self::Several(edges) => edges,
            Self::One([first]) => vec![first],
        };
        edges.push(edge);
        *self = Self::Several(edges);
    }

    /// Removes the edges for which `holds` returns `false`. If a single edge is left, it is stored as `One` again.
    pub(crate) fn retain(&mut self, holds: impl FnMut(&E) -> bool) {
        let Self::Several(edges) = self else { return };
        edges.retain(holds);
        if edges.len() == 1
            && let Some(edge) = edges.pop()
        {
            *self = Self::One([edge]);
        }
    }
}

impl<E> Deref for Edges<E> {
    type Target = [E];

    #[inline(always)]
    fn deref(&self) -> &[E] {
        match self {
            Self::One(edge) => edge,
            Self::Several(edges) => edges,
        }
    }
}

impl<E> DerefMut for Edges<E> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [E] {
        match self {
            Self::One(edge) => edge,
            Self::Several(edges) => edges,
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for Edges<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_stay_in_their_order_in_place_and_in_a_list() {
        let mut edges = Edges::new();
        assert!(edges.is_empty());
        for number in 0..4 {
            edges.push(number);
            let expected: Vec<_> = (0..=number).collect();
            assert_eq!(*edges, *expected);
            assert_eq!(matches!(edges, Edges::One(_)), number == 0);
        }
        edges[3] = 7;
        assert_eq!(format!("{edges:?}"), "[0, 1, 2, 7]");
        edges.retain(|number| *number != 1);
        assert!(matches!(&edges, Edges::Several(left) if *left == [0, 2, 7]));
        edges.retain(|number| *number == 2);
        assert!(matches!(edges, Edges::One([2])));
    }
}
