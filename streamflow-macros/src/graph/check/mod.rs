//! What can be decided from names alone.

mod nodes;
pub(super) mod pools;
mod toposort;

use std::collections::{HashMap, HashSet};

use syn::ext::IdentExt;

use self::nodes::{Names, accessors, as_declared, declared, hides_operator, unknown_nodes};
use self::toposort::Cycle;
use crate::diagnostic::Errors;
use crate::graph::model::{
    Carries, Discard, Draft, Edge, EdgeStatement, Graph, Header, Leftover, Node, NodeStatement,
    Port, Statement, Streams, Target,
};
use crate::graph::parse::edge_attributes;
use crate::graph::parse::node_attributes::{self, NodeAttributes};

/// The graph, as far as it can be expanded.
pub(super) fn graph(mut header: Header, statements: Vec<Statement>, errors: &mut Errors) -> Graph {
    self::header(&mut header, errors);
    let mut names = Names::default();
    let mut graph = Graph {
        header,
        pools: Vec::new(),
        nodes: Vec::new(),
        places: HashMap::new(),
        edges: Vec::new(),
        discards: Vec::new(),
        probes: Vec::new(),
        order: Vec::new(),
        leftovers: Vec::new(),
        unknown_nodes: Vec::new(),
        hides_operator: false,
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
                    names.without_type.insert(name.unraw().to_string());
                }
            }
        }
    }
    pools::not_nodes(&mut graph, &mut names.without_type, errors);
    hides_operator(&mut graph, errors);
    accessors(&mut graph, errors);
    pools::of_nodes(&mut graph, errors);
    pools::default_green(&mut graph, errors);
    graph.places =
        graph.nodes.iter().enumerate().map(|(place, node)| (node.text(), place)).collect();
    let declared = declared(&graph);
    for mut statement in edges {
        statement.ports_mut().for_each(|port| as_declared(port, &declared));
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

fn header(header: &mut Header, errors: &mut Errors) {
    header.green = node_attributes::of_graph(&mut header.attributes, errors);
    for attribute in &header.attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            errors
                .at(attribute, "`cfg` stands before `graph!`: more than the struct depends on it");
        }
    }
    header.attributes.retain(|attribute| {
        let of_node = ["streams", "when"].into_iter().find(|name| attribute.path().is_ident(name));
        if let Some(name) = of_node {
            let text = format!("`#[{name}]` is for nodes: put it on the node that it is about");
            errors.at(attribute, text);
        }
        of_node.is_none()
    });
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
        node_attributes::of_node(attributes, errors);
    Node { docs, name, ty, value, streams, count, stream_done, has_methods: true }
}

fn connect(statement: EdgeStatement, names: &Names, graph: &mut Graph, errors: &mut Errors) {
    let EdgeStatement { attributes, from, arrow, to } = statement;
    let options = edge_attributes::of_edge(&attributes, errors);
    // Whether the port's node is there, as far as can be said here.
    let mut is_there = |port: &Port| {
        let node = port.node.unraw().to_string();
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
                if edge_attributes::KNOWN.contains(&name.as_str()) {
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
        let consumer = graph.node_of(&edge.to);
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
/// decides: see `expand::assertions::of_edges`.
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
    let index = |port: &Port| graph.place_of(port);
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
