//! Writes the paths and calls of the expansion that have spans of the user's tokens.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;

use crate::graph::parts::Pool;
use crate::graph::spans::{Underline, first_and_last};

/// Writes `::streamflow::__private::function(args)`. rustc underlines a mistake in it at the tokens of `underline`.
pub(super) fn private_call(underline: Underline, function: &str, args: TokenStream) -> TokenStream {
    let Underline { first, middle, last } = underline;
    let function = Ident::new(function, middle);
    let lead = quote_spanned!(first=> ::);
    let path = quote_spanned!(middle=> streamflow::__private::#function);
    let args = parenthesized(last, args);
    quote!(#lead #path #args)
}

/// Returns `(tokens)` with this span on its parentheses.
pub(super) fn parenthesized(span: Span, tokens: TokenStream) -> TokenTree {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    TokenTree::Group(group)
}

/// Writes `<Type as NodeType>::NAME` with the span of the type. If the type is neither an operator nor a graph with ports, rustc
/// reports it there, in the same words for each use, and prints equal reports once.
pub(in crate::graph) fn operator_item(ty: &Type, name: &str) -> TokenStream {
    let (first, last) = first_and_last(ty);
    let name = Ident::new(name, last);
    let lead = quote_spanned!(first=> <);
    let path = quote_spanned!(last=> as ::streamflow::__private::NodeType>::#name);
    quote!(#lead #ty #path)
}

/// Writes `<Type as NodeType>::name(args)`, with the span of the type as in [`operator_item`].
pub(super) fn operator_call(ty: &Type, name: &str, args: TokenStream) -> TokenStream {
    let (function, (_, last)) = (operator_item(ty, name), first_and_last(ty));
    let args = parenthesized(last, args);
    quote!(#function #args)
}

/// Writes `&STREAMS`, a reference to a pool, with the span of the pool's name. If the macro does not know the pool's type, rustc
/// decides whether it is that of a pool: see [`typed_pool`].
pub(super) fn pool_ref(pool: &Pool) -> TokenStream {
    let name = &pool.name;
    match pool.kind() {
        None if !pool.is_made_by_run => typed_pool(pool).into_token_stream(),
        _ => quote_spanned!(name.span()=> &#name),
    }
}

/// Returns the name of the constant that refers to a pool whose type the macro does not know. If the type is not that of a pool,
/// rustc reports that once, at this constant.
pub(super) fn typed_pool(pool: &Pool) -> Ident {
    format_ident!("__{}", pool.name, span = pool.name.span())
}
