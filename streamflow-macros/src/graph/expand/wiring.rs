//! Writes the edges as calls of functions whose bounds check the edge. rustc underlines a mistake where the user wrote the edge.
//!
//! The calls repeat the user's tokens `a.out`. They compile because the code of `bind_ports` binds the name `a` to the ports of
//! that node.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt;

use super::chunk;
use super::functions::{Argument, Function};
use super::idents::{self, first_message, hygienic, hygienic_platform};
use super::paths::{parenthesized, private_call};
use crate::expression::evaluate;
use crate::graph::conditions::{Condition, ConditionKind};
use crate::graph::index::{Index, Loop, Place};
use crate::graph::model::{Discard, Edge, Graph, Node};
use crate::graph::parts::{Carries, EdgeAttributes, Policy, Port, Streams};
use crate::graph::spans::{Underline, first_and_last};

/// A statement of the expansion that connects or checks ports.
struct Statement {
    tokens: TokenStream,
    /// The indices of the nodes that the ports belong to. `None` if one of the nodes is unknown, which rustc reports.
    nodes: Option<Vec<usize>>,
    /// Whether the statement uses values of `new` other than nodes, or has a `?`.
    has_values: bool,
}

/// Writes all edges, discards and conditions, in this order. The edges keep the order of the user's statements, since an input
/// with several producers reads their messages in the order of its edges.
pub(super) fn connect_edges(graph: &Graph) -> TokenStream {
    let edges: Vec<(usize, &Edge)> = graph.edges.iter().enumerate().collect();
    let is_one = |(_, a): &(usize, &Edge), (_, b): &(usize, &Edge)| match (&a.around, &b.around) {
        (Some(one), Some(other)) => one.id == other.id,
        _ => false,
    };
    // The edges of a loop are one statement, so each turn connects all of them.
    let edges = edges.chunk_by(is_one).map(|edges| {
        let has_values = edges.iter().any(|(_, edge)| {
            let EdgeAttributes { capacity, policy, initial, .. } = &edge.attributes;
            let is_transfer = edge.attributes.carries == Carries::Transfer;
            is_transfer || capacity.is_some() || policy.is_some() || initial.is_some()
        });
        let nodes = edges.iter().map(|(_, edge)| indices(graph, &[&edge.output, &edge.input]));
        let nodes: Option<Vec<Vec<usize>>> = nodes.collect();
        let tokens = edges.iter().map(|(index, edge)| connect_edge(graph, *index, edge));
        let around = edges.first().and_then(|(_, edge)| edge.around.as_ref());
        let tokens = in_loop(around, tokens.collect());
        Statement { tokens, nodes: nodes.map(|nodes| nodes.concat()), has_values }
    });
    let discards = graph.discards.iter().map(|discard| {
        let nodes = indices(graph, &[&discard.output]);
        Statement { tokens: discard_output(discard), nodes, has_values: false }
    });
    let conditions = graph.nodes.iter().enumerate().flat_map(|(index, node)| {
        let nodes = Some(vec![index]);
        let checks = check_condition_ports(node).into_iter();
        checks.map(move |tokens| Statement { tokens, nodes: nodes.clone(), has_values: false })
    });
    let all: Vec<Statement> = edges.chain(discards).chain(conditions).collect();
    let runs = all.chunk_by(|a, b| is_in_function(a) == is_in_function(b));
    let runs = runs.flat_map(|run| run.chunks(chunk::SIZE)).enumerate();
    let runs = runs.map(|(index, run)| run_statements(graph, index, run));
    quote! {
        #[allow(
            unused, clippy::all, clippy::pedantic, clippy::arithmetic_side_effects,
            clippy::indexing_slicing
        )]
        {
            #(#runs)*
        }
    }
}

/// Returns the indices of the nodes of these ports. Returns `None` if one of the nodes is unknown.
fn indices(graph: &Graph, ports: &[&Port]) -> Option<Vec<usize>> {
    ports.iter().map(|port| graph.nodes.index_of(port)).collect()
}

fn is_in_function(statement: &Statement) -> bool {
    statement.nodes.is_some() && !statement.has_values
}

