//! Writes closures that make a node's operator again after a failure, for nodes with `#[on_failure(restart(…))]`.
//!
//! The closure of such a node contains the expression of its operator. `new` calls the closure to make the first operator. The
//! closure owns clones of the parameters that the expression names, since the expression may consume them, and so may expressions
//! of other nodes.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use super::checked::value_type;
use super::idents::{hygienic, hygienic_platform};
use crate::expression::evaluate;
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{Header, OnFailure};

/// Returns the name of a node's closure, or `None` if the node has no `#[on_failure(restart(…))]`.
pub(super) fn again(index: usize, node: &Node) -> Option<Ident> {
    matches!(node.attributes.on_failure, Some(OnFailure::Restart { .. }))
        .then(|| hygienic("again", index))
}

/// Writes all closures. They come before all other expressions of the user, which may consume the parameters.
pub(super) fn make_closures(graph: &Graph) -> TokenStream {
    let nodes = graph.nodes.iter().enumerate();
    let closures = nodes.filter_map(|(index, node)| {
        again(index, node).map(|again| make_closure(&again, index, node, &graph.header))
    });
    closures.collect()
}

fn make_closure(again: &Ident, index: usize, node: &Node, header: &Header) -> TokenStream {
    let (ty, value) = (&value_type(header, node), &node.value);
    let (platform, kept_platform) = (hygienic_platform(), hygienic("kept_platform", index));
    let params = header.params.iter().map(|param| &param.name);
    let named = params.filter(|name| may_name(value.to_token_stream(), name));
    // The same tokens clone a parameter for the closure and for each call: rustc prints equal errors once.
    let keep = named.map(|name| {
        let kept = quote_spanned!(name.span()=> ::streamflow::__private::clone_for_restart(&#name));
        quote!(#[allow(unused_variables)] let #name = #kept;)
    });
    let keep: TokenStream = keep.collect();
    let (operator, made) = (hygienic("operator", index), evaluate(value, ty));
    quote! {
        let mut #again: ::streamflow::__private::OperatorFactory<#ty> = {
            let #kept_platform = ::core::clone::Clone::clone(#platform);
            #keep
            ::std::boxed::Box::new(move || {
                #[allow(unused_variables)]
                let platform = &#kept_platform;
                #keep
                let #operator = #made;
                ::core::result::Result::Ok(#operator)
            })
        };
    }
}

/// Whether an expression may name a variable. The name may also be in a string that a macro formats, as `"{name}"`.
fn may_name(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => may_name(group.stream(), name),
        TokenTree::Literal(literal) => literal.to_string().contains(&format!("{{{name}")),
        TokenTree::Punct(_) => false,
    })
}
