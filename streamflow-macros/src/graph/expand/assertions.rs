//! Checks that need the operators' types: assertions that fail to evaluate at the user's token.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;
use syn::ext::IdentExt;

use super::wiring;
use crate::graph::model::{Carries, Edge, Graph, Node, Pool, Port, Streams};

/// A port's name, as the operator tells it.
pub(super) fn text(port: &Ident) -> String {
    port.unraw().to_string()
}

/// Whether every input is connected and every output consumed.
pub(super) fn of_nodes(graph: &Graph) -> TokenStream {
    let mut ends: Vec<Ends> = graph.nodes.iter().map(|_| Ends::default()).collect();
    let discarded = graph.discards.iter().map(|discard| &discard.from);
    for port in graph.edges.iter().flat_map(|edge| [&edge.from, &edge.to]).chain(discarded) {
        if let Some(place) = graph.place_of(port) {
            ends[place].named.push(text(&port.port));
        }
    }
    for edge in &graph.edges {
        if let Some(place) = graph.place_of(&edge.to) {
            ends[place].count_producer(text(&edge.to.port));
        }
    }
    graph.nodes.iter().zip(ends).map(|(node, ends)| of_node(node, &ends)).collect()
}

/// What edges name of a node.
#[derive(Default)]
struct Ends {
    /// All ports, on either side: an edge the wrong way round is one mistake and not three.
    named: Vec<String>,
    /// For each input, how many edges lead to it.
    producers: Vec<(String, usize)>,
}

impl Ends {
    fn count_producer(&mut self, input: String) {
        match self.producers.iter_mut().find(|(other, _)| *other == input) {
            Some((_, count)) => *count += 1,
            None => self.producers.push((input, 1)),
        }
    }
}

