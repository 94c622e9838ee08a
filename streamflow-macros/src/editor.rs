//! Rewrites the expansions of the macros for an editor.
//!
//! To rename one of the user's tokens, for example, an editor finds all tokens of the expansion that have the location of that
//! token. The expansion for rustc has many such tokens, since rustc's messages need the user's locations. In the expansion for an
//! editor, only one token has each location: the token that means the user's item. All others have the location of the macro's
//! use.
//!
//! `cfg(rust_analyzer)` can't tell an editor from rustc, since an attribute with it would be checked in the user's crate, where
//! rustc warns of an unknown `cfg` at each item.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// Whether an editor expands the macro, and not rustc. rust-analyzer loads macros into a process of its own, whose program is
/// named `rust-analyzer…`.
pub(crate) fn is_expanding() -> bool {
    let program = std::env::current_exe().unwrap_or_default();
    program.file_name().is_some_and(|name| name.to_string_lossy().contains("rust-analyzer"))
}

/// Returns the items without the bodies of functions and the fields of structs, at the location of the macro's use. A name after
/// `fn` or `struct` gets the location that `declared` returns for it, if any.
pub(crate) fn outline(
    items: TokenStream,
    declared: &dyn Fn(&Ident) -> Option<Span>,
) -> TokenStream {
    let (mut names, mut left_out, mut is_struct) = (false, None, false);
    let items = items.into_iter().map(|token| {
        let is_name = std::mem::take(&mut names);
        if is_word(&token, "fn") || is_word(&token, "struct") {
            names = true;
            is_struct = is_word(&token, "struct");
            left_out = Some(if is_word(&token, "fn") { quote!(loop {}) } else { quote!() });
        }
        if matches!(&token, TokenTree::Punct(sign) if sign.as_char() == ';') {
            // A semicolon ends a struct without braces or the signature of a function, so there is no body to leave out.
            left_out = None;
        }
        match token {
            TokenTree::Group(group) if is_struct && group.delimiter() == Delimiter::Parenthesis => {
                regroup(&group, TokenStream::new(), away(group.span()))
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let outlined = left_out.take().unwrap_or_else(|| outline(group.stream(), declared));
                regroup(&group, outlined, away(group.span()))
            }
            TokenTree::Ident(name) => {
                let place = is_name.then(|| declared(&name)).flatten();
                TokenTree::Ident(match place {
                    Some(place) => located(&name, place.resolved_at(name.span())),
                    None => away_from_user(&name),
                })
            }
            other => relocate_token(other),
        }
    });
    items.collect()
}

/// Returns the tokens at the location of the macro's use.
pub(crate) fn relocate(tokens: TokenStream) -> TokenStream {
    tokens.into_iter().map(relocate_token).collect()
}

fn relocate_token(token: TokenTree) -> TokenTree {
    match token {
        TokenTree::Group(group) => regroup(&group, relocate(group.stream()), away(group.span())),
        mut other => {
            other.set_span(away(other.span()));
            other
        }
    }
}

/// Returns the group with the tokens in `stream` and with this span.
pub(crate) fn regroup(group: &Group, stream: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(group.delimiter(), stream);
    group.set_span(span);
    TokenTree::Group(group)
}

/// Returns the same name at the location of the macro's use.
pub(crate) fn away_from_user(name: &Ident) -> Ident {
    located(name, away(name.span()))
}

/// Whether a token is the identifier or keyword `word`.
pub(crate) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn located(name: &Ident, span: Span) -> Ident {
    let mut name = name.clone();
    name.set_span(span);
    name
}

fn away(span: Span) -> Span {
    Span::call_site().resolved_at(span)
}
