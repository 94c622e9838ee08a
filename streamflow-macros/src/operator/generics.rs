//! The type parameters of the generated types.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, parse_quote};

use super::model::Port;
use crate::tokens::{self, mentions};

/// The type parameters that do not occur in the tokens. rustc requires that a struct uses all of its parameters.
pub(super) fn find_unused_params<'a>(
    generics: &'a Generics,
    tokens: &TokenStream,
) -> Vec<&'a Ident> {
    let names = generics.type_params().map(|param| &param.ident);
    names.filter(|name| !mentions(tokens.clone(), name)).collect()
}

/// The type of a phantom field: a field that uses these parameters and holds nothing.
pub(super) fn phantom_type(names: &[&Ident]) -> TokenStream {
    quote!(::core::marker::PhantomData<fn() -> (#(#names,)*)>)
}

/// The parameters that occur in the tokens, and the parameters that their bounds mention, with all of their bounds.
pub(super) fn keep_needed_params(generics: &Generics, tokens: &TokenStream) -> Generics {
    let mut seen = tokens.clone();
    let mut names: Vec<&Ident> = Vec::new();
    // A round may find a parameter with bounds that mention an earlier parameter. The next round finds the earlier one.
    loop {
        let known = names.len();
        for param in &generics.params {
            let Some(name) = param_name(param) else { continue };
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
    let kept = |param: &GenericParam| param_name(param).is_some_and(|name| names.contains(&name));
    needed.params = generics.params.iter().filter(|param| kept(param)).cloned().collect();
    if let Some(clause) = &mut needed.where_clause {
        let holds = clause.predicates.iter().filter(|predicate| {
            names.iter().any(|name| mentions(predicate.to_token_stream(), name))
        });
        clause.predicates = holds.cloned().collect();
    }
    needed
}

/// The struct's parameters, with the bounds that only rustc can check in a where clause: the ports' types are messages.
/// If one does not hold, rustc reports it once, at the port's type, and assumes it in the rest of the generated code.
pub(super) fn with_bounds_left_to_rustc(generics: &Generics, ports: &[Port]) -> Generics {
    let mut with_bounds = generics.clone();
    for clause in message_bounds_left_to_rustc(generics, ports) {
        with_bounds.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    with_bounds
}

/// The bounds on the ports' messages that only rustc can check.
pub(super) fn message_bounds_left_to_rustc(
    generics: &Generics,
    ports: &[Port],
) -> Vec<TokenStream> {
    let unchecked = ports.iter().filter(|port| !port.is_checked);
    tokens::bounds_left_to_rustc(unchecked.map(|port| &port.message), generics)
}

/// The name of a parameter. `None` for a lifetime: an operator has no lifetime parameters.
fn param_name(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    }
}
