//! Closures that make a new operator after a failure, for nodes with `#[on_failure(restart(…))]`.
//!
//! The expression of such a node is in a closure. `new` calls the closure to make the first operator. The closure
//! owns clones of the parameters that the expression names: an expression may consume them, and other nodes may do
//! so, too.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use super::idents::{hygienic, hygienic_platform};
use crate::expression::evaluate;
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{OnFailure, Param};

/// The closure of a node, if the node has this policy.
pub(super) fn again(index: usize, node: &Node) -> Option<Ident> {
    matches!(node.attributes.on_failure, Some(OnFailure::Restart { .. }))
        .then(|| hygienic("again", index))
}

/// Writes the closures before all other expressions of the user, since those may consume the parameters.
pub(super) fn make_closures(graph: &Graph) -> TokenStream {
    let nodes = graph.nodes.iter().enumerate();
    let closures = nodes.filter_map(|(index, node)| {
        again(index, node).map(|again| make_closure(&again, index, node, &graph.header.params))
    });
    closures.collect()
}

fn make_closure(again: &Ident, index: usize, node: &Node, params: &[Param]) -> TokenStream {
    let (ty, value) = (&node.ty, &node.value);
    let (platform, kept_platform) = (hygienic_platform(), hygienic("kept_platform", index));
    let params = params.iter().map(|param| &param.name);
    let named = params.filter(|name| may_name(value.to_token_stream(), name));
    // The same code clones a parameter for the closure and for each call: rustc prints equal errors only once.
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

/// Whether an expression may name a variable, be it in a text that a macro formats, as `"{name}"`.
fn may_name(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => may_name(group.stream(), name),
        TokenTree::Literal(literal) => literal.to_string().contains(&format!("{{{name}")),
        TokenTree::Punct(_) => false,
    })
}
