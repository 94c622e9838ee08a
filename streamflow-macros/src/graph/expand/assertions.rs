//! Writes the checks that need the operators' types. Each check is a constant, and rustc reports a failed evaluation at the
//! user's tokens.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use proc_macro2::TokenStream;
use quote::quote;

use super::assertion::{Assertions, assertion};
use super::idents::green;
use super::paths::{operator_item, pool_ref, private_call};
use super::{chunk, pools};
use crate::graph::conditions::{Condition, ConditionKind};
use crate::graph::index::Loop;
use crate::graph::model::{Border, Edge, Graph, Node};
use crate::graph::parts::{Carries, NodeAttributes, Port, Side, Streams, unraw_name};
use crate::graph::spans::Underline;
use crate::operator::PortOptions;

/// Returns the ports of each node that edges, discards and ports of the graph name.
pub(super) fn connected_ports(graph: &Graph) -> Vec<ConnectedPorts> {
    let mut ports: Vec<ConnectedPorts> =
        graph.nodes.iter().map(|_| ConnectedPorts::default()).collect();
    let mut name = |port: &Port, around: Option<&Loop>, surely: bool| {
        if let Some(index) = graph.nodes.index_of(port) {
            // A loop without turns is a mistake of its own, if its range has no parameter.
            let turns =
                around.filter(|around| graph.header.depends_in_range(around)).map(Loop::turns);
            let edges = turns.unwrap_or_else(|| quote!(1));
            ports[index].named.push(Naming { port: unraw_name(&port.name), edges, surely });
        }
    };
    for edge in &graph.edges {
        name(&edge.output, edge.around.as_ref(), true);
        name(&edge.input, edge.around.as_ref(), true);
    }
    for discard in &graph.discards {
        name(&discard.output, discard.around.as_ref(), true);
    }
    for (port, border) in graph.borders() {
        name(&border.inner, border.around.as_ref(), !port.options.optional);
    }
    let inputs = graph.edges.iter().map(|edge| (&edge.input, edge.around.as_ref()));
    let exported = graph.borders().filter(|(port, _)| port.side == Side::Input);
    let exported = exported.map(|(_, border)| (&border.inner, border.around.as_ref()));
    for (input, around) in inputs.chain(exported) {
        let Some(index) = graph.nodes.index_of(input) else { continue };
        if graph.nodes[index].element().is_none() {
            let edges = match around {
                Some(around) => around.turns(),
                None => quote!(1),
            };
            ports[index].count_producer(unraw_name(&input.name), &edges);
        }
    }
    ports
}

