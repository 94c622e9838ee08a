//! Checks of arrays of nodes, which the code of `graph!` calls in constants: that each index is that of a node, and that each node of an
//! array has its edges.

use super::check::{kind, same};
use super::connected::NodePorts;
use crate::error::const_text::Text;
use crate::port::{PortInfo, PortSize};

/// The nodes of an array at whose port edges of one statement begin or end.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The name of the port.
    pub port: &'static str,
    /// The index of the first of these nodes.
    pub first: i128,
    /// The index of the last of these nodes.
    pub last: i128,
}

impl Reach {
    const fn has(&self, port: &str, index: i128) -> bool {
        same(self.port, port) && self.first <= index && index <= self.last
    }
}

const fn add_index(text: Text, index: i128) -> Text {
    match index {
        0.. => text.add_number(index as usize),
        _ => text.add("-").add_number(index.unsigned_abs() as usize),
    }
}

/// Adds `` `cameras` has 3 nodes, 0 to 2 ``.
const fn add_nodes(text: Text, array: &str, count: usize) -> Text {
    let text = text.add("`").add(array).add("` has ").add_number(count);
    match count {
        1 => text.add(" node, 0"),
        _ => text.add(" nodes, 0 to ").add_number(count - 1),
    }
}

/// Checks that an index that is a number is that of a node.
#[track_caller]
pub const fn check_index(array: &str, count: usize, index: i128) {
    if count > 0 && index >= count as i128 {
        let text = add_index(Text::new().add("`").add(array).add("["), index);
        let text = add_nodes(text.add("]` is not there: "), array, count);
        text.add("; write one of these, or give the array a greater length").fail()
    }
}

/// The nodes of an array that an index names in the turns of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// The name of the array.
    pub array: &'static str,
    /// The number of its nodes.
    pub count: usize,
    /// The index as the user wrote it.
    pub written: &'static str,
    /// The index in the first turn.
    pub first: i128,
    /// The index in the last turn.
    pub last: i128,
}

/// Checks that a loop has a turn, and that each index in it is that of a node in each turn.
#[track_caller]
pub const fn check_loop(start: usize, end: usize, indices: &[Turns]) {
    if start >= end {
        let text = Text::new().add("this loop has no turn: its range is ").add_number(start);
        text.add("..").add_number(end).add("; remove it, or give it a longer range").fail()
    }
    let mut i = 0;
    while i < indices.len() {
        let Turns { array, count, written, first, last } = indices[i];
        let text = Text::new().add("`").add(array).add("[").add(written).add("]`");
        if count > 0 && last >= count as i128 {
            let text = text.add(" reaches `").add(array).add("[");
            let text = add_nodes(add_index(text, last).add("]`, and "), array, count);
            let past = last - count as i128 + 1;
            add_index(text.add("; end the range "), past).add(" earlier").fail()
        }
        if first < 0 {
            let text = text.add(" begins before `").add(array);
            add_index(text.add("[0]`; begin the range "), -first).add(" later").fail()
        }
        i += 1;
    }
}

/// Checks that an array is not empty, and that each port of each of its nodes has its edges.
#[track_caller]
pub const fn check_array(
    nodes: &'static [NodePorts],
    index: usize,
    count: usize,
    reached: &[Reach],
) {
    let this = &nodes[index];
    if count == 0 {
        Text::new()
            .add("array `")
            .add(this.node)
            .add(
                "` is empty: a graph has at least one of each node; give it a length, or remove it",
            )
            .fail()
    }
    if !are_there(count, reached) {
        // `check_loop` and `check_index` report an index that is not there.
        return;
    }
    check_ports(this, this.inputs, count, reached, true);
    check_ports(this, this.outputs, count, reached, false);
}

