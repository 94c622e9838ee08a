//! Checks that need the operators' types: constants that fail to evaluate at the user's token.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;

use super::model::{Graph, Node, Streams};

/// A port's name, as the operator tells it.
pub(super) fn text(port: &Ident) -> String {
    port.unraw().to_string()
}

/// Whether every input is connected and every output consumed.
pub(super) fn of_nodes(graph: &Graph) -> TokenStream {
    graph.nodes.iter().map(|node| of_node(graph, node)).collect()
}

fn of_node(graph: &Graph, node: &Node) -> TokenStream {
    let (ty, name, span) = (&node.ty, node.text(), node.name.span());
    // All ports of this node that any edge names, on either side: an edge the wrong way round is one
    // mistake and not three.
    let ports = graph
        .edges
        .iter()
        .flat_map(|edge| [&edge.from, &edge.to])
        .chain(graph.discards.iter().map(|discard| &discard.from))
        .filter(|port| port.node == node.name)
        .map(|port| text(&port.port));
    let operator = quote!(<#ty as ::streamflow::__private::InGraph>);
    let args = quote! {
        #name, #operator::NAME, #operator::INPUTS, #operator::OUTPUTS, &[#(#ports,)*],
    };
    let inputs = call("check_inputs", &args, span, span);
    let outputs = call("check_outputs", &args, span, span);
    quote! {
        const _: () = {
            #[allow(non_upper_case_globals)]
            const every_input_is_connected: () = #inputs;
            #[allow(non_upper_case_globals)]
            const every_output_is_consumed: () = #outputs;
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
            let (name, text) = (&pool.name, pool.name.to_string());
            let needs = nodes.iter().map(|node| {
                let (ty, name) = (&node.ty, node.text());
                quote!((#name, <#ty as ::streamflow::__private::InGraph>::STREAMS))
            });
            let (first, last) = ends(pool.description.to_token_stream());
            let args = quote!(#text, &#name, &[#(#needs,)*]);
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

/// Whether all operators together have one stream, so that none ever waits for another.
pub(super) fn alone(graph: &Graph) -> TokenStream {
    let types = graph
        .nodes
        .iter()
        .filter(|node| !matches!(node.streams, Streams::None))
        .map(|node| &node.ty);
    quote! {
        const __ALONE: bool = 0 #(+ <#types as ::streamflow::__private::InGraph>::STREAMS)* <= 1;
    }
}

/// A call of a function of ours that rustc underlines from one token of the user's to another.
fn call(function: &str, args: &TokenStream, first: Span, last: Span) -> TokenStream {
    let function = Ident::new(function, first);
    let path = quote_spanned!(first=> ::streamflow::__private::#function);
    let mut args = Group::new(proc_macro2::Delimiter::Parenthesis, args.clone());
    args.set_span(last);
    let args = TokenTree::Group(args);
    quote!(#path #args)
}

/// The spans of the first and the last token.
pub(super) fn ends(tokens: TokenStream) -> (Span, Span) {
    let mut spans = tokens.into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}