/// Writes the constant `NODES` with the ports of all nodes, and the checks that every required input has an edge, and that every output
/// is consumed or discarded.
///
/// The nodes of a graph with parameters that have none of these in their types and edges are in a list of their own, so that a
/// forgotten edge between two of them is found where the graph is declared.
pub(super) fn assert_nodes(graph: &Graph) -> (TokenStream, Assertions) {
    let ports = connected_ports(graph);
    let lists = graph.nodes.iter().zip(&ports).map(|(node, ports)| node_ports(node, ports));
    let lists: Vec<TokenStream> = lists.collect();
    let all = quote! {
        const NODES: &'static [::streamflow::__private::NodePorts] = &[#(#lists,)*];
    };
    let own = graph.header.own_type();
    let mut checks = Assertions::default();
    let (mut own_list, mut of_list) = (Vec::new(), TokenStream::new());
    for (index, (node, ports)) in graph.nodes.iter().zip(&ports).enumerate() {
        let is_apart = graph.header.is_generic() && !graph.header.depends(&lists[index]);
        let place = match is_apart {
            true => {
                own_list.push(&lists[index]);
                let index = own_list.len() - 1;
                quote!(__NODES, #index)
            }
            false => quote!(<#own as ::streamflow::__private::GraphPorts>::NODES, #index),
        };
        let Assertions { items, statements } = assert_node(graph, &place, node, ports);
        match is_apart {
            true => of_list.extend(items),
            false => checks.items.extend(items),
        }
        checks.statements.extend(statements);
    }
    if !own_list.is_empty() {
        checks.items.extend(quote! {
            const _: () = {
                const __NODES: &[::streamflow::__private::NodePorts] = &[#(#own_list,)*];
                #of_list
            };
        });
    }
    checks.extend([assert_parts(graph)]);
    (all, checks)
}

/// Writes the check that the checks of each node's type hold, for the arguments that it has here.
fn assert_parts(graph: &Graph) -> Assertions {
    let is_generic = |node: &&Node| graph.header.depends(&node.ty);
    let (generic, others): (Vec<&Node>, Vec<&Node>) = graph.nodes.iter().partition(is_generic);
    let parts = [others, generic].into_iter().filter(|nodes| !nodes.is_empty()).map(|nodes| {
        let parts = nodes.iter().map(|node| operator_item(&node.ty, "CHECKED"));
        assertion(graph, [("each_part_fits", quote!({ #(let () = #parts;)* }))])
    });
    parts.collect()
}

/// Writes the value `NodePorts { … }` of one node.
pub(super) fn node_ports(node: &Node, ports: &ConnectedPorts) -> TokenStream {
    let name = node.unraw_name();
    let [operator, inputs, outputs, is_graph] =
        ["NAME", "INPUTS", "OUTPUTS", "IS_GRAPH"].map(|name| operator_item(&node.ty, name));
    let runs_without_messages =
        node.attributes.conditions.iter().any(Condition::runs_without_messages);
    let named = ports.named.iter().map(|Naming { port, edges, surely }| {
        quote!(::streamflow::__private::Named { port: #port, edges: #edges, surely: #surely })
    });
    quote! {
        ::streamflow::__private::NodePorts {
            node: #name,
            operator: #operator,
            is_graph: #is_graph,
            inputs: #inputs,
            outputs: #outputs,
            named: &[#(#named,)*],
            runs_without_messages: #runs_without_messages,
        }
    }
}

/// The ports of one node that edges and discards name.
#[derive(Default)]
pub(super) struct ConnectedPorts {
    /// The node's ports that stand before or after a `>>`. An edge in the wrong direction thus counts for its input and its output, so
    /// these are not reported as unconnected too.
    named: Vec<Naming>,
    /// The number of edges that lead to each input.
    producers: Vec<(String, TokenStream)>,
}

/// A port of a node that an edge or a discard names: the value `Named { … }`.
struct Naming {
    port: String,
    edges: TokenStream,
    surely: bool,
}

impl ConnectedPorts {
    fn count_producer(&mut self, input: String, edges: &TokenStream) {
        match self.producers.iter_mut().find(|(other, _)| *other == input) {
            Some((_, count)) => count.extend(quote!(+ #edges)),
            None => self.producers.push((input, edges.clone())),
        }
    }
}

/// Writes the checks of the ports of the node at `place`, a list and an index.
fn assert_node(
    graph: &Graph,
    place: &TokenStream,
    node: &Node,
    ConnectedPorts { producers, .. }: &ConnectedPorts,
) -> Assertions {
    let (ty, name, underline) = (&node.ty, node.unraw_name(), Underline::one(node.name.span()));
    let inputs = operator_item(ty, "INPUTS");
    let check_inputs = private_call(underline, "check_inputs", place.clone());
    let check_outputs = private_call(underline, "check_outputs", place.clone());
    let producers = producers.iter().map(|(input, count)| quote!((#input, #count)));
    let args = quote!(#name, #inputs, &[#(#producers,)*]);
    let check_sizes = private_call(underline, "check_sizes", args);
    let checks = [
        ("every_input_is_connected", check_inputs),
        ("every_output_is_consumed", check_outputs),
        ("every_size_is_met", check_sizes),
    ];
    assertion(graph, checks)
}

/// Writes checks that the inputs inside have the options of the graph's input that leads to them. rustc underlines the edge.
pub(super) fn assert_borders(graph: &Graph) -> Assertions {
    let assertions = graph.borders().filter_map(|(port, border)| {
        let PortOptions { many, optional } = port.options;
        let node = graph.nodes.node_of(&border.inner).filter(|_| many || optional)?;
        let (own, inner, input) =
            (unraw_name(&port.name), border.inner.to_string(), unraw_name(&border.inner.name));
        let inputs = operator_item(&node.ty, "INPUTS");
        let is_same = |edge: &Edge| {
            let Port { node, name, .. } = &edge.input;
            let is_single = |port: &Port| port.indices().next().is_none();
            unraw_name(node) == unraw_name(&border.inner.node)
                && unraw_name(name) == input
                && (is_single(&edge.input) && is_single(&border.inner) && edge.around.is_none())
        };
        let has_others = graph.edges.iter().any(is_same);
        let args = quote!((#own, #many, #optional), #has_others, #inner, #inputs, #input);
        let check = private_call(border.underline(Side::Input), "check_border", args);
        Some(assertion(graph, [("the_input_inside_has_the_options", check)]))
    });
    assertions.collect()
}

/// Writes checks that no operator with `stays` is on a worker, since it must be on the thread of the run. rustc underlines a
/// mistake where the node names the worker.
pub(super) fn assert_workers(graph: &Graph) -> Assertions {
    let named =
        graph.nodes.iter().filter_map(|node| Some((node, node.attributes.worker.as_ref()?)));
    let assertions = named.map(|(node, worker)| {
        let (name, text) = (node.unraw_name(), unraw_name(worker));
        let [operator, is_graph, stays] =
            ["NAME", "IS_GRAPH", "STAYS"].map(|name| operator_item(&node.ty, name));
        let args = quote!(#name, (#operator, #is_graph), #text, #stays);
        let check = private_call(Underline::one(worker.span()), "check_worker", args);
        assertion(graph, [("its_operator_may_run_on_a_worker", check)])
    });
    assertions.collect()
}

/// Writes checks that each node with conditions, or with a policy for failures, is an operator and no graph. rustc underlines the
/// condition, or the name of the node for a policy.
pub(super) fn assert_single_nodes(graph: &Graph) -> Assertions {
    let nodes = graph.nodes.iter().flat_map(|node| {
        let NodeAttributes { count, conditions, on_failure, .. } = &node.attributes;
        let count = count.as_ref().map(|count| ("count".to_owned(), Underline::all(count)));
        let conditions =
            conditions.iter().map(|one| (one.kind.name().to_owned(), Underline::all(&one.written)));
        let policy = on_failure
            .as_ref()
            .map(|_| ("on_failure".to_owned(), Underline::one(node.name.span())));
        count.into_iter().chain(conditions).chain(policy).map(move |(what, at)| (node, what, at))
    });
    let assertions = nodes.map(|(node, what, underline)| {
        let name = node.unraw_name();
        let [ty_name, is_graph] = ["NAME", "IS_GRAPH"].map(|name| operator_item(&node.ty, name));
        let check =
            private_call(underline, "check_one_node", quote!(#name, #ty_name, #is_graph, #what));
        assertion(graph, [("it_is_of_one_node", check)])
    });
    assertions.collect()
}

/// Writes checks that no node in a cycle is a graph with a node that goes on after a failure.
pub(super) fn assert_policies(graph: &Graph) -> Assertions {
    let in_cycles = graph.in_cycles.iter().map(|&index| &graph.nodes[index]);
    let assertions = in_cycles.map(|node| {
        let name = node.unraw_name();
        let [ty_name, goes_on] = ["NAME", "GOES_ON"].map(|name| operator_item(&node.ty, name));
        let args = quote!(#name, #ty_name, #goes_on);
        let check = private_call(Underline::one(node.name.span()), "check_goes_on", args);
        assertion(graph, [("no_failure_is_skipped_in_the_cycle", check)])
    });
    assertions.collect()
}

/// Writes checks that each `host_done` names an input whose messages may have downloads.
pub(super) fn assert_conditions(graph: &Graph) -> Assertions {
    let each = graph.nodes.iter().flat_map(|node| {
        let conditions = &node.attributes.conditions;
        conditions.iter().flat_map(Condition::each).map(move |one| (node, one))
    });
    let assertions = each.filter_map(|(node, condition)| {
        let ConditionKind::HostDone(input) = &condition.kind else { return None };
        let (name, port) = (node.unraw_name(), unraw_name(input));
        let inputs = operator_item(&node.ty, "INPUTS");
        let args = quote!(#name, #inputs, #port);
        let check = private_call(Underline::one(input.span()), "check_host_done", args);
        Some(assertion(graph, [("its_messages_may_have_downloads", check)]))
    });
    assertions.collect()
}

/// Writes checks that each pool has as many streams as the operators of its nodes declare.
pub(super) fn assert_pools(graph: &Graph) -> Assertions {
    let constants = graph.pools.iter().filter(|pool| !pool.is_made_by_run);
    let used = constants.filter(|pool| graph.nodes_on(pool).next().is_some());
    let assertions = used.map(|pool| {
        let (pool_ref, text) = (pool_ref(pool), pool.name.to_string());
        let needs = pools::needs(graph, pool);
        let args = quote!(#text, #pool_ref, &[#needs]);
        let check = private_call(Underline::all(&pool.description), "check_pool", args);
        assertion(graph, [("every_stream_has_a_place", check)])
    });
    assertions.collect()
}

/// Writes checks that each operator of a node on a pool uses streams. rustc underlines a mistake where the node names the pool.
pub(super) fn assert_pool_uses(graph: &Graph) -> Assertions {
    let on_pools = graph.nodes.iter().filter_map(|node| match &node.attributes.streams {
        // The author of the graph does not know whether the operator of a type parameter has a use for the pool.
        Streams::Pool(_) if graph.header.is_param(node.element().unwrap_or(&node.ty)) => None,
        Streams::Pool(pool) => Some((node, pool)),
        Streams::OwnPool | Streams::Adopt => None,
    });
    let assertions = on_pools.map(|(node, pool)| {
        let (name, text) = (node.unraw_name(), pool.to_string());
        let [operator, is_graph, uses_pool] =
            ["NAME", "IS_GRAPH", "USES_POOL"].map(|name| operator_item(&node.ty, name));
        let args = quote!(#name, (#operator, #is_graph), #text, #uses_pool);
        let check = private_call(Underline::one(pool.span()), "check_pool_use", args);
        assertion(graph, [("its_operator_has_a_use_for_the_pool", check)])
    });
    assertions.collect()
}

/// Writes checks that no adopting node is a graph with pools. A pool inside is on the device of the node, and an adopting node has no
/// device.
pub(super) fn assert_adopting(graph: &Graph) -> Assertions {
    let adopting =
        graph.nodes.iter().filter(|node| matches!(node.attributes.streams, Streams::Adopt));
    let assertions = adopting.map(|node| {
        let name = node.unraw_name();
        let [ty_name, own] = ["NAME", "OWN_STREAMS"].map(|name| operator_item(&node.ty, name));
        let args = quote!(#name, #ty_name, #own);
        let check = private_call(Underline::one(node.name.span()), "check_adopting", args);
        assertion(graph, [("it_has_no_pool_inside", check)])
    });
    assertions.collect()
}

/// Writes checks that each input has no more edges than its size allows, and that each edge with device data connects nodes on
/// one device, or on two devices if it has `#[transfer]`.
pub(super) fn assert_edges(graph: &Graph) -> Assertions {
    let mut first_outputs: HashMap<String, String> = HashMap::new();
    // `arrays::assert_arrays` checks the inputs with an index.
    let single = graph.edges.iter().filter(|edge| edge.input.indices().next().is_none());
    let of_edges = single.map(|edge| (&edge.input, edge.output.to_string(), edge.underline()));
    let is_single = |border: &Border| border.inner.indices().next().is_none();
    let inputs =
        graph.borders().filter(|(port, border)| port.side == Side::Input && is_single(border));
    let of_ports = inputs.map(|(port, border)| {
        (&border.inner, unraw_name(&port.name), border.underline(Side::Input))
    });
    let producers = of_edges.chain(of_ports).filter_map(|(input, output, underline)| {
        match first_outputs.entry(input.to_string()) {
            Entry::Occupied(first) => assert_single_producer(graph, input, underline, first.get()),
            Entry::Vacant(none) => {
                none.insert(output);
                None
            }
        }
    });
    let devices = graph.edges.iter().filter_map(|edge| assert_devices(graph, edge));
    producers.chain(devices).collect()
}

/// Writes the check that an input may have several producers, since `first_output` feeds it already.
fn assert_single_producer(
    graph: &Graph,
    input: &Port,
    underline: Underline,
    first_output: &str,
) -> Option<Assertions> {
    let (text, node) = (input.to_string(), graph.nodes.node_of(input)?);
    let (input, inputs) = (unraw_name(&input.name), operator_item(&node.ty, "INPUTS"));
    let args = quote!(#text, #inputs, #input, #first_output);
    let check = private_call(underline, "check_second", args);
    Some(assertion(graph, [("an_input_has_one_producer", check)]))
}

/// Writes the check that the two nodes of this edge are on one device, or on two devices if the edge has `#[transfer]`.
fn assert_devices(graph: &Graph, edge: &Edge) -> Option<Assertions> {
    let (producer, consumer) =
        (graph.nodes.node_of(&edge.output)?, graph.nodes.node_of(&edge.input)?);
    let is_transfer = edge.attributes.carries == Carries::Transfer;
    match (&producer.attributes.streams, &consumer.attributes.streams) {
        // An adopting node works on the device of its message, so an edge from or to it has no second device to compare.
        (Streams::Adopt, _) | (_, Streams::Adopt) => return None,
        _ if is_transfer => {}
        // Two nodes without `#[streams]` are on the same device: device 0, or the device of the graph's green contexts.
        (Streams::OwnPool, Streams::OwnPool) => return None,
        // Two nodes on the same pool are on the same device.
        (Streams::Pool(one), Streams::Pool(other)) if one == other => return None,
        _ => {}
    }
    if pools::has_device_of_run(graph, producer) || pools::has_device_of_run(graph, consumer) {
        // The devices are known only in `new`, where the code from `verify_edges` checks this edge.
        return None;
    }
    let (function, name) = if is_transfer {
        ("check_transfer", "both_ends_are_on_different_devices")
    } else {
        ("check_devices", "both_ends_are_on_one_device")
    };
    let output = edge_end(graph, producer, &edge.output, "OUTPUTS");
    let input = edge_end(graph, consumer, &edge.input, "INPUTS");
    let check = private_call(edge.underline(), function, quote!(&#output, &#input));
    Some(assertion(graph, [(name, check)]))
}

/// Writes checks in `new` for edges whose nodes have devices that are known only at run time. A `#[transfer]` between two such
/// nodes may lead to the same device, since the graph may be deployed on one device or on several.
pub(super) fn verify_edges(graph: &Graph) -> TokenStream {
    let checks = graph.edges.iter().filter_map(|edge| {
        let (producer, consumer) =
            (graph.nodes.node_of(&edge.output)?, graph.nodes.node_of(&edge.input)?);
        let of_run = |node| pools::has_device_of_run(graph, node);
        match (&producer.attributes.streams, &consumer.attributes.streams) {
            (Streams::Adopt, _) | (_, Streams::Adopt) => return None,
            (Streams::Pool(one), Streams::Pool(other)) if one == other => return None,
            (Streams::OwnPool, Streams::OwnPool) => return None,
            _ if edge.attributes.carries == Carries::Transfer => return None,
            _ if of_run(producer) || of_run(consumer) => {}
            _ => return None,
        }
        let output = edge_end(graph, producer, &edge.output, "OUTPUTS");
        let input = edge_end(graph, consumer, &edge.input, "INPUTS");
        Some(quote!(::streamflow::__private::verify_devices(&#output, &#input)?;))
    });
    chunk::run_in_chunks(&checks.collect::<Vec<_>>())
}

/// Writes the value `EdgeEnd { … }` for one node of an edge.
fn edge_end(graph: &Graph, node: &Node, port: &Port, ports: &str) -> TokenStream {
    let (name, port, ports) =
        (node.unraw_name(), unraw_name(&port.name), operator_item(&node.ty, ports));
    let has_green_contexts = graph.header.green_contexts.is_some();
    let has_own_pool = matches!(node.attributes.streams, Streams::OwnPool);
    let pool = match graph.pools.iter().find(|pool| node.is_on(pool)) {
        Some(pool) => {
            let pool_ref = pool_ref(pool);
            quote!(::core::option::Option::Some(#pool_ref))
        }
        None if has_green_contexts && has_own_pool => {
            let green = green();
            quote!(::core::option::Option::Some(&#green))
        }
        None => quote!(::core::option::Option::None),
    };
    quote! {
        ::streamflow::__private::EdgeEnd { node: #name, port: #port, ports: #ports, pool: #pool }
    }
}
