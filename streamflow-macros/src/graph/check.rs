//! What can be decided from names alone.

use std::collections::{HashMap, HashSet};

use super::attribute::{self, NodeAttributes};
use super::edge_attribute;
use super::model::{
    Carries, Discard, Draft, Edge, EdgeStatement, Graph, Header, Leftover, Node, NodeStatement,
    Port, Statement, Streams, Target,
};
use super::pools;
use super::toposort::{self, Cycle};
use crate::diagnostic::{Errors, similar};

/// Names that the struct has beside those of its nodes.
const OF_GRAPH: &[&str] = &["new", "run", "nodes", "platform", "__platform"];

/// The graph, as far as it can be expanded.
pub(super) fn graph(mut header: Header, statements: Vec<Statement>, errors: &mut Errors) -> Graph {
    self::header(&mut header, errors);
    let mut names = Names::default();
    let mut graph = Graph {
        header,
        pools: Vec::new(),
        nodes: Vec::new(),
        edges: Vec::new(),
        discards: Vec::new(),
        probes: Vec::new(),
        order: Vec::new(),
        leftovers: Vec::new(),
        unknown_nodes: Vec::new(),
    };
    let mut edges = Vec::new();
    for statement in statements {
        match statement {
            Statement::Pool(pool) => pools::declare(pool, &mut graph.pools, errors),
            Statement::Node(statement) => {
                if names.declare(&statement.name, errors) {
                    graph.nodes.push(node(statement, errors));
                } else {
                    let NodeStatement { ty, value, .. } = statement;
                    graph.leftovers.push(Leftover { ty: Some(ty), value: Some(value) });
                }
            }
            Statement::Edges(statement) => {
                graph.probes.extend(statement.ports().map(Port::partial));
                edges.push(statement);
            }
            Statement::Draft(Draft { node, ports, rest }) => {
                graph.probes.extend(ports);
                graph.leftovers.push(rest);
                if let Some(name) = node
                    && names.declare(&name, errors)
                {
                    names.without_type.insert(name.to_string());
                }
            }
        }
    }
    pools::not_nodes(&mut graph, &mut names.without_type, errors);
    accessors(&mut graph, errors);
    pools::of_nodes(&mut graph, errors);
    pools::default_green(&mut graph, errors);
    for statement in edges {
        connect(statement, &names, &mut graph, errors);
    }
    transfers(&graph, errors);
    ends(&mut graph, errors);
    order(&mut graph, errors);
    // Who made another mistake may have meant to use a pool there.
    if errors.is_empty() {
        pools::unused(&graph, errors);
    }
    if !errors.is_empty() {
        unknown_nodes(&graph, errors);
    }
    graph
}

/// What nodes there are.
#[derive(Default)]
struct Names {
    all: HashSet<String>,
    /// Declared, but wrongly: edges to them can't be checked, and are no further mistake.
    without_type: HashSet<String>,
}

impl Names {
    /// Whether the name is new.
    fn declare(&mut self, name: &proc_macro2::Ident, errors: &mut Errors) -> bool {
        let new = self.all.insert(name.to_string());
        if !new {
            errors.at(name, format!("node `{name}` is declared twice; give one another name"));
        }
        new
    }
}

fn header(header: &mut Header, errors: &mut Errors) {
    header.green = attribute::of_graph(&mut header.attributes, errors);
    for attribute in &header.attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            errors
                .at(attribute, "`cfg` stands before `graph!`: more than the struct depends on it");
        }
    }
    let mut params = HashSet::new();
    header.params.retain(|param| {
        let name = &param.name;
        let text = if name == "platform" {
            "`platform` is the first parameter of every graph, and is there already; remove this \
             one"
            .to_owned()
        } else if !params.insert(name.to_string()) {
            format!("parameter `{name}` is declared twice")
        } else {
            return true;
        };
        errors.at(name, text);
        false
    });
}

fn node(statement: NodeStatement, errors: &mut Errors) -> Node {
    let NodeStatement { attributes, name, ty, value } = statement;
    let NodeAttributes { docs, streams, count, stream_done } =
        attribute::of_node(attributes, errors);
    Node { docs, name, ty, value, streams, count, stream_done, has_methods: true }
}

/// The struct's methods are named after its nodes.
fn accessors(graph: &mut Graph, errors: &mut Errors) {
    let names: HashSet<String> = graph.nodes.iter().map(Node::text).collect();
    for node in &mut graph.nodes {
        let name = node.text();
        let text = if OF_GRAPH.contains(&name.as_str()) {
            format!("a node cannot be named `{name}`: the graph has that name for itself")
        } else if let Some(other) = name.strip_suffix("_mut").filter(|name| names.contains(*name)) {
            format!(
                "node `{name}` has the name of the method that lends node `{other}`; give one \
                 another name"
            )
        } else {
            continue;
        };
        errors.at(&node.name, text);
        node.has_methods = false;
    }
}

/// Beside a `compile_error!`, rustc does not tell which names it can't find.
fn unknown_nodes(graph: &Graph, errors: &mut Errors) {
    let nodes: Vec<String> = graph.nodes.iter().map(Node::text).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    for name in &graph.unknown_nodes {
        let hint = match similar(&name.to_string(), &nodes) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("declare it: `let {name}: Operator = …;`"),
        };
        errors.at(name, format!("there is no node `{name}` in this graph; {hint}"));
    }
}

