//! The edges, as calls that carry their bounds, underlined where the user wrote the edge.
//!
//! rustc underlines an expression from its first token to its last. So the first token of a call has
//! the span of the edge's first token, and its parentheses that of the last. All spans are the
//! user's as they are: then rustc does not mention the macro.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::assertions::{self, ends};
use super::chunk;
use super::hidden;
use crate::graph::model::{Carries, Discard, Edge, Graph, PartialPort, Port};
use crate::graph::parse::edge_attributes::{EdgeAttributes, Policy};

/// All edges, discards and conditions.
pub(super) fn wiring(graph: &Graph) -> TokenStream {
    let probes = graph.probes.iter().map(probe);
    let edges = graph.edges.iter().enumerate().map(|(index, edge)| self::edge(graph, index, edge));
    let discards = graph.discards.iter().map(discard);
    let conditions = graph
        .nodes
        .iter()
        .flat_map(|node| node.stream_done.iter().map(|port| stream_done(&node.name, port)));
    let all: Vec<TokenStream> = edges.chain(discards).chain(conditions).collect();
    let all = chunk::in_chunks(&all);
    quote! {
        #[allow(unused, unexpected_cfgs, clippy::all)]
        {
            #(#probes)*
            #all
        }
    }
}

fn edge(graph: &Graph, index: usize, edge: &Edge) -> TokenStream {
    let (from, to) = (&edge.from, &edge.to);
    let [first, middle, last] = edge.spans();
    let function = match edge.attributes.carries {
        Carries::Copy => "connect_copy",
        Carries::Transfer => "connect_transfer",
        Carries::Itself if edge.shared => "connect_shared",
        Carries::Itself => "connect",
    };
    let function = Ident::new(function, middle);
    let (output, input) = (port(from), port(to));
    let mut ports = call(first, middle, last, "edge", quote_spanned!(middle=> #output, #input));
    if let Some(options) = options(index, edge) {
        // Ends with the edge's last token, so that rustc still underlines the whole edge.
        let options = parenthesized(last, options);
        ports.extend(quote_spanned!(middle=> .with #options));
    }
    if edge.attributes.carries == Carries::Transfer {
        let (device, name) = (assertions::device(graph, to), edge.text());
        ports.extend(quote_spanned!(middle=> , #device, #name));
    }
    let args = parenthesized(middle, ports);
    let begin = edge.attributes.feedback.as_ref().map(|initial| begin(index, to, initial));
    quote_spanned!(middle=> ::streamflow::__private::#function #args; #begin)
}

/// The message with which a feedback edge's consumer begins; what is wrong with it is told there.
fn begin(index: usize, to: &Port, initial: &Expr) -> TokenStream {
    let (first, last) = ends(initial.to_token_stream());
    let at = |name: &Ident| {
        let mut name = name.clone();
        name.set_span(name.span().located_at(first));
        name
    };
    let (node, port) = (at(&to.node), at(&to.port));
    let (initial, platform) =
        (first_message(index, first), at(&Ident::new("__platform", Span::mixed_site())));
    let args = quote_spanned!(first=> &mut #node.#port, #initial, #platform);
    let call = call(first, first, last, "begin", args);
    quote_spanned!(first=> #call?;)
}

/// The variable of a feedback edge's first message. Its place is the user's as it is: then rustc does not
/// mention the macro.
fn first_message(index: usize, place: Span) -> Ident {
    format_ident!("__initial_{}", index, span = place)
}

/// What the edge's queue is, where it is not what it would be anyway.
fn options(index: usize, edge: &Edge) -> Option<TokenStream> {
    let EdgeAttributes { capacity, policy, feedback, .. } = &edge.attributes;
    if capacity.is_none() && policy.is_none() && feedback.is_none() {
        return None;
    }
    let text = edge.text();
    let capacity = match capacity {
        Some(_) => hidden("capacity", index).to_token_stream(),
        None => quote!(1),
    };
    let policy = match policy {
        None => quote!(BackPressure),
        Some(Policy::Pop) => quote!(Pop),
        Some(Policy::Reject) => quote!(Reject),
        Some(Policy::Fault) => quote!(Fault),
    };
    let feedback = feedback.as_ref().map(|_| quote!(.feedback()));
    Some(quote! {
        ::streamflow::__private::EdgeOptions::new(
            #text,
            #capacity,
            ::streamflow::__private::Policy::#policy,
        )? #feedback
    })
}

/// What the user wrote in the attributes of edges, evaluated where nodes hide no parameters yet.
pub(super) fn values(graph: &Graph) -> TokenStream {
    let value = |(index, edge): (usize, &Edge)| {
        let EdgeAttributes { capacity, feedback, .. } = &edge.attributes;
        let capacity = capacity.as_ref().map(|number| {
            let name = hidden("capacity", index);
            let first = ends(number.to_token_stream()).0;
            let ty = quote_spanned!(first=> usize);
            quote!(let #name: #ty = #number;)
        });
        let initial = feedback.as_ref().map(|value| {
            let name = first_message(index, ends(value.to_token_stream()).0);
            quote!(let #name = #value;)
        });
        quote!(#capacity #initial)
    };
    graph.edges.iter().enumerate().map(value).collect()
}

fn discard(discard: &Discard) -> TokenStream {
    let Discard { from, arrow, underscore } = discard;
    let (first, middle, last) = (from.node.span(), arrow.span(), underscore.span());
    let output = port(from);
    let call = call(first, middle, last, "discard", output);
    quote_spanned!(middle=> #call;)
}

/// The condition stands at the node, so its name is not there to be underlined: the input's is.
fn stream_done(node: &Ident, input: &Ident) -> TokenStream {
    let span = input.span();
    let mut node = node.clone();
    node.set_span(span.resolved_at(node.span()));
    let argument = quote_spanned!(span=> &mut #node.#input);
    let call = call(span, span, span, "when_stream_done", argument);
    quote_spanned!(span=> #call;)
}

/// `&mut node.port`
fn port(port: &Port) -> TokenStream {
    let Port { node, dot, port } = port;
    let first = node.span();
    let lead = quote_spanned!(first=> &mut);
    quote!(#lead #node #dot #port)
}

/// `::streamflow::__private::function(args)`, underlined from `first` to `last`. What is ours stands
/// in the middle, so that an editor does not show it for the user's names.
pub(super) fn call(
    first: Span,
    middle: Span,
    last: Span,
    function: &str,
    args: TokenStream,
) -> TokenStream {
    let function = Ident::new(function, middle);
    let lead = quote_spanned!(first=> ::);
    let path = quote_spanned!(middle=> streamflow::__private::#function);
    let args = parenthesized(last, args);
    quote!(#lead #path #args)
}

fn parenthesized(span: Span, tokens: TokenStream) -> TokenTree {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    TokenTree::Group(group)
}

/// For editors, which complete in what they take for the same code: the ports that an edge names,
/// also where it is not written to its end. rustc does not see it.
fn probe(partial: &PartialPort) -> TokenStream {
    let PartialPort { node, dot, port } = partial;
    let access = dot.as_ref().map(|dot| {
        let missing = Ident::new("__port", dot.span());
        let port = port.as_ref().unwrap_or(&missing);
        quote!(#dot #port)
    });
    quote! {
        #[cfg(rust_analyzer)]
        {
            let _ = &#node #access;
        }
    }
}
