//! Lists the types that the macros know by name, and has the functions that read and spell tokens for all macros.

mod held;
#[cfg(test)]
mod library_types;

use std::collections::HashSet;

pub(crate) use self::held::{check_host_data, held_types, names_device_data};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{GenericArgument, Generics, PathArguments, Type};

/// Traits of the standard library. A bound by one of these implies no trait of streamflow, and not `Send + 'static`.
#[rustfmt::skip]
pub(crate) const STANDARD_TRAITS: &[&str] = &[
    "Add", "AddAssign", "Clone", "Copy", "Debug", "Default", "Display", "Div", "DivAssign", "Eq",
    "Fn", "FnMut", "FnOnce", "From", "Hash", "Into", "Iterator", "Mul", "MulAssign", "Neg", "Ord",
    "PartialEq", "PartialOrd", "Rem", "Send", "Sized", "Sub", "SubAssign", "Sum", "Sync",
];

/// The names of the library's messages, without type arguments. A test in `library_types` compares this list and `ELEMENTS` with
/// the library's source.
const MESSAGES: &[&str] = &[
    "Tensor",
    "PitchedTensor",
    "Buffer",
    "Pinned",
    "Download",
    "String",
    "Timestamp",
    "Metadata",
    "bool",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "isize",
    "usize",
    "f32",
    "f64",
];

/// The names of the library's messages that are device data.
const DEVICE: &[&str] = &["Tensor", "PitchedTensor", "Buffer", "Pinned"];

/// The names in these lists that other crates or users also give to types: `half::f16`, or a program's own `Timestamp`. For such
/// a name, rustc finds out which type it is.
const AMBIGUOUS: &[&str] = &["Timestamp", "Metadata", "Bool8", "f16", "bf16"];

/// Returns the name of a type that may be a type of the library by its tokens: `Tensor<f32>`, `streamflow::Tensor<f32>`. A
/// `Tensor` without an argument is the type of another crate, and so is a `Tensor` with another path, as `candle_core::Tensor`.
fn name_in_library(ty: &Type) -> Option<&Ident> {
    let Type::Path(path) = ty else { return None };
    let (first, last) = (path.path.segments.first()?, path.path.segments.last()?);
    let has_argument =
        DEVICE.iter().chain(&["Download", "HostData"]).any(|name| last.ident == name);
    let arguments = match &last.arguments {
        PathArguments::None => 0,
        PathArguments::AngleBracketed(list) => list.args.len(),
        PathArguments::Parenthesized(_) => return None,
    };
    let is_ours = path.path.segments.len() == 1 || first.ident == "streamflow";
    (is_ours && arguments == usize::from(has_argument)).then_some(&last.ident)
}

/// Where the data of a message is: in host memory or in a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Host,
    Device,
}

/// Returns the place of a message of the library, by its name. Returns `None` for other types, whose place only rustc knows.
pub(crate) fn place(ty: &Type) -> Option<Place> {
    let name = name_in_library(ty)?;
    match () {
        () if DEVICE.iter().any(|known| name == known) => Some(Place::Device),
        () if name == "HostData" || is_message(ty) => Some(Place::Host),
        () => None,
    }
}

/// The names of the library's element types, the `T` of a `Tensor<T>`, without element types that have type arguments.
const ELEMENTS: &[&str] =
    &["Bool8", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"];

/// Whether a type has a name that only a message of the library has. If not, only rustc knows whether the type is a message.
pub(crate) fn is_message(ty: &Type) -> bool {
    name_in_library(ty).is_some_and(|name| is_listed(name, MESSAGES))
}

fn is_listed(name: &Ident, list: &[&str]) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|listed| name == listed);
    is_in(list) && !is_in(AMBIGUOUS)
}

/// Whether a type has the name of device data of the library. If not, only rustc knows whether the type is device data.
pub(crate) fn is_device_data(ty: &Type) -> bool {
    place(ty) == Some(Place::Device)
}

/// Whether a type has a name that only an element type of the library has. If not, only rustc knows whether the type is an
/// element.
pub(crate) fn is_surely_element(ty: &Type) -> bool {
    name_in_library(ty).is_some_and(|name| is_listed(name, ELEMENTS))
}

