//! Checks of arrays, of nodes and of ports: that each element has its edges. The code of `graph!` calls them in constants.
//! The checks of indices are in [`loops`](super::loops).

use super::check::{kind, same, takes_one};
use super::connected::NodePorts;
use super::loops::add_index;
use super::reach::{
    Place, Reach, Turning, edges_at, first_common, has_edges, is_each_in_order, next_element,
    next_node,
};
use crate::error::const_text::Text;
use crate::port::{PortInfo, PortSize};

/// The edges at a port of a node, by statement.
#[derive(Debug, Clone, Copy)]
pub struct ReachedPort {
    /// The name of the port.
    pub port: &'static str,
    /// The ports that each statement reaches.
    pub reached: &'static [Reach],
}

/// Returns the number of ports in an array; 0 if the port is a single one, or is not there. rustc reports both at the edge.
#[must_use]
pub const fn length_of(ports: [&[PortInfo]; 2], port: &str) -> usize {
    match length_in(ports, port) {
        Some(length) => length,
        None => 0,
    }
}

/// Returns the number of ports in an array, among the inputs and the outputs of a node.
const fn length_in(ports: [&[PortInfo]; 2], port: &str) -> Option<usize> {
    let info = match find(ports[0], port) {
        Some(info) => Some(info),
        None => find(ports[1], port),
    };
    match info {
        Some(info) => info.length,
        None => None,
    }
}

const fn find<'a>(ports: &'a [PortInfo], name: &str) -> Option<&'a PortInfo> {
    let mut i = 0;
    while i < ports.len() {
        if same(ports[i].name, name) {
            return Some(&ports[i]);
        }
        i += 1;
    }
    None
}

/// The name of a node, or of an array of nodes, and of its port.
#[derive(Clone, Copy)]
struct Names<'a> {
    node: &'a str,
    is_array: bool,
    port: &'a str,
    has_elements: bool,
}

impl Names<'_> {
    /// Adds the name of the port at a place, as `parts[1].frames[2]`.
    const fn add_to(&self, text: Text, Place { node, element }: Place) -> Text {
        let text = text.add(self.node);
        let text = if self.is_array { add_index(text.add("["), node).add("]") } else { text };
        let text = text.add(".").add(self.port);
        if self.has_elements { add_index(text.add("["), element).add("]") } else { text }
    }
}

/// Checks that an array is not empty, and that each port of each of its nodes has its edges. A node that is no array has no `count`, and
/// may have arrays of ports. Loops may have no turn in a graph with parameters, `depends`.
#[track_caller]
pub const fn check_array(
    this: &'static NodePorts,
    count: Option<usize>,
    depends: bool,
    ports: &[ReachedPort],
) {
    if let Some(0) = count {
        Text::new()
            .add("array `")
            .add(this.node)
            .add(
                "` is empty: a graph has at least one of each node; give it a length, or remove it",
            )
            .fail()
    }
    if !are_there(this, count, depends, ports) {
        // `check_loop`, `check_index` and rustc report an index that is not there.
        return;
    }
    check_ports(this, this.inputs, count, ports, true);
    check_ports(this, this.outputs, count, ports, false);
    check_runs(this, count, ports);
}

const fn are_there(
    this: &NodePorts,
    count: Option<usize>,
    depends: bool,
    ports: &[ReachedPort],
) -> bool {
    let count = number(count);
    let mut port = 0;
    while port < ports.len() {
        let ReachedPort { port: name, reached } = ports[port];
        let length = length_in([this.inputs, this.outputs], name);
        let mut i = 0;
        while i < reached.len() {
            let reach = &reached[i];
            let fits = reach.element.is_some() == length.is_some();
            let is_empty = reach.turns == 0;
            if !fits || is_empty && !depends || !reach.is_within(count, number(length)) {
                return false;
            }
            i += 1;
        }
        port += 1;
    }
    true
}

