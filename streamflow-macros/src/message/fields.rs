//! Checks that a type can be a message, and finds its fields.

use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Fields, GenericParam, Generics, Ident, Member, Type};

use crate::diagnostic::{Errors, NAMELESS};

/// A message to be expanded.
pub(super) struct Message {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) shape: Shape,
    /// Whether errors list it among the types that are messages.
    pub(super) is_listed: bool,
}

/// The fields of a struct, or of one variant.
pub(super) type List = Vec<(Member, Type)>;

/// The kinds of messages with fields.
pub(super) enum Shape {
    /// Without fields for a rejected type.
    Struct(List),
    Enum(Vec<(Ident, List)>),
}

impl Shape {
    /// The types of all fields, of all variants.
    pub(super) fn types(&self) -> Vec<&Type> {
        let lists: Vec<&List> = match self {
            Self::Struct(fields) => vec![fields],
            Self::Enum(variants) => variants.iter().map(|(_, fields)| fields).collect(),
        };
        lists.into_iter().flatten().map(|(_, ty)| ty).collect()
    }
}

pub(super) fn message(input: DeriveInput, errors: &mut Errors) -> Message {
    let DeriveInput { attrs, ident, generics, data, .. } = input;
    let is_listed = is_listed(&attrs, errors);
    reject_options_inside(&data, errors);
    for param in &generics.params {
        if let GenericParam::Lifetime(param) = param {
            errors.at(
                param,
                format!(
                    "a message borrows nothing: it may outlive the tick that sent it; own the \
                     data and remove `{}`",
                    param.lifetime
                ),
            );
        }
    }
    let shape = match data {
        Data::Struct(data) => Shape::Struct(list(&data.fields, errors)),
        Data::Enum(data) if data.variants.is_empty() => {
            errors.at(
                data.enum_token,
                format!("a message is one of its variants, and `{ident}` has none; add one"),
            );
            Shape::Struct(Vec::new())
        }
        Data::Enum(data) => {
            let variants = data.variants.into_iter();
            Shape::Enum(variants.map(|it| (it.ident, list(&it.fields, errors))).collect())
        }
        Data::Union(data) => {
            errors
                .at(data.union_token, "a message is a struct or an enum whose fields are messages");
            Shape::Struct(Vec::new())
        }
    };
    Message { ident, generics, shape, is_listed }
}

/// `#[message(unlisted)]` is for the library's own messages: rustc would list them in errors in place of the
/// user's messages.
fn is_listed(attrs: &[Attribute], errors: &mut Errors) -> bool {
    let mut is_listed = true;
    for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("message")) {
        match attribute.parse_args::<Ident>() {
            Ok(word) if word == "unlisted" => is_listed = false,
            _ => errors.at(attribute, "a message has no options; remove the attribute"),
        }
    }
    is_listed
}

/// Reports `#[message(…)]` at a variant or a field, where rustc accepts it and it would have no effect.
fn reject_options_inside(data: &Data, errors: &mut Errors) {
    let none = Punctuated::new();
    let (variants, fields) = match data {
        Data::Struct(data) => (&none, Some(&data.fields)),
        Data::Enum(data) => (&data.variants, None),
        Data::Union(_) => (&none, None),
    };
    for variant in variants {
        for attribute in &variant.attrs {
            reject_option(attribute, "a variant", errors);
        }
    }
    for field in variants.iter().map(|variant| &variant.fields).chain(fields).flatten() {
        for attribute in &field.attrs {
            reject_option(attribute, "a field", errors);
        }
    }
}

fn reject_option(attribute: &Attribute, place: &str, errors: &mut Errors) {
    if attribute.path().is_ident("message") {
        let text = format!(
            "{place} of a message has no options: every field is part of the message; remove this"
        );
        errors.at(attribute, text);
    }
}

fn list(fields: &Fields, errors: &mut Errors) -> List {
    let types = fields.iter().map(|field| field.ty.clone());
    fields.members().zip(types).filter(|(member, _)| is_named(member, errors)).collect()
}

/// A field can't be called `_`.
fn is_named(member: &Member, errors: &mut Errors) -> bool {
    let is_nameless = matches!(member, Member::Named(name) if name == "_");
    if is_nameless {
        errors.at(member, NAMELESS);
    }
    !is_nameless
}
