//! Checks that all ports of a graph are connected. Like those of [`check`](super::check), they run in constants.
//!
//! A forgotten edge leaves an output of one node and an input of another node unconnected. This is one mistake, so it is reported
//! once: at the node with the output.

use super::check::{kind, same};
use crate::error::const_text::Text;
use crate::port::PortInfo;

/// The ports of a node, and those of them that edges name.
#[derive(Debug)]
pub struct NodePorts {
    /// The node's name.
    pub node: &'static str,
    /// The operator's name, or the graph's.
    pub operator: &'static str,
    /// Whether the node is a graph, and no operator.
    pub is_graph: bool,
    /// The inputs of the operator.
    pub inputs: &'static [PortInfo],
    /// The outputs of the operator.
    pub outputs: &'static [PortInfo],
    /// The ports of this node that edges name, inputs and outputs.
    pub named: &'static [Named],
    /// Whether a condition lets the node run without a message.
    pub runs_without_messages: bool,
}

/// A port of a node that an edge or a discard names.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The name of the port.
    pub port: &'static str,
    /// The number of edges: the turns of a loop, if the number of its turns depends on a parameter of the graph.
    pub edges: usize,
    /// Whether the edge is there in each use of the graph. The edge to an input of the graph that is optional may not be.
    pub surely: bool,
}

/// The ports of all nodes of a graph. `graph!` implements this trait.
pub trait GraphPorts {
    /// The nodes in the order of their declarations.
    const NODES: &'static [NodePorts];
    /// The checks of a graph with generic parameters. Naming this constant makes them.
    const CHECKED: () = ();
}

/// Whether a port has an edge, or, if `surely`, has one in each use of the graph.
const fn contains(named: &[Named], port: &str, surely: bool) -> bool {
    let mut i = 0;
    while i < named.len() {
        if same(named[i].port, port) && named[i].edges > 0 && (named[i].surely || !surely) {
            return true;
        }
        i += 1;
    }
    false
}

/// Adds to the text the required ports that are not in `used`, as `` `node.a`, `node.b` ``. Returns the text and the number of
/// these ports.
const fn list_missing(
    mut text: Text,
    node: &str,
    ports: &[PortInfo],
    used: &[Named],
) -> (Text, usize) {
    let (mut i, mut missing) = (0, 0);
    while i < ports.len() {
        if is_missing(&ports[i], used) {
            let separator = if missing > 0 { ", " } else { "" };
            text = text.add(separator).add("`").add(node).add(".").add(ports[i].name).add("`");
            missing += 1;
        }
        i += 1;
    }
    (text, missing)
}

/// Returns whether an edge names a port that the operator does not have, which rustc reports at the edge. In that case the wrong
/// name may stand for a port that seems unconnected, so the other checks report nothing.
const fn has_unknown(named: &[Named], inputs: &[PortInfo], outputs: &[PortInfo]) -> bool {
    let mut i = 0;
    while i < named.len() {
        if !has(inputs, named[i].port) && !has(outputs, named[i].port) {
            return true;
        }
        i += 1;
    }
    false
}

const fn has(ports: &[PortInfo], name: &str) -> bool {
    let mut i = 0;
    while i < ports.len() {
        if same(ports[i].name, name) {
            return true;
        }
        i += 1;
    }
    false
}

impl NodePorts {
    const fn has_unknown(&self) -> bool {
        has_unknown(self.named, self.inputs, self.outputs)
    }