/// Returns the number of nodes, or of ports, that a name stands for: the length of an array, or 1.
const fn number(length: Option<usize>) -> usize {
    match length {
        Some(length) => length,
        None => 1,
    }
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

#[track_caller]
const fn check_ports(
    this: &NodePorts,
    ports: &'static [PortInfo],
    count: Option<usize>,
    edges: &[ReachedPort],
    are_inputs: bool,
) {
    let mut i = 0;
    while i < ports.len() {
        let port = &ports[i];
        let at_port = reached(edges, port.name);
        // A port without an edge at any node is reported by `check_inputs` or `check_outputs`.
        let nodes = if at_port.is_empty() { 0 } else { number(count) as i128 };
        let names = Names {
            node: this.node,
            is_array: count.is_some(),
            port: port.name,
            has_elements: port.length.is_some(),
        };
        let has_one = is_each_in_order(at_port, nodes as usize, number(port.length));
        let mut node = if has_one && !matches!(port.size, PortSize::Exactly(size) if size != 1) {
            nodes
        } else {
            0
        };
        while node < nodes {
            let mut element = 0;
            while element < number(port.length) as i128 {
                let place = Place { node, element };
                let edges = edges_at(at_port, place);
                if edges == 0 && !port.optional {
                    missing(this, &names, place, are_inputs)
                }
                if let PortSize::Exactly(size) = port.size
                    && edges > 0
                    && edges != size
                {
                    let text = names.add_to(Text::new().add("input `"), place);
                    let text = text.add("` takes ").add_number(size);
                    let text = text.add(" edges, because of its `#[input(size)]`, and has ");
                    text.add_number(edges).add("; write as many as it takes").fail()
                }
                element = match port.length {
                    Some(_) => next_element(at_port, node, element),
                    None => 1,
                };
            }
            node = next_node(at_port, node);
        }
        i += 1;
    }
}

/// Checks that a node whose inputs are all optional has an edge at one of them.
#[track_caller]
const fn check_runs(this: &NodePorts, count: Option<usize>, ports: &[ReachedPort]) {
    // `check_inputs` checks a node that is no array.
    let Some(count) = count else { return };
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
        let (mut input, mut runs, mut next) = (0, false, i128::MAX);
        while input < this.inputs.len() {
            let at_input = reached(ports, this.inputs[input].name);
            runs |= has_edges(at_input, node);
            let change = next_node(at_input, node);
            if change < next {
                next = change;
            }
            input += 1;
        }
        // An array without any edge is reported by `check_inputs`.
        if !runs && (node > 0 || next < i128::MAX) {
            let text = add_index(Text::new().add("node `").add(this.node).add("["), node);
            text.add("]` never runs: all inputs of operator `").add(this.operator)
                .add("` are `#[input(optional)]`, and none is connected; connect one, or make the array shorter")
                .fail()
        }
        node = next;
    }
}

#[track_caller]
const fn missing(this: &NodePorts, names: &Names<'_>, place: Place, is_input: bool) {
    let text = Text::new().add(if is_input { "input `" } else { "output `" });
    let text = names.add_to(text, place);
    let text = text.add(if is_input { "` is not connected" } else { "` is never consumed" });
    let text = match names.has_elements {
        true => text.add(", as other elements of the array are; "),
        false if names.is_array => text.add(", as it is at other nodes of the array; "),
        false => text.add("; "),
    };
    let text = text.add(kind(this.is_graph)).add(" `").add(this.operator);
    let what = match is_input {
        true if this.is_graph => "` needs every input",
        true => "` needs every input that is not `#[input(optional)]`",
        false => "` sends there, too: connect it, or discard it with `>> _`",
    };
    text.add(what).fail()
}

/// Checks that an edge, `this`, is not there already by the edge `before`, which has the same ports. `edge` is the text of the edge.
#[track_caller]
pub const fn check_same_edge(edge: &str, this: Turning, before: Turning) {
    let mut turn = 0;
    while turn < this.output.turns {
        let (output, input) = (this.output.at(turn), this.input.at(turn));
        if before.leads(output, input) {
            let text = Text::new().add("`").add(edge).add("` is there already");
            let text = match (this.output.node.1, this.input.node.1) {
                (true, _) => add_index(text.add(", for node "), output.node),
                (false, true) => add_index(text.add(", for node "), input.node),
                (false, false) => text,
            };
            text.add("; an output feeds an input once, so remove one of these edges").fail()
        }
        turn += 1;
    }
}

/// Checks that an input of an array has no second producer: that no edge of `this` leads where an edge from `output` leads already.
#[track_caller]
pub const fn check_second_of_array(
    (node, is_array): (&str, bool),
    (inputs, port): (&[PortInfo], &str),
    this: Reach,
    before: Reach,
    output: &str,
) {
    let Some(PortInfo { length, .. }) = find(inputs, port) else { return };
    let names = Names { node, is_array, port, has_elements: length.is_some() };
    // rustc reports an index that is missing, and a superfluous one.
    let fit = this.element.is_some() == names.has_elements
        && before.element.is_some() == names.has_elements;
    if let Some(place) = first_common(&this, &before)
        && fit
        && takes_one(inputs, port)
    {
        let text = names.add_to(Text::new().add("input `"), place);
        let text = text.add("` already has a producer, `").add(output);
        text.add("`; it takes exactly one edge, because it is not `#[input(many)]`").fail()
    }
}
