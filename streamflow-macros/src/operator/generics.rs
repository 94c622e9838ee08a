//! Selects the generic parameters and bounds that each generated type and implementation needs.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, parse_quote};

use super::model::Port;
use crate::tokens::{self, mentions};

/// Returns the type parameters that do not occur in the tokens. rustc requires that a struct uses all of its type parameters, so
/// the generated struct names these in a phantom field.
pub(super) fn find_unused_params<'a>(
    generics: &'a Generics,
    tokens: &TokenStream,
) -> Vec<&'a Ident> {
    let names = generics.type_params().map(|param| &param.ident);
    names.filter(|name| !mentions(tokens.clone(), name)).collect()
}

/// Returns the names of the generic parameters, without bounds and defaults.
pub(super) fn list_param_names(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

/// Returns the type of a phantom field, which mentions these parameters and has no data.
pub(super) fn phantom_type(names: &[&Ident]) -> TokenStream {
    quote!(::core::marker::PhantomData<fn() -> (#(#names,)*)>)
}

/// Returns the parameters that occur in the tokens, and the parameters that their bounds mention, with all of their bounds.
pub(super) fn keep_needed_params(generics: &Generics, tokens: &TokenStream) -> Generics {
    let mut seen = tokens.clone();
    let mut names: Vec<&Ident> = Vec::new();
    // A round may add a parameter whose bounds mention a parameter earlier in the list. The next round adds that one.
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

/// Returns the struct's parameters, with a where clause that says that the ports' types are messages, where only rustc can check
/// it. If such a bound does not hold, rustc reports it once, at the port's type, and assumes it in the rest of the generated
/// code.
pub(super) fn with_bounds_left_to_rustc(generics: &Generics, ports: &[Port]) -> Generics {
    let mut with_bounds = generics.clone();
    for clause in message_bounds_left_to_rustc(generics, ports) {
        with_bounds.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    with_bounds
}

/// Returns the bounds on the ports' messages that only rustc can check. Ports whose type has a check from `checked.rs` need none.
pub(super) fn message_bounds_left_to_rustc(
    generics: &Generics,
    ports: &[Port],
) -> Vec<TokenStream> {
    let unchecked = ports.iter().filter(|port| !port.is_checked);
    tokens::bounds_left_to_rustc(unchecked.map(|port| &port.message), generics)
}

/// Returns the name of a type or const parameter. Returns `None` for a lifetime, which an operator can't have as a parameter.
fn param_name(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    }
}