/// Whether a type has the name of an element type of the library. A type of another crate may have the same name.
pub(crate) fn is_element(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.get_ident().is_some_and(|name| ELEMENTS.iter().any(|element| name == element))
}

/// Returns the bounds which say that these types are messages, without bounds that the macro knows to hold. rustc checks a bound
/// in a where clause once, at the type, and assumes it in all generated code. Repeated bounds are left out: with two equal
/// clauses for a higher-ranked type, as `HostData<fn(&u8)>`, rustc can't choose one.
pub(crate) fn bounds_left_to_rustc<'a>(
    types: impl Iterator<Item = &'a Type>,
    generics: &Generics,
) -> Vec<TokenStream> {
    let mut seen = HashSet::new();
    types
        .filter_map(|ty| bound_left_to_rustc(ty, generics))
        .filter(|clause| seen.insert(clause.to_string()))
        .collect()
}

/// Returns the bounds which say that type parameters are elements, for parameters that are the `T` of a `Tensor<T>` among these
/// types. If the user wrote no such bound, rustc reports that at the user's type, and assumes it in the generated code.
pub(crate) fn bounds_of_params<'a>(
    types: impl Iterator<Item = &'a Type>,
    generics: &Generics,
) -> Vec<TokenStream> {
    let elements = types.filter(|ty| is_message(ty)).filter_map(element);
    elements
        .filter(|element| is_type_param(element, generics))
        .map(|element| must_be(element, |at| quote_spanned!(at=> ::streamflow::__private::Element)))
        .collect()
}

/// Whether a type is a type parameter.
pub(crate) fn is_type_param(ty: &Type, generics: &Generics) -> bool {
    matches!(ty, Type::Path(path)
        if generics.type_params().any(|param| path.path.is_ident(&param.ident)))
}

/// Returns the bound for one type. Returns `None` if the macro knows that the bound holds, or if it can't be in a where clause.
fn bound_left_to_rustc(ty: &Type, generics: &Generics) -> Option<TokenStream> {
    // A type can spell the same higher-ranked type in several ways, so two of its clauses could be equal without having equal
    // tokens.
    let higher_ranked = ["fn", "Fn", "FnMut", "FnOnce", "for"];
    if higher_ranked.iter().any(|word| mentions(ty.to_token_stream(), &format_ident!("{word}"))) {
        return None;
    }
    Some(match left_to_rustc(ty, generics)? {
        LeftToRustc::Message => {
            must_be(ty, |at| quote_spanned!(at=> ::streamflow::__private::Message))
        }
        LeftToRustc::Element(element) => {
            must_be(element, |at| quote_spanned!(at=> ::streamflow::__private::Element))
        }
    })
}

/// A fact about the type of a message that the macro can't find out. rustc checks it.
pub(crate) enum LeftToRustc<'a> {
    /// Whether the whole type is a message.
    Message,
    /// Whether this type, the `T` of a `Tensor<T>`, is an element type. If so, the macro knows that `Tensor<T>` is a message.
    Element(&'a Type),
}

/// Returns the fact that only rustc knows. Returns `None` if the macro knows that the type is a message.
pub(crate) fn left_to_rustc<'a>(ty: &'a Type, generics: &Generics) -> Option<LeftToRustc<'a>> {
    if !is_message(ty) {
        return Some(LeftToRustc::Message);
    }
    let element = element(ty)?;
    // The bound of a type parameter is among those of `bounds_of_params`.
    let known = is_surely_element(element) || is_type_param(element, generics);
    (!known).then_some(LeftToRustc::Element(element))
}

/// Returns the element type `T` of `Tensor<T>`.
pub(crate) fn element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match (list.args.first(), list.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}

/// Splits the tokens at commas, and leaves out empty parts.
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

/// Whether a name occurs anywhere in the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Writes `ty: bounds`, for a where clause. Its tokens have the span of the type, since rustc reports a bound that does not hold
/// there.
pub(crate) fn must_be(ty: &Type, bounds: impl Fn(Span) -> TokenStream) -> TokenStream {
    let end = ty.to_token_stream().into_iter().last().map_or_else(Span::call_site, |t| t.span());
    let bounds = bounds(end);
    quote_spanned!(end=> #ty: #bounds)
}

/// Returns `{ tokens }` with this span on its braces. rustc shows an item by the spans of its first and its last token.
pub(crate) fn braced(span: Span, tokens: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Brace, tokens);
    group.set_span(span);
    group
}

