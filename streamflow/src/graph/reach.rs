//! The ports that the edges of a statement reach, as the checks of [`arrays`](super::arrays) count them: in a loop, another port in each
//! turn.

/// A port at an end of an edge: the index of its node, and its own index in an array of ports. A single node and a single port have the
/// index 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) node: i128,
    pub(super) element: i128,
}

impl Place {
    const fn is(self, other: Self) -> bool {
        self.node == other.node && self.element == other.element
    }
}

/// The ports at one end of the edges of a statement.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The index of the node in the first turn of the loop, and whether it grows with each turn.
    pub node: (i128, bool),
    /// The index of the port, as that of the node. `None` if the port is written without an index.
    pub element: Option<(i128, bool)>,
    /// The number of turns; 1 for a statement that is in no loop.
    pub turns: usize,
}

const fn grown((first, grows): (i128, bool), turn: i128) -> i128 {
    if grows { first + turn } else { first }
}

impl Reach {
    const fn element(&self) -> (i128, bool) {
        match self.element {
            Some(element) => element,
            None => (0, false),
        }
    }

    /// Returns the port in a turn of the loop.
    pub(super) const fn at(&self, turn: usize) -> Place {
        let turn = turn as i128;
        Place { node: grown(self.node, turn), element: grown(self.element(), turn) }
    }

    /// Whether both have an index of the port, or none.
    pub(super) const fn is_like(&self, other: &Self) -> bool {
        self.element.is_some() == other.element.is_some()
    }

    /// Whether each turn reaches another port.
    const fn grows(&self) -> bool {
        self.node.1 || self.element().1
    }

    /// Returns the turn that would reach this port, if each turn reaches another one.
    const fn turn(&self, place: Place) -> i128 {
        match self.node {
            (first, true) => place.node - first,
            (_, false) => place.element - self.element().0,
        }
    }

    const fn has_turn(&self, turn: i128) -> bool {
        0 <= turn && turn < self.turns as i128
    }

    /// Returns the number of edges at a port.
    pub(super) const fn edges(&self, place: Place) -> usize {
        if !self.grows() {
            return if self.at(0).is(place) { self.turns } else { 0 };
        }
        let turn = self.turn(place);
        (self.has_turn(turn) && self.at(turn as usize).is(place)) as usize
    }

    /// Whether the ports are those of nodes that are there, `nodes` of them, and elements that are there, `elements` of them.
    pub(super) const fn is_within(&self, nodes: usize, elements: usize) -> bool {
        let (Some((first, last)), (start, grows)) = (self.nodes(), self.element()) else {
            return true;
        };
        let end = if grows { start + self.turns as i128 - 1 } else { start };
        0 <= first && last < nodes as i128 && 0 <= start && end < elements as i128
    }

    /// Returns the first and the last node.
    const fn nodes(&self) -> Option<(i128, i128)> {
        match self.turns {
            0 => None,
            turns => Some((self.node.0, grown(self.node, turns as i128 - 1))),
        }
    }

    /// Returns the first and the last element at a node.
    const fn elements(&self, node: i128) -> Option<(i128, i128)> {
        let (first, grows) = self.element();
        match self.node {
            (start, true) => {
                let turn = node - start;
                let at = if grows { first + turn } else { first };
                if self.has_turn(turn) { Some((at, at)) } else { None }
            }
            (at, false) if at == node && self.turns > 0 => {
                Some((first, if grows { first + self.turns as i128 - 1 } else { first }))
            }
            (_, false) => None,
        }
    }
}

/// Returns the number of edges at a port.
pub(super) const fn edges_at(reached: &[Reach], place: Place) -> usize {
    let (mut i, mut edges) = (0, 0);
    while i < reached.len() {
        edges += reached[i].edges(place);
        i += 1;
    }
    edges
}

