//! Small questions about tokens.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// A type as people write it: tokens print with spaces everywhere.
pub(crate) fn spelled(ty: &Type) -> String {
    let mut text = String::new();
    let spaced = ty.to_token_stream().to_string();
    let tight = |c: char| "<>[]()&:;,*".contains(c);
    let mut rest = spaced.chars().peekable();
    while let Some(c) = rest.next() {
        let keep = match (text.chars().last(), rest.peek()) {
            (Some(';' | ','), _) => true,
            (Some(before), Some(after)) => !tight(before) && !tight(*after),
            _ => false,
        };
        if c != ' ' || keep {
            text.push(c);
        }
    }
    text.replace("->", " -> ")
}

/// The tokens between commas.
pub(crate) fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.extend([token]);
                }
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