/// Returns a type as text with the usual spaces. The `Display` of tokens puts a space between any two of them.
pub(crate) fn spelled(ty: &Type) -> String {
    spelled_tokens(ty.to_token_stream())
}

/// Returns tokens as text with the usual spaces, those of a type.
pub(crate) fn spelled_tokens(tokens: TokenStream) -> String {
    let mut text = String::new();
    let spaced = tokens.to_string();
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
    text.replace("->", " -> ").replace(" . ", ".")
}

/// Returns the type without parentheses around it, also without the invisible ones of a `macro_rules!` argument.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => ungrouped(&inner.elem),
        Type::Group(inner) => ungrouped(&inner.elem),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{format_ident, quote};
    use syn::parse_quote;

    #[test]
    fn types_are_spelled_with_the_usual_spaces() {
        assert_eq!(spelled(&parse_quote!(&Tensor<f32>)), "&Tensor<f32>");
        assert_eq!(spelled(&parse_quote!(Shared<a::B<C, 3>>)), "Shared<a::B<C, 3>>");
        assert_eq!(spelled(&parse_quote!([u8; 4])), "[u8; 4]");
        assert_eq!(spelled(&parse_quote!(Box<dyn Fn(u8) -> u8>)), "Box<dyn Fn(u8) -> u8>");
    }

    #[test]
    fn a_name_is_found_at_any_depth() {
        let name = format_ident!("A");
        assert!(mentions(quote!(Tensor<(u8, [A; 2])>), &name));
        assert!(!mentions(quote!(Tensor<(u8, [B; 2])>), &name));
    }

    #[test]
    fn messages_are_known_by_their_names() {
        assert!(is_message(&parse_quote!(streamflow::Tensor<T>)));
        assert!(!is_message(&parse_quote!(HostData<Tensor<T>>)));
        assert!(!is_message(&parse_quote!([u8; 4])));
    }

    #[test]
    fn a_name_that_other_types_have_is_not_known() {
        let others: [Type; 7] = [
            parse_quote!(Tensor),
            parse_quote!(candle_core::Tensor<f32>),
            parse_quote!(Tensor<B, 2>),
            parse_quote!(Buffer),
            parse_quote!(crate::String),
            parse_quote!(Timestamp),
            parse_quote!(Metadata),
        ];
        assert!(others.iter().all(|ty| !is_message(ty) && place(ty).is_none()));
        assert_eq!(place(&parse_quote!(HostData)), None);
        let half: Type = parse_quote!(f16);
        assert!(is_element(&half) && !is_surely_element(&half));
    }

    #[test]
    fn places_are_known_by_the_names_of_messages() {
        assert_eq!(place(&parse_quote!(streamflow::Tensor<T>)), Some(Place::Device));
        assert_eq!(place(&parse_quote!(HostData<Tensor<T>>)), Some(Place::Host));
        assert_eq!(place(&parse_quote!(u64)), Some(Place::Host));
        assert_eq!(place(&parse_quote!(Detections)), None);
        assert_eq!(place(&parse_quote!(Vec<Tensor<f32>>)), None);
    }

    #[test]
    fn elements_are_known_by_their_names() {
        let generics = parse_quote!(<T: Element>);
        let bound_left_to_rustc =
            |ty| bound_left_to_rustc(&ty, &generics).map(|clause| clause.to_string());
        assert_eq!(bound_left_to_rustc(parse_quote!(Tensor<f32>)), None);
        assert_eq!(bound_left_to_rustc(parse_quote!(Tensor<T>)), None);
        let clause = bound_left_to_rustc(parse_quote!(Tensor<bool>)).unwrap_or_default();
        assert!(clause.starts_with("bool :") && clause.ends_with("Element"), "{clause}");
        let clause = bound_left_to_rustc(parse_quote!(HostData<u8>)).unwrap_or_default();
        assert!(clause.ends_with("Message"), "{clause}");
    }

    #[test]
    fn commas_inside_of_groups_do_not_split() {
        let parts: Vec<String> =
            split(quote!(a(b, c), d,)).iter().map(ToString::to_string).collect();
        assert_eq!(parts, ["a (b , c)", "d"]);
    }
}