fn connect(statement: EdgeStatement, names: &Names, graph: &mut Graph, errors: &mut Errors) {
    let EdgeStatement { attributes, from, arrow, to } = statement;
    let options = edge_attribute::of_edge(&attributes, errors);
    // Whether the port's node is there, as far as can be said here.
    let mut is_there = |port: &Port| {
        let node = port.node.to_string();
        if names.without_type.contains(&node) {
            return false;
        }
        if !names.all.contains(&node) {
            if graph.header.params.iter().any(|param| param.name == port.node)
                || port.node == "platform"
            {
                errors.at(&port.node, format!("`{node}` is a parameter of this graph, not a node"));
                return false;
            }
            graph.unknown_nodes.push(port.node.clone());
        }
        true
    };
    let from_is_there = is_there(&from);
    let (ports, in_group) = match to {
        Target::Discard(underscore) => {
            // What is about a queue has none here.
            for attribute in &attributes {
                let name = attribute.path().get_ident().map(ToString::to_string);
                let name = name.unwrap_or_default();
                if edge_attribute::KNOWN.contains(&name.as_str()) {
                    let text = match name.as_str() {
                        "copy" | "transfer" => {
                            format!("a discarded message is not copied; remove `#[{name}]`")
                        }
                        _ => format!("a discarded message waits nowhere; remove `#[{name}]`"),
                    };
                    errors.at(attribute, text);
                }
            }
            if from_is_there {
                graph.discards.push(Discard { from, arrow, underscore });
            }
            return;
        }
        Target::One(port) => (vec![port], false),
        Target::Several(ports) => (ports, true),
    };
    for to in ports {
        if is_there(&to) && from_is_there {
            let from = from.clone();
            let attributes = options.clone();
            graph.edges.push(Edge { from, arrow, to, attributes, in_group, shared: false });
        }
    }
}

/// The copy is made on the consumer's device, which must be known.
fn transfers(graph: &Graph, errors: &mut Errors) {
    for edge in graph.edges.iter().filter(|edge| edge.attributes.carries == Carries::Transfer) {
        let consumer = graph.nodes.iter().find(|node| node.name == edge.to.node);
        if let Some(Node { streams: Streams::None, name, .. }) = consumer {
            let text = format!(
                "`#[transfer]` copies to the device of `{name}`, but `{name}` is marked \
                 `#[streams(none)]`: it works where its message is; name a pool there"
            );
            errors.at(edge.blamed(), text);
        }
    }
}

/// No edge twice; an output has consumers, or is discarded. How many producers an input has, its type
/// decides: see `constants::of_edges`.
fn ends(graph: &mut Graph, errors: &mut Errors) {
    let mut there: HashSet<(String, String)> = HashSet::new();
    let mut consumers: HashMap<String, usize> = HashMap::new();
    for edge in &graph.edges {
        let (output, input) = (edge.from.text(), edge.to.text());
        *consumers.entry(output.clone()).or_default() +=
            usize::from(edge.attributes.carries == Carries::Itself);
        if there.contains(&(output.clone(), input.clone())) {
            let text = format!("this edge is there already; `{output}` feeds `{input}` once");
            errors.at(edge.blamed(), text);
        }
        there.insert((output, input));
    }
    for edge in &mut graph.edges {
        edge.shared = consumers.get(&edge.from.text()).is_some_and(|&count| count > 1);
    }
    let mut discarded = HashSet::new();
    for discard in &graph.discards {
        let output = discard.from.text();
        if consumers.contains_key(&output) {
            errors.at(
                discard.blamed(),
                format!("`{output}` has a consumer, so it is not discarded; remove this line"),
            );
        } else if !discarded.insert(output.clone()) {
            errors.at(discard.blamed(), format!("`{output}` is discarded already"));
        }
    }
}

fn order(graph: &mut Graph, errors: &mut Errors) {
    let index = |port: &Port| graph.nodes.iter().position(|node| node.name == port.node);
    // Edges of unknown nodes decide nothing, and what comes in the next tick waits for nobody.
    let known: Vec<(usize, (usize, usize))> = graph
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| !edge.attributes.next_tick)
        .filter_map(|(at, edge)| Some((at, (index(&edge.from)?, index(&edge.to)?))))
        .collect();
    let pairs: Vec<(usize, usize)> = known.iter().map(|&(_, pair)| pair).collect();
    let (order, cycles) = toposort::order(graph.nodes.len(), &pairs);
    for Cycle { edge, path } in cycles {
        let path: Vec<String> = path.into_iter().map(|node| graph.nodes[node].text()).collect();
        let path = path.join(" -> ");
        errors.at(
            graph.edges[known[edge].0].blamed(),
            format!(
                "this edge closes a cycle: {path}\neach of these operators would wait for the \
                 others; mark the edge whose message is for the next tick: \
                 `#[feedback(initial = …)]`"
            ),
        );
    }
    graph.order = order;
}