/// Whether an edge is at one of the elements of a node.
pub(super) const fn has_edges(reached: &[Reach], node: i128) -> bool {
    let mut i = 0;
    while i < reached.len() {
        if reached[i].elements(node).is_some() {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns the first index after `from` where these indices begin or have ended, or `next` if that is earlier.
const fn change(range: Option<(i128, i128)>, from: i128, next: i128) -> i128 {
    match range {
        Some((first, _)) if first > from && first < next => first,
        Some((first, last)) if first <= from && last >= from && last + 1 < next => last + 1,
        _ => next,
    }
}

/// Returns the first node after the node `from` whose elements may have other numbers of edges.
pub(super) const fn next_node(reached: &[Reach], from: i128) -> i128 {
    let (mut i, mut next) = (0, i128::MAX);
    while i < reached.len() {
        let reach = &reached[i];
        next = change(reach.nodes(), from, next);
        // Each of these nodes has its edge at another element.
        if reach.node.1 && reach.element().1 && reach.elements(from).is_some() {
            next = from + 1;
        }
        i += 1;
    }
    next
}

/// Returns the first element of a node after the element `from` that may have another number of edges.
pub(super) const fn next_element(reached: &[Reach], node: i128, from: i128) -> i128 {
    let (mut i, mut next) = (0, i128::MAX);
    while i < reached.len() {
        next = change(reached[i].elements(node), from, next);
        i += 1;
    }
    next
}

/// Whether the statements are single edges, one to each port in the order of the ports. This is known by one look at each statement,
/// where the steps from change to change take one for each statement and port.
pub(super) const fn is_each_in_order(reached: &[Reach], nodes: usize, elements: usize) -> bool {
    if reached.len() != nodes * elements {
        return false;
    }
    let mut i = 0;
    while i < reached.len() {
        let place = Place { node: (i / elements) as i128, element: (i % elements) as i128 };
        if reached[i].turns != 1 || !reached[i].at(0).is(place) {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns the first port of one statement that another one reaches, too.
pub(super) const fn first_common(this: &Reach, before: &Reach) -> Option<Place> {
    let mut turn = 0;
    while turn < this.turns {
        let place = this.at(turn);
        if before.edges(place) > 0 {
            return Some(place);
        }
        turn += 1;
    }
    None
}

/// The two ends of the edges of one statement.
#[derive(Debug, Clone, Copy)]
pub struct Turning {
    /// The outputs.
    pub output: Reach,
    /// The inputs.
    pub input: Reach,
}

impl Turning {
    /// Whether a turn leads from one of these ports to the other.
    pub(super) const fn leads(&self, output: Place, input: Place) -> bool {
        let turn = match (self.output.grows(), self.input.grows()) {
            (true, _) => self.output.turn(output),
            (false, true) => self.input.turn(input),
            (false, false) => 0,
        };
        if !self.output.has_turn(turn) {
            return false;
        }
        self.output.at(turn as usize).is(output) && self.input.at(turn as usize).is(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements that reach a port each, or a row, a column or a diagonal of ports.
    fn reaches() -> Vec<Reach> {
        let indices = [(0, false), (2, false), (0, true), (1, true)];
        let pairs = indices.into_iter().flat_map(|node| indices.map(|element| (node, element)));
        let reaches = pairs.flat_map(|(node, element)| {
            [0, 1, 3].map(|turns| Reach { node, element: Some(element), turns })
        });
        reaches.collect()
    }

    const PLACES: i128 = 6;

    fn places() -> impl Iterator<Item = Place> {
        (0..PLACES).flat_map(|node| (0..PLACES).map(move |element| Place { node, element }))
    }

    /// Returns the number of turns that reach a port.
    fn turns_at(reach: &Reach, place: Place) -> usize {
        (0..reach.turns).filter(|&turn| reach.at(turn).is(place)).count()
    }

    #[test]
    fn edges_are_counted_at_each_port() {
        for reach in reaches() {
            for place in places() {
                assert_eq!(reach.edges(place), turns_at(&reach, place), "{reach:?} {place:?}");
            }
        }
    }

    #[test]
    fn the_steps_from_change_to_change_leave_no_number_out() {
        for one in reaches() {
            for other in reaches() {
                let reached = [one, other];
                let mut seen = vec![vec![None; 6]; 6];
                let mut node = 0;
                while node < PLACES {
                    let (after, mut element) = (next_node(&reached, node), 0);
                    assert!(after > node);
                    while element < PLACES {
                        let next = next_element(&reached, node, element);
                        assert!(next > element);
                        let edges = edges_at(&reached, Place { node, element });
                        for node in node..after.min(PLACES) {
                            for element in element..next.min(PLACES) {
                                seen[node as usize][element as usize] = Some(edges);
                            }
                        }
                        element = next;
                    }
                    node = after;
                }
                for place in places() {
                    let edges = turns_at(&one, place) + turns_at(&other, place);
                    let seen = seen[place.node as usize][place.element as usize];
                    assert_eq!(seen, Some(edges), "{one:?} {other:?} {place:?}");
                }
            }
        }
    }

    #[test]
    fn single_edges_in_order_are_known() {
        let single = |node, element| Reach {
            node: (node, false),
            element: Some((element, false)),
            turns: 1,
        };
        let mut all: Vec<Reach> = places().map(|it| single(it.node, it.element)).collect();
        assert!(is_each_in_order(&all, 6, 6) && !is_each_in_order(&all, 6, 5));
        for reach in reaches() {
            let is_first = reach.turns == 1 && reach.at(0).is(Place { node: 0, element: 0 });
            all[0] = reach;
            assert_eq!(is_each_in_order(&all, 6, 6), is_first, "{reach:?}");
        }
        all[0] = single(0, 1);
        assert!(!is_each_in_order(&all, 6, 6));
    }

    #[test]
    fn a_common_port_is_one_of_both() {
        for one in reaches() {
            for other in reaches() {
                let common = first_common(&one, &other);
                let is_common =
                    |place: &Place| turns_at(&one, *place) * turns_at(&other, *place) > 0;
                assert_eq!(common.is_some(), places().any(|place| is_common(&place)));
                assert!(common.as_ref().is_none_or(is_common), "{one:?} {other:?}");
            }
        }
    }
}
