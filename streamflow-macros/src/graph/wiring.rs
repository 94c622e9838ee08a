//! The edges, as calls that carry their bounds, underlined where the user wrote the edge.
//!
//! rustc underlines an expression from its first token to its last. So the first token of a call has
//! the span of the edge's first token, and its parentheses that of the last. All spans are the
//! user's as they are: then rustc does not mention the macro.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::constants;
use super::model::{Carries, Discard, Edge, Graph, PartialPort, Port};

/// All edges, discards and conditions.
pub(super) fn wiring(graph: &Graph) -> TokenStream {
    let probes = graph.probes.iter().map(probe);
    let edges = graph.edges.iter().map(|edge| self::edge(graph, edge));
    let discards = graph.discards.iter().map(discard);
    let conditions = graph
        .nodes
        .iter()
        .flat_map(|node| node.stream_done.iter().map(|port| stream_done(&node.name, port)));
    quote! {
        #[allow(unused, unexpected_cfgs, clippy::all)]
        {
            #(#probes)*
            #(#edges)*
            #(#discards)*
            #(#conditions)*
        }
    }
}

fn edge(graph: &Graph, edge: &Edge) -> TokenStream {
    let (from, to) = (&edge.from, &edge.to);
    let [first, middle, last] = edge.spans();
    let function = match edge {
        Edge { carries: Carries::Copy, .. } => "connect_copy",
        Edge { carries: Carries::Transfer, .. } => "connect_transfer",
        Edge { shared: true, .. } => "connect_shared",
        _ => "connect",
    };
    let function = Ident::new(function, middle);
    let (output, input) = (port(from), port(to));
    let ports = call(first, middle, last, "edge", quote_spanned!(middle=> #output, #input));
    let more = (edge.carries == Carries::Transfer).then(|| {
        let device = constants::device(graph, to);
        let name = format!("{} >> {}", from.text(), to.text());
        quote_spanned!(middle=> , #device, #name)
    });
    let args = parenthesized(middle, quote_spanned!(middle=> #ports #more));
    quote_spanned!(middle=> ::streamflow::__private::#function #args;)
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
