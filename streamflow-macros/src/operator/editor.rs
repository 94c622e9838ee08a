//! Writes the expansion of `#[operator]` for an editor. Only one token of it has the location of each of the user's tokens, the
//! token that means the user's item: see `crate::editor`.
//!
//! The struct's name has the user's location in the names of the types that a user writes, as `BlurIo`. A port's name has it in
//! two structs, since an edge names the field of one, and `compute` the field of the other. A type has it in the Io or in the
//! state. All other tokens get the location of the macro.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ItemStruct;
use syn::ext::IdentExt;

use super::checked::Checks;
use super::expand_item;
use crate::editor::{away_from_user, is_word, outline, regroup, relocate};

/// The identifiers that the user wrote in the options and the item.
type Words = HashSet<String>;

/// Expands one use of `#[operator]` for an editor.
pub(crate) fn operator_in_an_editor(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut written = Words::new();
    collect_words(options.clone(), &mut written);
    collect_words(item.clone(), &mut written);
    let (expanded, errors) = expand_item(options, item.clone(), |_| Checks::default());
    let expanded = match struct_name(item) {
        Some(name) => relocate_structs(expanded, &name, &written),
        None => expanded,
    };
    [expanded, errors.into_tokens()].into_iter().collect()
}

fn struct_name(item: TokenStream) -> Option<Ident> {
    let mut tokens = item.into_iter();
    tokens.find(|token| is_word(token, "struct"))?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name),
        _ => None,
    }
}

fn collect_words(tokens: TokenStream, words: &mut Words) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Ident(word) => {
                words.insert(word.to_string());
            }
            _ => {}
        }
    }
}

/// Gives all tokens the location of the macro, but for the user's tokens in the generated structs, and for the names of functions
/// and structs that are the user's words, as those of the handle's methods.
fn relocate_structs(expanded: TokenStream, operator: &Ident, written: &Words) -> TokenStream {
    let operator = operator.unraw().to_string();
    let declared = |name: &Ident| {
        let text = name.unraw().to_string();
        let written_as = text.strip_prefix("set_").unwrap_or(&text);
        (written.contains(&text) || written.contains(written_as)).then(|| name.span())
    };
    let items = split_items(expanded).into_iter().map(|item| {
        relocate_struct(&item, &operator, written)
            .unwrap_or_else(|| outline(item.into_iter().collect(), &declared))
    });
    items.collect()
}

/// Splits the tokens into items. An item ends with a group in braces or with a semicolon.
fn split_items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        _ => false,
    };
    tokens.split_inclusive(ends).map(<[TokenTree]>::to_vec).collect()
}

/// Relocates the tokens of a generated struct, and leaves those that mean the user's items where they are. Returns `None` for any
/// other item.
fn relocate_struct(item: &[TokenTree], operator: &str, written: &Words) -> Option<TokenStream> {
    let keyword = item.iter().position(|token| is_word(token, "struct"))?;
    let (before, [keyword, TokenTree::Ident(name), rest @ ..]) = item.split_at_checked(keyword)?
    else {
        return None;
    };
    let text = name.unraw().to_string();
    let end = text.strip_prefix(operator)?;
    let rest: TokenStream = rest.iter().cloned().collect();
    let rest = match end {
        "" => keep_words(rest, written),
        "Io" | "Branch" => keep_in_braces(rest, |fields| keep_words(fields, written)),
        "_Ports" | "FlushIo" | "Streams" => {
            keep_in_braces(rest, |fields| keep_names(fields, written))
        }
        "Params" => relocate(rest),
        _ => return None,
    };
    // `Blur_Ports` is a name that no user writes, so it gets the location of the macro.
    let name = if end == "_Ports" { away_from_user(name) } else { name.clone() };
    let keyword = relocate(keyword.clone().into());
    let mentions = if end.is_empty() { mention_fields(item) } else { TokenStream::new() };
    let before = before.iter();
    Some(quote!(#(#before)* #keyword #name #rest #mentions))
}

/// Writes a function that mentions each field of the state. rust-analyzer renames a field of a struct with an attribute macro
/// only at such a mention, and not at the field's declaration.
fn mention_fields(item: &[TokenTree]) -> TokenStream {
    let Ok(item) = syn::parse2::<ItemStruct>(item.iter().cloned().collect()) else {
        return TokenStream::new();
    };
    let name = away_from_user(&item.ident);
    let (parameters, arguments, clause) = item.generics.split_for_impl();
    let [parameters, arguments, clause] =
        [quote!(#parameters), quote!(#arguments), quote!(#clause)].map(relocate);
    let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
    quote! {
        const _: () = {
            fn mention #parameters (operator: &#name #arguments) #clause {
                #(let _ = &operator.#fields;)*
            }
        };
    }
}

/// Gives all tokens outside of braces the location of the macro. `keep` returns the tokens that replace those inside.
fn keep_in_braces(tokens: TokenStream, keep: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            regroup(&group, keep(group.stream()), Span::call_site()).into()
        }
        other => relocate(other.into()),
    });
    tokens.collect()
}

/// Gives each name that the user has not written the location of the macro, and leaves all other tokens where they are.
fn keep_words(tokens: TokenStream, written: &Words) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            regroup(&group, keep_words(group.stream(), written), group.span())
        }
        TokenTree::Ident(word) if !written.contains(&word.to_string()) => {
            TokenTree::Ident(away_from_user(&word))
        }
        other => other,
    });
    tokens.collect()
}

/// Gives all tokens the location of the macro, but for the names of fields that the user wrote.
fn keep_names(tokens: TokenStream, written: &Words) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut moved = TokenStream::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_name = matches!(token, TokenTree::Ident(word) if written.contains(&word.to_string()))
            && matches!(tokens.get(index + 1), Some(TokenTree::Punct(colon)) if colon.as_char() == ':' && colon.spacing() == Spacing::Alone);
        match is_name {
            true => moved.extend([token.clone()]),
            false => moved.extend(relocate(token.clone().into())),
        }
    }
    moved
}
