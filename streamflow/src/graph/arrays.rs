//! Checks of arrays of nodes, which the code of `graph!` calls in constants: that each index is that of a node, and that each node of an
//! array has its edges.

use super::check::{kind, same, takes_one};
use super::connected::NodePorts;
use crate::error::const_text::Text;
use crate::port::{PortInfo, PortSize};

/// The nodes of an array at whose port edges of one statement begin or end.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The index of the first of these nodes.
    pub first: i128,
    /// The index of the last of these nodes.
    pub last: i128,
    /// The number of edges at each of these nodes: the turns of a loop, if each of them has an edge at one and the same node.
    pub times: usize,
}

/// The edges at a port of an array, by statement.
#[derive(Debug, Clone, Copy)]
pub struct ReachedPort {
    /// The name of the port.
    pub port: &'static str,
    /// The nodes that each statement reaches.
    pub reached: &'static [Reach],
}

impl Reach {
    const fn has(&self, index: i128) -> bool {
        self.first <= index && index <= self.last
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

/// Checks that two indices of an array with different spellings, each as its text and its value, are those of different nodes.
#[track_caller]
pub const fn check_spelling(
    array: &str,
    count: usize,
    (index, at): (&str, i128),
    (other, other_at): (&str, i128),
) {
    // `check_index` reports an index that is not there.
    if at == other_at && at < count as i128 {
        let text = Text::new().add("`").add(array).add(index).add("` and `").add(array).add(other);
        add_index(text.add("` are one node, that with the index "), at)
            .add("; write its index the same way at each port of this graph")
            .fail()
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

/// Checks that a loop has a turn, and that each index in it is that of a node in each turn. A loop may have no turn if its range has a
/// parameter of the graph, `depends`.
#[track_caller]
pub const fn check_loop(start: usize, end: usize, depends: bool, indices: &[Turns]) {
    if start >= end && depends {
        return;
    }
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
            add_index(text.add("; end the range "), past)
                .add(" earlier, or write a smaller index")
                .fail()
        }
        if first < 0 {
            let text = text.add(" begins before `").add(array);
            add_index(text.add("[0]`; begin the range "), -first).add(" later").fail()
        }
        i += 1;
    }
}

/// Checks that an array is not empty, and that each port of each of its nodes has its edges. Loops may have no turn in a graph with
/// parameters, `depends`.
#[track_caller]
pub const fn check_array(
    this: &'static NodePorts,
    count: usize,
    depends: bool,
    ports: &[ReachedPort],
) {
    if count == 0 {
        Text::new()
            .add("array `")
            .add(this.node)
            .add(
                "` is empty: a graph has at least one of each node; give it a length, or remove it",
            )
            .fail()
    }
    if !are_there(count, depends, ports) {
        // `check_loop` and `check_index` report an index that is not there.
        return;
    }
    check_ports(this, this.inputs, count, ports, true);
    check_ports(this, this.outputs, count, ports, false);
    check_runs(this, count, ports);
}

const fn are_there(count: usize, depends: bool, ports: &[ReachedPort]) -> bool {
    let mut port = 0;
    while port < ports.len() {
        let mut i = 0;
        while i < ports[port].reached.len() {
            let Reach { first, last, .. } = ports[port].reached[i];
            let is_empty = last < first;
            if is_empty && !depends || !is_empty && (first < 0 || last >= count as i128) {
                return false;
            }
            i += 1;
        }
        port += 1;
    }
    true
}

/// Returns the edges at a port; none if no edge names it.
const fn reached(ports: &[ReachedPort], port: &str) -> &'static [Reach] {
    let mut i = 0;
    while i < ports.len() {
        if same(ports[i].port, port) {
            return ports[i].reached;
        }
        i += 1;
    }
    &[]
}

/// Returns the number of edges at a node.
const fn edges_at(reached: &[Reach], index: i128) -> usize {
    let (mut i, mut edges) = (0, 0);
    while i < reached.len() {
        if reached[i].has(index) {
            edges += reached[i].times;
        }
        i += 1;
    }
    edges
}

/// Returns the first node, from the node `from` on, at which the number of edges may be another one than before it: that after the last
/// node of a statement, and the first node of a statement.
const fn next_change(reached: &[Reach], from: i128) -> i128 {
    let (mut i, mut next) = (0, i128::MAX);
    while i < reached.len() {
        let Reach { first, last, .. } = reached[i];
        if first > from && first < next {
            next = first;
        }
        if last >= from && last + 1 < next {
            next = last + 1;
        }
        i += 1;
    }
    next
}

#[track_caller]
const fn check_ports(
    this: &NodePorts,
    ports: &'static [PortInfo],
    count: usize,
    edges: &[ReachedPort],
    are_inputs: bool,
) {
    let mut i = 0;
    while i < ports.len() {
        let port = &ports[i];
        let at_port = reached(edges, port.name);
        let mut node = 0;
        // A port without an edge at any node is reported by `check_inputs` or `check_outputs`.
        while !at_port.is_empty() && node < count as i128 {
            let edges = edges_at(at_port, node);
            if edges == 0 && !port.optional {
                missing(this, port.name, node as usize, are_inputs)
            }
            if let PortSize::Exactly(size) = port.size
                && edges > 0
                && edges != size
            {
                let text = add_index(Text::new().add("input `").add(this.node).add("["), node);
                let text = text.add("].").add(port.name).add("` takes ").add_number(size);
                let text = text.add(" edges, because of its `#[input(size)]`, and has ");
                text.add_number(edges).add("; write as many as it takes").fail()
            }
            node = next_change(at_port, node);
        }
        i += 1;
    }
}

/// Checks that a node whose inputs are all optional has an edge at one of them.
#[track_caller]
const fn check_runs(this: &NodePorts, count: usize, ports: &[ReachedPort]) {
    let mut i = 0;
    while i < this.inputs.len() {
        if !this.inputs[i].optional {
            return;
        }
        i += 1;
    }
    if this.inputs.is_empty() || this.runs_without_messages || this.is_graph {
        return;
    }
    let mut node = 0;
    while node < count as i128 {
        let (mut input, mut edges, mut next) = (0, 0, i128::MAX);
        while input < this.inputs.len() {
            let at_input = reached(ports, this.inputs[input].name);
            edges += edges_at(at_input, node);
            let change = next_change(at_input, node);
            if change < next {
                next = change;
            }
            input += 1;
        }
        // An array without any edge is reported by `check_inputs`.
        if edges == 0 && (node > 0 || next < i128::MAX) {
            let text = add_index(Text::new().add("node `").add(this.node).add("["), node);
            text.add("]` never runs: all inputs of operator `").add(this.operator)
                .add("` are `#[input(optional)]`, and none is connected; connect one, or make the array shorter")
                .fail()
        }
        node = next;
    }
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

/// An edge in the turns of a loop: the indices at its two ends in the first turn, and whether they grow with each turn. A single node
/// has the index 0.
#[derive(Debug, Clone, Copy)]
pub struct Turning {
    /// The index of the output's node, and whether it grows.
    pub output: (i128, bool),
    /// The index of the input's node, and whether it grows.
    pub input: (i128, bool),
    /// The number of turns; 1 for an edge that is in no loop.
    pub turns: usize,
}

impl Turning {
    const fn at(&self, turn: usize) -> (i128, i128) {
        let turn = turn as i128;
        let (output, input) = (self.output, self.input);
        (
            if output.1 { output.0 + turn } else { output.0 },
            if input.1 { input.0 + turn } else { input.0 },
        )
    }

    /// Whether a turn leads from one of these nodes to the other.
    const fn leads(&self, output: i128, input: i128) -> bool {
        let turn = match (self.output.1, self.input.1) {
            (true, _) => output - self.output.0,
            (false, true) => input - self.input.0,
            (false, false) => 0,
        };
        if turn < 0 || turn >= self.turns as i128 {
            return false;
        }
        let (at_output, at_input) = self.at(turn as usize);
        at_output == output && at_input == input
    }
}

/// Checks that an edge, `this`, is not there already by the edge `before`, which has the same ports. `edge` is the text of the edge.
#[track_caller]
pub const fn check_same_edge(edge: &str, this: Turning, before: Turning) {
    let mut turn = 0;
    while turn < this.turns {
        let (output, input) = this.at(turn);
        if before.leads(output, input) {
            let text = Text::new().add("`").add(edge).add("` is there already, for node ");
            let index = if this.output.1 { output } else { input };
            add_index(text, index)
                .add("; an output feeds an input once, so remove one of these edges")
                .fail()
        }
        turn += 1;
    }
}

/// Checks that a loop whose variable is at neither end of an edge has one turn.
#[track_caller]
pub const fn check_one_turn(edge: &str, start: usize, end: usize) {
    if end > start + 1 {
        Text::new()
            .add("each turn of this loop makes the same edge, `")
            .add(edge)
            .add("`; write it once, outside of the loop")
            .fail()
    }
}

/// Checks that an input of the nodes of an array has no second producer, which the edges from `this` are where the edges from
/// `output` lead already.
#[track_caller]
pub const fn check_second_of_array(
    array: &str,
    (inputs, port): (&[PortInfo], &str),
    this: Reach,
    before: Reach,
    output: &str,
) {
    let first = if this.first > before.first { this.first } else { before.first };
    let last = if this.last < before.last { this.last } else { before.last };
    // `check_loop` reports a loop without turns.
    let is_empty = this.last < this.first || before.last < before.first;
    if is_empty || first > last || !takes_one(inputs, port) {
        return;
    }
    let text = add_index(Text::new().add("input `").add(array).add("["), first);
    let text = text.add("].").add(port).add("` already has a producer, `").add(output);
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
        text.add("`, which takes exactly one edge, because it is not `#[input(many)]`; make its node an array with the variable of \
                  the loop as index, or join the messages before it").fail()
    }
}