#[track_caller]
const fn check_ports(
    this: &NodePorts,
    ports: &'static [PortInfo],
    count: usize,
    reached: &[Reach],
    are_inputs: bool,
) {
    let mut i = 0;
    while i < ports.len() {
        let port = &ports[i];
        let mut node = 0;
        while node < count {
            let edges = edges_at(reached, port.name, node as i128);
            // A port without an edge at any node was reported by `check_inputs` or `check_outputs`.
            let is_forgotten = edges == 0 && edges_of(reached, port.name) > 0 && !port.optional;
            if is_forgotten {
                missing(this, port.name, node, are_inputs)
            }
            if let PortSize::Exactly(size) = port.size
                && edges > 0
                && edges != size
            {
                let text = Text::new().add("input `").add(this.node).add("[").add_number(node);
                let text = text.add("].").add(port.name).add("` takes ").add_number(size);
                text.add(" edges, and has ").add_number(edges).fail()
            }
            node += 1;
        }
        i += 1;
    }
}

const fn are_there(count: usize, reached: &[Reach]) -> bool {
    let mut i = 0;
    while i < reached.len() {
        let Reach { first, last, .. } = reached[i];
        if first < 0 || last >= count as i128 || last < first {
            return false;
        }
        i += 1;
    }
    true
}

const fn edges_at(reached: &[Reach], port: &str, index: i128) -> usize {
    let (mut i, mut edges) = (0, 0);
    while i < reached.len() {
        if reached[i].has(port, index) {
            edges += 1;
        }
        i += 1;
    }
    edges
}

/// Returns how many statements name the port, at any node.
const fn edges_of(reached: &[Reach], port: &str) -> usize {
    let (mut i, mut edges) = (0, 0);
    while i < reached.len() {
        if same(reached[i].port, port) {
            edges += 1;
        }
        i += 1;
    }
    edges
}

#[track_caller]
const fn missing(this: &NodePorts, port: &str, node: usize, is_input: bool) {
    let text = Text::new().add(if is_input { "input `" } else { "output `" }).add(this.node);
    let text = text.add("[").add_number(node).add("].").add(port);
    let text = match is_input {
        true => text.add("` is not connected, as it is at other nodes of the array; "),
        false => text.add("` is never consumed, as it is at other nodes of the array; "),
    };
    let text = text.add(kind(this.is_graph)).add(" `").add(this.operator);
    let what = match is_input {
        true => "` needs every input that is not `#[input(optional)]`",
        false => "` sends there, too: connect it, or discard it with `>> _`",
    };
    text.add(what).fail()
}

/// Checks that an input of the nodes of an array has no second producer, which the edges from `this` are where the edges from
/// `output` lead already.
#[track_caller]
pub const fn check_second_of_array(
    array: &str,
    inputs: &[PortInfo],
    this: Reach,
    before: Reach,
    output: &str,
) {
    let first = if this.first > before.first { this.first } else { before.first };
    let last = if this.last < before.last { this.last } else { before.last };
    // `check_loop` reports a loop without turns.
    let is_empty = this.last < this.first || before.last < before.first;
    if is_empty || first > last || !takes_one(inputs, this.port) {
        return;
    }
    let text = add_index(Text::new().add("input `").add(array).add("["), first);
    let text = text.add("].").add(this.port).add("` already has a producer, `").add(output);
    text.add("`; it takes exactly one edge, because it is not `#[input(many)]`").fail()
}

/// Checks that an input of a single node takes as many edges as the turns of a loop lead to it.
#[track_caller]
pub const fn check_edges_of_loop(
    input: &str,
    inputs: &[PortInfo],
    port: &str,
    start: usize,
    end: usize,
) {
    if end > start + 1 && takes_one(inputs, port) {
        let text = Text::new().add("each turn of this loop leads to input `").add(input);
        text.add("`, which takes exactly one edge, because it is not `#[input(many)]`; write the variable of the loop as an index of \
                  the node").fail()
    }
}

const fn takes_one(inputs: &[PortInfo], port: &str) -> bool {
    let mut i = 0;
    while i < inputs.len() {
        if same(inputs[i].name, port) {
            return matches!(inputs[i].size, PortSize::One);
        }
        i += 1;
    }
    false
}