    /// Returns the required port that is not connected, if exactly one of these ports is not.
    const fn only_missing(&self, ports: &'static [PortInfo]) -> Option<&'static PortInfo> {
        let (mut i, mut found) = (0, None);
        while i < ports.len() {
            if is_missing(&ports[i], self.named) {
                // An array of ports has an edge for each element.
                if found.is_some() || ports[i].length.is_some() {
                    return None;
                }
                found = Some(&ports[i]);
            }
            i += 1;
        }
        found
    }

    const fn is_complete(&self, ports: &[PortInfo]) -> bool {
        let mut i = 0;
        while i < ports.len() {
            if is_missing(&ports[i], self.named) {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns the output at which a forgotten edge may begin, if it is the only unconnected port of the node.
    const fn open_output(&self) -> Option<&'static PortInfo> {
        match self.only_missing(self.outputs) {
            Some(port) if self.is_complete(self.inputs) && !self.has_unknown() => Some(port),
            _ => None,
        }
    }

    /// Returns the input at which a forgotten edge may end, if it is the only unconnected port of the node.
    const fn open_input(&self) -> Option<&'static PortInfo> {
        match self.only_missing(self.inputs) {
            Some(port) if self.is_complete(self.outputs) && !self.has_unknown() => Some(port),
            _ => None,
        }
    }
}

const fn is_missing(port: &PortInfo, named: &[Named]) -> bool {
    !port.optional && !contains(named, port.name, false)
}

/// The two sides of an edge.
#[derive(Clone, Copy)]
enum Side {
    Output,
    Input,
}

const fn open_port(node: &NodePorts, side: Side) -> Option<&'static PortInfo> {
    match side {
        Side::Output => node.open_output(),
        Side::Input => node.open_input(),
    }
}

/// Returns the node and the port at the other end of an edge that may be forgotten at the node `index`. Unconnected outputs and
/// inputs of the same message, by the text of its type, are paired in order: the first output with the first input, and so on.
const fn other_end(
    nodes: &'static [NodePorts],
    index: usize,
    side: Side,
) -> Option<(&'static NodePorts, &'static PortInfo)> {
    let Some(port) = open_port(&nodes[index], side) else { return None };
    let (mut before, mut i) = (0, 0);
    while i < index {
        if let Some(other) = open_port(&nodes[i], side)
            && same_message(port, other)
        {
            before += 1;
        }
        i += 1;
    }
    let other_side = match side {
        Side::Output => Side::Input,
        Side::Input => Side::Output,
    };
    i = 0;
    while i < nodes.len() {
        if let Some(other) = open_port(&nodes[i], other_side)
            && same_message(port, other)
        {
            if before == 0 {
                return Some((&nodes[i], other));
            }
            before -= 1;
        }
        i += 1;
    }
    None
}

/// Returns whether the two types have the same text, apart from the `&` of `&T` and the `Shared` of `Shared<T>`.
const fn same_message(a: &PortInfo, b: &PortInfo) -> bool {
    same(message(a.ty), message(b.ty))
}

const fn message(ty: &str) -> &str {
    let bytes = ty.as_bytes();
    if let [b'&', ..] = bytes {
        return ty.split_at(1).1;
    }
    if let [b'S', b'h', b'a', b'r', b'e', b'd', b'<', .., b'>'] = bytes {
        return ty.split_at(bytes.len() - 1).0.split_at(7).1;
    }
    ty
}

/// Checks that every required input of a node is connected, and that the node can run.
#[track_caller]
pub const fn check_inputs(nodes: &'static [NodePorts], index: usize) {
    let this = &nodes[index];
    let NodePorts { node, operator, is_graph, inputs, outputs, named, runs_without_messages } =
        *this;
    let (names, missing) = list_missing(Text::new(), node, inputs, named);
    // If an output of another node may belong to the missing edge, `check_outputs` reports the edge at that node.
    if missing > 0 && !this.has_unknown() && other_end(nodes, index, Side::Input).is_none() {
        let noun = if missing > 1 { "inputs " } else { "input " };
        let verb = if missing > 1 { " are" } else { " is" };
        let text = Text::new()
            .add(noun)
            .add_text(&names)
            .add(verb)
            .add(" not connected; ")
            .add(kind(is_graph))
            .add(" `")
            .add(operator)
            .add("` needs every input")
            .add(if is_graph { "" } else { " that is not `#[input(optional)]`" });
        let (outputs, unconsumed) = list_missing(Text::new(), node, outputs, named);
        if named.is_empty() && unconsumed > 0 {
            let noun = if unconsumed > 1 { "outputs " } else { "output " };
            let verb = if unconsumed > 1 { " are" } else { " is" };
            let text = text.add("; ").add(noun).add_text(&outputs).add(verb);
            text.add(" never consumed either: no edge names the node").fail()
        }
        text.fail()
    }
    // A graph may have nodes without inputs.
    if !is_graph && !runs_without_messages && can_never_run(inputs, named) && !this.has_unknown() {
        let (never, why) = match has_edge(inputs, named) {
            false => (
                "` never runs: all inputs of operator `",
                "none is connected; connect one, or remove the node",
            ),
            true => (
                "` may never run: all inputs of operator `",
                "they have only the edges of an `input(optional)` of this graph; connect one to a node, or remove that `optional`",
            ),
        };
        let text = Text::new().add("node `").add(node).add(never).add(operator);
        text.add("` are `#[input(optional)]`, and ").add(why).fail()
    }
}

/// Returns whether the operator may never run: all its inputs are optional, and no edge leads to any of them in each use of the graph.
const fn can_never_run(inputs: &[PortInfo], named: &[Named]) -> bool {
    let mut i = 0;
    while i < inputs.len() {
        if !inputs[i].optional || contains(named, inputs[i].name, true) {
            return false;
        }
        i += 1;
    }
    !inputs.is_empty()
}

/// Returns whether an edge leads to one of these inputs.
const fn has_edge(inputs: &[PortInfo], named: &[Named]) -> bool {
    let mut i = 0;
    while i < inputs.len() {
        if contains(named, inputs[i].name, false) {
            return true;
        }
        i += 1;
    }
    false
}

/// Checks that every output of a node is consumed or discarded.
#[track_caller]
pub const fn check_outputs(nodes: &'static [NodePorts], index: usize) {
    let this = &nodes[index];
    let NodePorts { node, operator, is_graph, inputs, outputs, named, .. } = *this;
    let (names, missing) = list_missing(Text::new(), node, outputs, named);
    // If no edge names the node, `check_inputs` reports its outputs together with its inputs.
    let is_reported = named.is_empty() && !this.is_complete(inputs);
    if missing == 0 || this.has_unknown() || is_reported {
        return;
    }
    let noun = if missing > 1 { "outputs " } else { "output " };
    let verb = if missing > 1 { " are" } else { " is" };
    let them = if missing > 1 { "each" } else { "it" };
    let text = Text::new()
        .add(noun)
        .add_text(&names)
        .add(" of ")
        .add(kind(is_graph))
        .add(" `")
        .add(operator)
        .add("`")
        .add(verb)
        .add(" never consumed");
    let text = match (this.open_output(), other_end(nodes, index, Side::Output)) {
        (Some(output), Some((other, input))) => text
            .add(", and input `")
            .add(other.node)
            .add(".")
            .add(input.name)
            .add("` is not connected; write `")
            .add(node)
            .add(".")
            .add(output.name)
            .add(" >> ")
            .add(other.node)
            .add(".")
            .add(input.name)
            .add(";`, or connect each with another port"),
        _ => text.add("; connect ").add(them).add(", or discard ").add(them).add(" with `>> _`"),
    };
    text.fail()
}
