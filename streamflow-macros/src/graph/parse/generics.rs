//! Reads the generic parameters of a graph, `<S: Interface, const N: usize>`, and its where clause.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{GenericParam, Generics, Type, token};

use crate::diagnostic::Errors;

/// Reads generic parameters, `<S: Interface, const N: usize>`. A lifetime is reported and left out, and returned beside the others.
pub(super) fn parse_generics(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> (Generics, Vec<Ident>) {
    let mut generics: Generics = match input.parse() {
        Ok(generics) => generics,
        Err(error) => {
            errors.push(error);
            skip_generics(input);
            return (Generics::default(), Vec::new());
        }
    };
    let (lifetimes, others) = std::mem::take(&mut generics.params)
        .into_iter()
        .partition::<Vec<_>, _>(|param| matches!(param, GenericParam::Lifetime(_)));
    for lifetime in &lifetimes {
        errors.at(
            lifetime,
            "a graph has no lifetimes: it owns its operators, which outlive each tick; own the data, or share it in an `Arc`",
        );
    }
    generics.params.extend(others);
    let names = lifetimes.into_iter().filter_map(|param| match param {
        GenericParam::Lifetime(param) => Some(param.lifetime.ident),
        _ => None,
    });
    (generics, names.collect())
}

/// Returns a type with `'static` in place of these lifetimes, so that no further errors follow.
pub(super) fn without_lifetimes(ty: &Type, lifetimes: &[Ident]) -> Type {
    let tokens = ty.to_token_stream().into_iter().scan(false, |is_name, token| {
        let token = match token {
            TokenTree::Ident(name) if *is_name && lifetimes.contains(&name) => {
                TokenTree::Ident(Ident::new("static", name.span()))
            }
            other => other,
        };
        *is_name = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '\'');
        Some(token)
    });
    syn::parse2(tokens.collect()).unwrap_or_else(|_| ty.clone())
}

/// Skips generic parameters that can't be read, so that no further errors follow.
fn skip_generics(input: ParseStream<'_>) {
    let mut depth = 0_i32;
    while let Ok(token) = input.parse::<TokenTree>() {
        if let TokenTree::Punct(punct) = &token {
            depth += match punct.as_char() {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
        }
        if depth <= 0 {
            break;
        }
    }
}

/// Reads a where clause, as `where T: Element`.
pub(super) fn parse_where_clause(
    input: ParseStream<'_>,
    generics: &mut Generics,
    errors: &mut Errors,
) {
    match input.parse() {
        Ok(clause) => generics.where_clause = clause,
        Err(error) => {
            errors.push(error);
            while !input.peek(token::Brace) && input.parse::<TokenTree>().is_ok() {}
        }
    }
}
