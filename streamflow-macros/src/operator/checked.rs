//! Writes the checks of types that only rustc can judge, in an operator without type parameters. These are the types of ports
//! that the macro doesn't know to be messages, and the types of state fields that may be unable to move to another thread.
//!
//! Wherever the generated code used such a type, rustc would report the same mistake again. So the code uses an alias,
//! `__Detect_boxes`, that names the type only if the check holds: see `streamflow/src/operator/checked.rs`. The check is a
//! constant: rustc evaluates it once, and underlines a failed one at the user's type.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, Type, parse_quote};

use super::model::{Body, Direction, Form, Operator, Port};
use crate::tokens::{
    LeftToRustc, check_host_data, is_message, is_surely_element, left_to_rustc, mentions,
    names_device_data,
};

/// The generated checks of one operator's types, each a constant and an alias of the type.
#[derive(Default)]
pub(super) struct Checks {
    /// The checks of the types of state fields, as items next to the struct.
    pub(super) of_fields: TokenStream,
    /// All other checks, as items next to the implementations.
    pub(super) others: TokenStream,
}

/// Replaces each type that rustc must check by its alias, in the ports and the state, and returns the constants and the aliases.
pub(super) fn name_checked_types(operator: &mut Operator) -> Checks {
    let mut checks = Checks::default();
    if !operator.generics.params.is_empty() {
        let messages = operator.ports.iter().map(|port| &port.message);
        checks.others = check_host_data(messages, &operator.generics);
        return checks;
    }
    let (owner, cfgs) = (operator.ident.unraw(), operator.cfgs.clone());
    let name = |part: &Ident| format_ident!("__{owner}_{}", part.unraw(), span = Span::call_site());
    let mut known = Vec::new();
    for port in &mut operator.ports {
        checks.others.extend(check_port(port, &name(&port.ident), &mut known));
    }
    let Body::State(state) = &mut operator.body else { return checks };
    for field in state {
        let (Some(ident), false) = (&field.ident, field.attrs.iter().any(is_cfg)) else { continue };
        let name = name(ident);
        let is = format_ident!("{name}_is");
        let ty = field.ty.clone();
        if surely_moves(&ty) {
            continue;
        }
        let mentions_stream = mentions(ty.to_token_stream(), &format_ident!("Stream"));
        if mentions_stream {
            field.ty = parse_quote!(#name);
            checks.of_fields.extend(check_field_with_stream(&ty, &name, &is, &cfgs));
        } else {
            checks.others.extend(constant(&is, &ty, &ty.to_token_stream(), &quote!(State)));
        }
        operator.state_checks.push(is);
    }
    checks
}

fn is_cfg(attr: &syn::Attribute) -> bool {
    attr.path().is_ident("cfg")
}

/// Returns the check of a port's type, or `None` if the macro knows the type. Replaces the type in the port by the alias `name`.
/// `known` has the checks of earlier ports with their aliases, since each type is checked once.
fn check_port(
    port: &mut Port,
    name: &Ident,
    known: &mut Vec<(String, Ident)>,
) -> Option<TokenStream> {
    let none = syn::Generics::default();
    let renamed = |ty: &Type| -> Type {
        let name = Ident::new(&name.to_string(), ty.span());
        parse_quote!(#name)
    };
    let (ty, check, message) = match left_to_rustc(&port.message, &none)? {
        LeftToRustc::Message => {
            (port.message.clone(), check_message(&port.message), renamed(&port.message))
        }
        LeftToRustc::Element(element) => {
            let message = with_argument(&port.message, renamed(element));
            (element.clone(), quote!(IsElement), message)
        }
    };
    port.written = match (&port.written, port.direction) {
        (Type::Reference(reference), _) => {
            let mut reference = reference.clone();
            *reference.elem = message.clone();
            Type::Reference(reference)
        }
        (shared, Direction::Input { form: Form::Shares, .. }) => {
            with_argument(shared, message.clone())
        }
        _ => message.clone(),
    };
    port.message = message;
    port.is_checked = true;
    let checked = quote!(#check of #ty).to_string();
    if let Some((_, first)) = known.iter().find(|(of, _)| *of == checked) {
        return Some(quote!(type #name = #first;));
    }
    known.push((checked, name.clone()));
    let is = format_ident!("{name}_is");
    // `PortOf<…>` around the type: rustc reports a reference as an argument of another type as it reports any other type there.
    let (first, last) = ends(&ty);
    let (begin, end) =
        (quote_spanned!(first=> ::streamflow::__private::PortOf<), quote_spanned!(last=> >));
    let constant = constant(&is, &ty, &quote!(#begin #ty #end), &check);
    Some(quote! {
        #constant
        type #name = <<::streamflow::__private::Fits<{ #is }>
            as ::streamflow::__private::Checked<fn(#ty)>>::Type
            as ::streamflow::__private::Argument>::Type;
    })
}

/// Returns the trait whose implementation says that a type is a message. `IsOpenMessage` is for a type that holds other types: it
/// is not implemented for host data that hides device data, since the runtime would not find that data.
fn check_message(ty: &Type) -> TokenStream {
    // A type that mentions `__private` is a replacement that the macro wrote for a rejected type.
    let is_replaced = mentions(ty.to_token_stream(), &format_ident!("__private"));
    match names_device_data(ty).filter(|_| !is_replaced) {
        Some(names_device_data) => quote!(IsOpenMessage<_, #names_device_data>),
        None => quote!(IsMessage),
    }
}

/// Returns the check of a state field whose type mentions `Stream`, which may be the stream of a tick. `name` becomes the type's
/// alias.
fn check_field_with_stream(ty: &Type, name: &Ident, is: &Ident, cfgs: &TokenStream) -> TokenStream {
    let (first, last) = ends(ty);
    let keyword = quote_spanned!(first=> fn);
    let mut argument = Group::new(Delimiter::Parenthesis, ty.to_token_stream());
    argument.set_span(last);
    let constant = constant(is, ty, &quote!(#keyword #argument), &quote!(FieldType));
    quote! {
        #cfgs
        #constant
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        type #name = <<::streamflow::__private::Fits<{ #is }>
            as ::streamflow::__private::Checked<fn(#ty)>>::Type
            as ::streamflow::__private::Argument>::Type;
    }
}

/// Writes `const name: bool = <Type as Trait>::__STREAMFLOW_IS;`. rustc underlines a failed evaluation at `written`, the user's
/// type.
fn constant(name: &Ident, written: &Type, ty: &TokenStream, check: &TokenStream) -> TokenStream {
    let (first, last) = ends(written);
    let lead = quote_spanned!(first=> <);
    let end = quote_spanned!(last=> __STREAMFLOW_IS);
    // A sum of traits, as `Seen +`, is no type before `as` without parentheses.
    let is_sum = matches!(written, Type::TraitObject(object) if object.dyn_token.is_none());
    let ty = if is_sum { &quote!((#ty)) } else { ty };
    quote! {
        #[allow(non_upper_case_globals)]
        const #name: ::core::primitive::bool = #lead #ty as ::streamflow::__private::#check>::#end;
    }
}

/// Returns the spans of the first and the last token of a type.
fn ends(ty: &Type) -> (Span, Span) {
    let mut spans = ty.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Returns the type with `argument` as its type argument: `Name<argument>` for `Name<other>`.
fn with_argument(ty: &Type, argument: Type) -> Type {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
    {
        last.arguments = PathArguments::AngleBracketed(parse_quote!(<#argument>));
    }
    ty
}

/// Whether a type, and each of its type arguments, has a name from a list of types that are `Send`.
fn surely_moves(ty: &Type) -> bool {
    const NAMES: &[&str] = &[
        "AtomicBool",
        "AtomicU64",
        "AtomicUsize",
        "BTreeMap",
        "BTreeSet",
        "Box",
        "CudaStream",
        "Duration",
        "HashMap",
        "HashSet",
        "Instant",
        "Option",
        "PathBuf",
        "Shared",
        "Vec",
        "VecDeque",
        "char",
        "i128",
        "u128",
    ];
    match ty {
        Type::Array(array) => surely_moves(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(surely_moves),
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return false };
            let known = is_message(ty)
                || is_surely_element(ty)
                || NAMES.iter().any(|name| last.ident == name);
            known
                && match &last.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(list) => list
                        .args
                        .iter()
                        .all(|one| matches!(one, GenericArgument::Type(ty) if surely_moves(ty))),
                    PathArguments::Parenthesized(_) => false,
                }
        }
        _ => false,
    }
}