/// Writes code that runs a few statements: in a function whose arguments are the chunks of their nodes, or in a closure if a
/// statement needs other values of `new`.
fn run_statements(graph: &Graph, index: usize, statements: &[Statement]) -> TokenStream {
    let tokens = statements.iter().map(|statement| &statement.tokens);
    let nodes: Option<Vec<&[usize]>> =
        statements.iter().map(|statement| statement.nodes.as_deref()).collect();
    let nodes: BTreeSet<usize> = match nodes {
        Some(nodes) => nodes.into_iter().flatten().copied().collect(),
        // All nodes are bound if one is unknown, so that rustc can propose a similar name for the unknown one.
        None => (0..graph.nodes.len()).collect(),
    };
    let bound = bind_ports(graph, nodes.iter().copied());
    let body = quote!(#bound #(#tokens)*);
    if !statements.iter().all(is_in_function) {
        return chunk::run_in_closure(&body);
    }
    let generics = &graph.header.generics;
    let (_, arguments, _) = generics.split_for_impl();
    let chunks: BTreeSet<usize> = nodes.into_iter().map(|node| node / chunk::SIZE).collect();
    let arguments = chunks.into_iter().map(|chunk| {
        let (nodes, holder) = (hygienic("nodes", chunk), hygienic("Nodes", chunk));
        Argument::new(nodes.clone(), quote!(&mut #holder #arguments), nodes.to_token_stream())
    });
    let inside = graph.has_ports().then(|| {
        let (name, ty) = (idents::inside(), quote!(::streamflow::__private::Inside<'_>));
        Argument::new(name.clone(), ty, name.to_token_stream())
    });
    let function = Function {
        name: hygienic("connect", index),
        arguments: arguments.chain(inside).collect(),
        returns: quote!(()),
        body,
    };
    let (define, call) = (function.define(generics), function.call(generics));
    quote!(#define #call;)
}

/// Writes `let mut a = ports(a);` for each of these nodes. With this binding, the `a.out` of an edge means the field `out` of the
/// node's ports.
fn bind_ports(graph: &Graph, nodes: impl Iterator<Item = usize>) -> TokenStream {
    let mut by_chunk: BTreeMap<usize, Vec<&Node>> = BTreeMap::new();
    for index in nodes {
        by_chunk.entry(index / chunk::SIZE).or_default().push(&graph.nodes[index]);
    }
    let chunks = by_chunk.into_iter().map(|(chunk, nodes)| {
        let (holder, made) = (hygienic("Nodes", chunk), hygienic("nodes", chunk));
        let fields = nodes.iter().map(|node| idents::field(node));
        let ports = nodes.iter().map(|node| bind_node(graph, node));
        quote! {
            let #holder { #(#fields,)* .. } = &mut *#made;
            #(#ports)*
        }
    });
    chunks.collect()
}

/// Writes `let mut a = ports(a);` for a node. The ports of an array become a slice, since rustc lends two elements of a slice, as
/// `a[i].out` and `a[i + 1].in`, at once.
fn bind_node(graph: &Graph, node: &Node) -> TokenStream {
    let (name, ports) = (&node.name, ports_of(graph, node));
    let as_slice = node.element().map(|_| quote!(let #name = &mut #name[..];));
    quote!(let mut #name = #ports; #as_slice)
}

/// Writes `ports(a)`, the ports of a node, or the list of those of an array. The ports of a type parameter are those of its interface.
pub(super) fn ports_of(graph: &Graph, node: &Node) -> TokenStream {
    let field = idents::field(node);
    let (ty, span) = (node.element().unwrap_or(&node.ty), field.span());
    match (graph.header.is_param(ty), node.element()) {
        (false, _) => quote_spanned!(span=> ::streamflow::__private::ports(#field)),
        (true, None) => {
            quote_spanned!(span=> <#ty>::interface(#field, ::streamflow::__private::Wiring))
        }
        (true, Some(_)) => {
            let each = quote_spanned!(span=> |__node| <#ty>::interface(__node, ::streamflow::__private::Wiring));
            quote_spanned!(span=> #field.iter_mut().map(#each).collect::<::std::vec::Vec<_>>())
        }
    }
}

fn connect_edge(graph: &Graph, index: usize, edge: &Edge) -> TokenStream {
    let underline = edge.underline();
    let Underline { middle, .. } = underline;
    let function = match edge.attributes.carries {
        Carries::Copy => "connect_copy",
        Carries::Transfer => "connect_transfer",
        Carries::Message if edge.is_shared => "connect_shared",
        Carries::Message => "connect",
    };
    let function = Ident::new(function, middle);
    let (output, input) = (borrow_port(&edge.output), borrow_port(&edge.input));
    let options = edge_options(graph, index, edge);
    let mut ports =
        private_call(underline, "edge", quote_spanned!(middle=> #output, #input, #options));
    if edge.attributes.carries == Carries::Transfer {
        let device = device_of(graph, &edge.input);
        ports.extend(quote_spanned!(middle=> , #device));
    }
    let args = parenthesized(middle, ports);
    let begin =
        edge.attributes.initial.as_ref().map(|value| send_first_message(index, &edge.input, value));
    quote_spanned!(middle=> ::streamflow::__private::#function #args; #begin)
}

/// Repeats a statement in the turns of the user's loop, if it is in one.
pub(super) fn in_loop(around: Option<&Loop>, statement: TokenStream) -> TokenStream {
    let Some(Loop { keyword, variable, start, end, .. }) = around else { return statement };
    let head = quote_spanned!(*keyword=> for #variable in (#start)..(#end));
    quote!(#head { #statement })
}

/// Writes the name of an end of an edge as a value that implements `Display`. In a loop it has the indices of the turn.
fn name_of_end(port: &Port) -> TokenStream {
    if is_literal(port) {
        return port.to_string().into_token_stream();
    }
    let Port { node, index, name, element, .. } = port;
    let [of_node, of_port] = [index, element].map(|index| match index {
        Some(_) => "[{}]",
        None => "",
    });
    let text = format!("{}{of_node}.{}{of_port}", node.unraw(), name.unraw());
    let indices = port.indices().map(|index| &index.written);
    quote!(::core::format_args!(#text, #(#indices),*))
}

/// Whether all indices of a port are numbers.
fn is_literal(port: &Port) -> bool {
    port.indices().all(|index| matches!(index.place, Place::At(_)))
}

/// Writes the call that sends the first message of a feedback edge to its consumer. rustc reports a mistake in it at the user's
/// expression.
fn send_first_message(index: usize, input: &Port, value: &Expr) -> TokenStream {
    let underline = Underline::all(value);
    let first = underline.first;
    let with_first_span = |ident: &Ident| {
        let mut ident = ident.clone();
        ident.set_span(ident.span().located_at(first));
        ident
    };
    let (node, port) = (with_first_span(&input.node), with_first_span(&input.name));
    let (message, platform) = (first_message(index, first), with_first_span(&hygienic_platform()));
    let at = &input.index;
    let input = at_element(quote_spanned!(first=> &mut #node #at.#port), input.element.as_deref());
    let args = quote_spanned!(first=> #input, #message, #platform);
    let (call, evaluated) = (private_call(underline, "begin", args), hygienic("initial", index));
    quote_spanned!(first=> let #message = #evaluated; #call?;)
}

/// Writes the edge's name and the options of its queue.
fn edge_options(graph: &Graph, index: usize, edge: &Edge) -> TokenStream {
    let EdgeAttributes { capacity, policy, initial, .. } = &edge.attributes;
    let is_literal = is_literal(&edge.output) && is_literal(&edge.input);
    let (output, input) = (name_of_end(&edge.output), name_of_end(&edge.input));
    let text = if graph.has_ports() {
        let inside = idents::inside();
        quote!(#inside.edge(&#output, &#input))
    } else if is_literal {
        edge.to_string().into_token_stream()
    } else {
        quote!(::streamflow::__private::edge_name(&#output, &#input))
    };
    if capacity.is_none() && policy.is_none() && initial.is_none() {
        return quote!(::streamflow::__private::EdgeOptions::plain(#text));
    }
    let capacity = match capacity {
        Some(_) => hygienic("capacity", index).to_token_stream(),
        None => quote!(1),
    };
    let policy = match policy {
        None => quote!(BackPressure),
        Some(Policy::Pop) => quote!(Pop),
        Some(Policy::Reject) => quote!(Reject),
        Some(Policy::Fault) => quote!(Fault),
    };
    let feedback = initial.as_ref().map(|_| quote!(.feedback()));
    quote! {
        ::streamflow::__private::EdgeOptions::new(
            #text,
            #capacity,
            ::streamflow::__private::QueuePolicy::#policy,
        )? #feedback
    }
}

/// Returns an expression for the device of an input's node, for an edge that copies to that device.
fn device_of(graph: &Graph, input: &Port) -> TokenStream {
    match graph.nodes.node_of(input).map(|node| &node.attributes.streams) {
        Some(Streams::Pool(pool)) => quote!(#pool.get_device()),
        _ if graph.header.green_contexts.is_some() => {
            let green = idents::green();
            quote!(#green.get_device())
        }
        _ => quote!(::streamflow::__private::device(0)),
    }
}

/// Writes code that evaluates the user's expressions in the attributes of edges. This code comes before that of `bind_ports`,
/// since the bindings may shadow a parameter.
pub(super) fn evaluate_options(graph: &Graph) -> TokenStream {
    let value = |(index, edge): (usize, &Edge)| {
        let EdgeAttributes { capacity, initial, .. } = &edge.attributes;
        let capacity = capacity.as_ref().map(|number| {
            let name = hygienic("capacity", index);
            let (first, _) = first_and_last(number);
            let number = evaluate(number, quote_spanned!(first=> ::core::primitive::usize));
            quote!(let #name = #number;)
        });
        let initial = initial.as_ref().map(|value| {
            let (name, value) = (hygienic("initial", index), evaluate(value, quote!(_)));
            quote!(let #name = #value;)
        });
        quote!(#capacity #initial)
    };
    graph.edges.iter().enumerate().map(value).collect()
}

fn discard_output(discard: &Discard) -> TokenStream {
    let underline = discard.underline();
    let output = borrow_port(&discard.output);
    let call = private_call(underline, "discard", output);
    in_loop(discard.around.as_ref(), quote_spanned!(underline.middle=> #call;))
}

/// Writes the checks of the ports that the conditions of a node name.
fn check_condition_ports(node: &Node) -> Vec<TokenStream> {
    let mut checks = Vec::new();
    for condition in node.attributes.conditions.iter().flat_map(Condition::each) {
        let function = match &condition.kind {
            ConditionKind::Room(output) => {
                checks.push(check_condition_port("when_room", node, output));
                continue;
            }
            ConditionKind::StreamDone(_) => "when_stream_done",
            _ => "when_message",
        };
        let inputs = condition.inputs().iter();
        checks.extend(inputs.map(|input| check_condition_port(function, node, input)));
    }
    checks
}

/// Writes the check of a port that a condition names. The attribute does not repeat the node's name, so only the name of the port
/// is underlined.
fn check_condition_port(function: &str, node: &Node, port: &Ident) -> TokenStream {
    let span = port.span();
    let index = node.element().map(|_| quote!([0]));
    let mut node = node.name.clone();
    node.set_span(span.resolved_at(node.span()));
    let argument = quote_spanned!(span=> &mut #node #index.#port);
    let call = private_call(Underline::one(span), function, argument);
    quote_spanned!(span=> #call;)
}

/// Writes `&mut node.port`, or an element of an array of ports, with the spans of the user's tokens.
pub(super) fn borrow_port(port: &Port) -> TokenStream {
    let Port { node, index, dot, name, element } = port;
    let first = node.span();
    let lead = quote_spanned!(first=> &mut);
    at_element(quote!(#lead #node #index #dot #name), element.as_deref())
}

/// Writes `element(ports, index)` for an element of an array of ports. Without an index, the tokens stay as they are.
pub(super) fn at_element(ports: TokenStream, index: Option<&Index>) -> TokenStream {
    let Some(Index { written, .. }) = index else { return ports };
    // The call has the spans of the ports: if these are no array, rustc reports that at both, and prints equal reports once.
    private_call(Underline::all(&ports), "element", quote!(#ports, #written))
}
