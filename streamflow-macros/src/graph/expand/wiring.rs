//! The edges, as calls whose bounds check them, underlined where the user wrote the edge.
//!
//! The calls repeat the user's `a.out`, which resolves because `Chunk::borrow_ports` has bound the name `a` to the
//! ports of the node.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::chunk;
use super::idents::{first_message, hygienic, hygienic_platform};
use super::paths::{parenthesized, private_call};
use crate::graph::conditions::{Condition, ConditionKind};
use crate::graph::model::{Discard, Edge, Graph, Node};
use crate::graph::parts::{Carries, EdgeAttributes, PartialPort, Policy, Port, Streams};
use crate::graph::spans::{Underline, first_and_last};

/// All edges, discards and conditions.
pub(super) fn connect_edges(graph: &Graph) -> TokenStream {
    let completions = graph.completions.iter().map(complete_port);
    let edges =
        graph.edges.iter().enumerate().map(|(index, edge)| connect_edge(graph, index, edge));
    let discards = graph.discards.iter().map(discard_output);
    let conditions = graph.nodes.iter().flat_map(check_condition_ports);
    let all: Vec<TokenStream> = edges.chain(discards).chain(conditions).collect();
    let all = chunk::run_in_chunks(&all);
    quote! {
        #[allow(unused, unexpected_cfgs, clippy::all)]
        {
            #(#completions)*
            #all
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
    let options = edge_options(index, edge);
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

/// Gives a feedback edge's consumer its first message. A mistake in it is reported at the user's expression.
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
    let args = quote_spanned!(first=> &mut #node.#port, #message, #platform);
    let call = private_call(underline, "begin", args);
    quote_spanned!(first=> #call?;)
}

/// The edge's name and queue.
fn edge_options(index: usize, edge: &Edge) -> TokenStream {
    let EdgeAttributes { capacity, policy, initial, .. } = &edge.attributes;
    let text = edge.to_string();
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
            ::streamflow::__private::Policy::#policy,
        )? #feedback
    }
}

/// The device of an input's node, for an edge that copies there.
fn device_of(graph: &Graph, input: &Port) -> TokenStream {
    match graph.nodes.node_of(input).map(|node| &node.attributes.streams) {
        Some(Streams::Pool(pool)) => quote!(#pool.get_device()),
        _ if graph.header.green_contexts.is_some() => quote!(__GREEN.get_device()),
        _ => quote!(::streamflow::__private::device(0)),
    }
}

/// Evaluates the user's expressions in the attributes of edges. This comes before `Chunk::borrow_ports`, whose bindings
/// may shadow a parameter.
pub(super) fn evaluate_options(graph: &Graph) -> TokenStream {
    let value = |(index, edge): (usize, &Edge)| {
        let EdgeAttributes { capacity, initial, .. } = &edge.attributes;
        let capacity = capacity.as_ref().map(|number| {
            let name = hygienic("capacity", index);
            let (first, _) = first_and_last(number);
            let ty = quote_spanned!(first=> ::core::primitive::usize);
            quote!(let #name: #ty = #number;)
        });
        let initial = initial.as_ref().map(|value| {
            let (first, _) = first_and_last(value);
            let name = first_message(index, first);
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
    quote_spanned!(underline.middle=> #call;)
}

/// Checks the ports that the conditions of a node name.
fn check_condition_ports(node: &Node) -> Vec<TokenStream> {
    let mut checks = Vec::new();
    for condition in node.attributes.conditions.iter().flat_map(Condition::each) {
        let function = match &condition.kind {
            ConditionKind::Room(output) => {
                checks.push(check_condition_port("when_room", &node.name, output));
                continue;
            }
            ConditionKind::StreamDone(_) => "when_stream_done",
            _ => "when_message",
        };
        let inputs = condition.inputs().iter();
        checks.extend(inputs.map(|input| check_condition_port(function, &node.name, input)));
    }
    checks
}

/// A port that a condition names. Its attribute does not repeat the node's name, so only the port's is underlined.
fn check_condition_port(function: &str, node: &Ident, port: &Ident) -> TokenStream {
    let span = port.span();
    let mut node = node.clone();
    node.set_span(span.resolved_at(node.span()));
    let argument = quote_spanned!(span=> &mut #node.#port);
    let call = private_call(Underline::one(span), function, argument);
    quote_spanned!(span=> #call;)
}

/// `&mut node.port`
fn borrow_port(port: &Port) -> TokenStream {
    let Port { node, dot, name } = port;
    let first = node.span();
    let lead = quote_spanned!(first=> &mut);
    quote!(#lead #node #dot #name)
}

/// Writes the expression `node.port` with the tokens of a port that an edge names, perhaps not written to its end. In
/// this expression, an editor finds the user's tokens and completes them. rustc does not see it.
fn complete_port(partial: &PartialPort) -> TokenStream {
    let PartialPort { node, dot, name } = partial;
    let access = dot.as_ref().map(|dot| {
        let missing = Ident::new("__port", dot.span());
        let name = name.as_ref().unwrap_or(&missing);
        quote!(#dot #name)
    });
    quote! {
        #[cfg(rust_analyzer)]
        {
            let _ = &#node #access;
        }
    }
}
