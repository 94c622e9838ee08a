//! Tests that compare the macros' lists of messages and element types with the library's source. The macros can't see the
//! library's types, so they know them by these names.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Token, Type};

use super::{DEVICE, ELEMENTS, MESSAGES};

const PAYLOADS: &str = include_str!("../../../streamflow/src/message/payloads.rs");
const ELEMENT: [&str; 4] = [
    include_str!("../../../streamflow/src/memory/element/mod.rs"),
    include_str!("../../../streamflow/src/memory/element/bool8.rs"),
    include_str!("../../../streamflow/src/memory/element/complex.rs"),
    include_str!("../../../streamflow/src/memory/element/floats16.rs"),
];

/// Returns the tokens inside of each use of the macro `name!`.
fn uses(source: &str, name: &str) -> Vec<TokenStream> {
    let file = syn::parse_file(source).unwrap();
    let uses = file.items.into_iter().filter_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident(name) => Some(item.mac.tokens),
        _ => None,
    });
    let uses: Vec<_> = uses.collect();
    assert!(!uses.is_empty(), "`{name}!` is not used any more");
    uses
}

/// Returns the last name of a path, as `Tensor`. Returns `None` for `()`, which the macros leave to rustc.
fn name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

fn names(list: &[&str]) -> BTreeSet<String> {
    let names: BTreeSet<_> = list.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), list.len(), "a name is listed twice");
    names
}

/// One entry of the library's `payload!`: `#[…] [generics] Type, …`.
struct Payload {
    ty: Type,
    place: Type,
}

impl Parse for Payload {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        let _generics: TokenTree = input.parse()?;
        let ty = input.parse()?;
        input.parse::<Token![,]>()?;
        let place = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Payload { ty, place })
    }
}

/// One row of the library's `elements!`: `Type: "…", "…";`. Only the type is used.
struct Row(Type);

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let row = Row(input.parse()?);
        input.parse::<Token![:]>()?;
        while !input.is_empty() && !input.peek(Token![;]) {
            input.parse::<TokenTree>()?;
        }
        Ok(row)
    }
}

#[test]
fn the_known_messages_are_those_of_the_library() {
    let mut found = BTreeSet::new();
    for tokens in uses(PAYLOADS, "payload") {
        found.extend(name(&syn::parse2::<Payload>(tokens).unwrap().ty));
    }
    for tokens in uses(PAYLOADS, "host_payloads") {
        let types = Punctuated::<Type, Token![,]>::parse_terminated.parse2(tokens).unwrap();
        found.extend(types.iter().filter_map(name));
    }
    assert_eq!(names(MESSAGES), found);
}

#[test]
fn the_known_device_messages_are_those_of_the_library() {
    let payloads = uses(PAYLOADS, "payload").into_iter().map(|tokens| {
        let Payload { ty, place } = syn::parse2(tokens).unwrap();
        (name(&ty), name(&place).unwrap())
    });
    let found = payloads.filter(|(_, place)| place == "Device").filter_map(|(ty, _)| ty);
    assert_eq!(names(DEVICE), found.collect());
}

/// The macros leave messages with a handwritten `impl` to rustc: its parameter has other bounds than `Element`.
#[test]
fn messages_with_other_bounds_are_not_known() {
    let mut found = BTreeSet::new();
    for item in syn::parse_file(PAYLOADS).unwrap().items {
        if let Item::Impl(item) = item
            && item.trait_.is_some_and(|(path, _)| path.is_ident("Message"))
        {
            found.extend(name(&item.self_ty));
        }
    }
    assert_eq!(found, names(&["HostData", "Shared", "Vec"]));
    assert_eq!(found.intersection(&names(MESSAGES)).count(), 0);
}

#[test]
fn the_known_elements_are_those_of_the_library() {
    let mut found = BTreeSet::new();
    for tokens in ELEMENT.into_iter().flat_map(|source| uses(source, "elements")) {
        let rows = Punctuated::<Row, Token![;]>::parse_terminated.parse2(tokens).unwrap();
        found.extend(rows.iter().filter_map(|row| name(&row.0)));
    }
    // `Complex` is not in `ELEMENTS`: rustc finds out whether a `Complex<_>` is an element.
    assert!(found.remove("Complex"));
    assert_eq!(names(ELEMENTS), found);
}