fn of_node(node: &Node, Ends { named, producers }: &Ends) -> TokenStream {
    let (ty, name, span) = (&node.ty, node.text(), node.name.span());
    let [operator, inputs, outputs] = ["NAME", "INPUTS", "OUTPUTS"].map(|name| item(ty, name));
    let args = quote!(#name, #operator, #inputs, #outputs, &[#(#named,)*]);
    let check_inputs = call("check_inputs", &args, span, span);
    let check_outputs = call("check_outputs", &args, span, span);
    let producers = producers.iter().map(|(port, count)| quote!((#port, #count)));
    let args = quote!(#name, #inputs, &[#(#producers,)*]);
    let check_sizes = call("check_sizes", &args, span, span);
    quote! {
        const _: () = {
            #[allow(non_upper_case_globals)]
            const every_input_is_connected: () = #check_inputs;
            #[allow(non_upper_case_globals)]
            const every_output_is_consumed: () = #check_outputs;
            #[allow(non_upper_case_globals)]
            const every_size_is_met: () = #check_sizes;
        };
    }
}

/// Whether each pool has as many streams as the operators on it declare.
pub(super) fn of_pools(graph: &Graph) -> TokenStream {
    graph
        .pools
        .iter()
        .filter_map(|pool| {
            let nodes: Vec<&Node> = graph
                .nodes
                .iter()
                .filter(|node| matches!(&node.streams, Streams::Pool(name) if *name == pool.name))
                .collect();
            if nodes.is_empty() {
                return None;
            }
            let (lent, text) = (lent(pool), pool.name.to_string());
            let needs = nodes.iter().map(|node| {
                let (ty, name) = (&node.ty, node.text());
                let streams = item(ty, "STREAMS");
                quote!((#name, #streams))
            });
            let (first, last) = ends(pool.description.to_token_stream());
            let args = quote!(#text, #lent, &[#(#needs,)*]);
            let check = call("check_pool", &args, first, last);
            Some(quote! {
                const _: () = {
                    #[allow(non_upper_case_globals)]
                    const every_stream_has_a_place: () = #check;
                };
            })
        })
        .collect()
}

/// `&STREAMS`, underlined where the pool is declared: one of another type is told there.
pub(super) fn lent(pool: &Pool) -> TokenStream {
    let name = &pool.name;
    quote_spanned!(name.span()=> &#name)
}

/// Whether each operator on a pool has a use for it, underlined where the node names the pool.
pub(super) fn of_pool_uses(graph: &Graph) -> TokenStream {
    let on_pools = graph.nodes.iter().filter_map(|node| match &node.streams {
        Streams::Pool(pool) => Some((node, pool)),
        Streams::Default | Streams::None => None,
    });
    let checks = on_pools.map(|(node, pool)| {
        let (name, text, span) = (node.text(), pool.to_string(), pool.span());
        let [operator, streams, inputs, outputs] =
            ["NAME", "STREAMS", "INPUTS", "OUTPUTS"].map(|name| item(&node.ty, name));
        let args = quote!(#name, #operator, #text, #streams, [#inputs, #outputs]);
        let check = call("check_pool_use", &args, span, span);
        quote! {
            const _: () = {
                #[allow(non_upper_case_globals)]
                const its_operator_has_a_use_for_the_pool: () = #check;
            };
        }
    });
    checks.collect()
}

/// Whether each input has as many producers as its size says, and the ends of each edge that carries
/// device data are on one device, or on two where it is marked `#[transfer]`.
pub(super) fn of_edges(graph: &Graph) -> TokenStream {
    let devices = graph.edges.iter().filter_map(|edge| of_edge(graph, edge));
    let mut first: HashMap<String, String> = HashMap::new();
    let seconds = graph.edges.iter().filter_map(|edge| match first.entry(edge.to.text()) {
        Entry::Occupied(first) => of_second(graph, edge, first.get()),
        Entry::Vacant(none) => {
            none.insert(edge.from.text());
            None
        }
    });
    seconds.chain(devices).collect()
}

/// Whether the input of an edge may have the producers that it has before this edge; `other` is the first.
fn of_second(graph: &Graph, edge: &Edge, other: &str) -> Option<TokenStream> {
    let (input, node) = (edge.to.text(), graph.node_of(&edge.to)?);
    let (port, inputs) = (text(&edge.to.port), item(&node.ty, "INPUTS"));
    let [first, middle, last] = edge.spans();
    let args = quote!(#input, #inputs, #port, #other);
    let check = wiring::call(first, middle, last, "check_second", args);
    Some(quote! {
        const _: () = {
            #[allow(non_upper_case_globals)]
            const an_input_has_one_producer: () = #check;
        };
    })
}

/// Where both ends are on one pool, or on none, they are on one device.
fn of_edge(graph: &Graph, edge: &Edge) -> Option<TokenStream> {
    let (from, to) = (graph.node_of(&edge.from)?, graph.node_of(&edge.to)?);
    let transfer = edge.attributes.carries == Carries::Transfer;
    match (&from.streams, &to.streams) {
        // It works where its message is.
        (Streams::None, _) | (_, Streams::None) => return None,
        _ if transfer => {}
        (Streams::Default, Streams::Default) => return None,
        (Streams::Pool(one), Streams::Pool(other)) if one == other => return None,
        _ => {}
    }
    let (function, name) = if transfer {
        ("check_transfer", "both_ends_are_on_different_devices")
    } else {
        ("check_devices", "both_ends_are_on_one_device")
    };
    let from = end(graph, from, &edge.from, "OUTPUTS");
    let to = end(graph, to, &edge.to, "INPUTS");
    let [first, middle, last] = edge.spans();
    let check = wiring::call(first, middle, last, function, quote!(&#from, &#to));
    let name = Ident::new(name, Span::call_site());
    Some(quote! {
        const _: () = {
            #[allow(non_upper_case_globals)]
            const #name: () = #check;
        };
    })
}

/// One end of an edge, for `check_devices`.
fn end(graph: &Graph, node: &Node, port: &Port, ports: &str) -> TokenStream {
    let (name, port, ports) = (node.text(), text(&port.port), item(&node.ty, ports));
    let pool = match &node.streams {
        Streams::Pool(name) => graph.pools.iter().find(|pool| pool.name == *name),
        Streams::Default | Streams::None => None,
    };
    // With the declaration's place: what is wrong with the pool is said there.
    let has_green = graph.header.green.is_some() && matches!(node.streams, Streams::Default);
    let pool = match pool {
        Some(pool) => {
            let lent = lent(pool);
            quote!(::core::option::Option::Some(#lent))
        }
        None if has_green => quote!(::core::option::Option::Some(&__GREEN)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        ::streamflow::__private::EdgeEnd { node: #name, port: #port, ports: #ports, pool: #pool }
    }
}

/// The device of a node, for the edges that copy to it.
pub(super) fn device(graph: &Graph, port: &Port) -> TokenStream {
    match graph.node_of(port).map(|node| &node.streams) {
        Some(Streams::Pool(pool)) => quote!(#pool.get_device()),
        _ if graph.header.green.is_some() => quote!(__GREEN.get_device()),
        _ => quote!(::streamflow::__private::device(0)),
    }
}

/// How many streams all operators together declare: with one, and none that comes to light while running,
/// no stream ever waits for another.
pub(super) fn single_stream(graph: &Graph) -> TokenStream {
    let streams = graph
        .nodes
        .iter()
        .filter(|node| !matches!(node.streams, Streams::None))
        .map(|node| item(&node.ty, "STREAMS"));
    let single_stream = single_stream_name();
    quote! {
        const __DECLARED: usize = 0 #(+ #streams)*;
        let #single_stream = ::streamflow::__private::SingleStream::new(__DECLARED);
    }
}

/// What the nodes share, under a name that none of the user's hides.
pub(super) fn single_stream_name() -> Ident {
    Ident::new("__single_stream", Span::mixed_site())
}

/// A call of a function of ours that rustc underlines from one token of the user's to another.
fn call(function: &str, args: &TokenStream, first: Span, last: Span) -> TokenStream {
    let function = Ident::new(function, first);
    let path = quote_spanned!(first=> ::streamflow::__private::#function);
    let mut args = Group::new(Delimiter::Parenthesis, args.clone());
    args.set_span(last);
    let args = TokenTree::Group(args);
    quote!(#path #args)
}

/// An item of the type as an operator, underlined where the type stands: a type that is none is
/// reported there, in the same words each time, which rustc then prints once.
pub(super) fn item(ty: &Type, name: &str) -> TokenStream {
    let (first, last) = ends(ty.to_token_stream());
    let name = Ident::new(name, last);
    let lead = quote_spanned!(first=> <);
    let path = quote_spanned!(last=> as ::streamflow::__private::Operator>::#name);
    quote!(#lead #ty #path)
}

/// A call of such a function.
pub(super) fn item_call(ty: &Type, name: &str, args: TokenStream) -> TokenStream {
    let (function, (_, last)) = (item(ty, name), ends(ty.to_token_stream()));
    let mut args = Group::new(Delimiter::Parenthesis, args);
    args.set_span(last);
    quote!(#function #args)
}

/// The spans of the first and the last token.
pub(super) fn ends(tokens: TokenStream) -> (Span, Span) {
    let mut spans = tokens.into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}
