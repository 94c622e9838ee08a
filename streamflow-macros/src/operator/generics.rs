//! Which type parameters the generated types have.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, parse_quote};

use super::model::Port;
use crate::tokens::{self, mentions};

/// The type parameters that occur nowhere in the tokens. A struct must use all of its own.
pub(super) fn unused<'a>(generics: &'a Generics, tokens: &TokenStream) -> Vec<&'a Ident> {
    let names = generics.type_params().map(|param| &param.ident);
    names.filter(|name| !mentions(tokens.clone(), name)).collect()
}

/// The type of a field that uses these parameters and holds nothing.
pub(super) fn phantom(names: &[&Ident]) -> TokenStream {
    quote!(::core::marker::PhantomData<fn() -> (#(#names,)*)>)
}

/// The parameters that occur in the tokens, and those that the bounds of these need, with all of
/// their bounds.
pub(super) fn needed(generics: &Generics, tokens: &TokenStream) -> Generics {
    let mut seen = tokens.clone();
    let mut names: Vec<&Ident> = Vec::new();
    // A parameter that is needed by one found later is found in the next round.
    loop {
        let known = names.len();
        for param in &generics.params {
            let Some(name) = name(param) else { continue };
            if !names.contains(&name) && mentions(seen.clone(), name) {
                names.push(name);
                seen.extend(param.to_token_stream());
            }
        }
        let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        for predicate in predicates {
            if names.iter().any(|name| mentions(predicate.to_token_stream(), name)) {
                seen.extend(predicate.to_token_stream());
            }
        }
        if names.len() == known {
            break;
        }
    }
    let mut needed = generics.clone();
    let kept = |param: &GenericParam| name(param).is_some_and(|name| names.contains(&name));
    needed.params = generics.params.iter().filter(|param| kept(param)).cloned().collect();
    if let Some(clause) = &mut needed.where_clause {
        let holds = clause.predicates.iter().filter(|predicate| {
            names.iter().any(|name| mentions(predicate.to_token_stream(), name))
        });
        clause.predicates = holds.cloned().collect();
    }
    needed
}

/// The messages that must be some, with the struct's parameters: where one is none, rustc says so once, at
/// the port's type, and takes it for granted in all that is made from the operator.
pub(super) fn assuming_messages(generics: &Generics, ports: &[Port]) -> Generics {
    let mut assuming = generics.clone();
    for clause in doubts(generics, ports) {
        assuming.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    assuming
}

/// What must hold of the ports' messages, where only rustc can say whether it does.
pub(super) fn doubts(generics: &Generics, ports: &[Port]) -> Vec<TokenStream> {
    tokens::doubts(ports.iter().map(|port| &port.message), generics)
}

/// A lifetime has none here: no operator has lifetime parameters.
fn name(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    }
}
