//! Checks that a type can be a message, and reads its fields.

use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Fields, GenericParam, Generics, Ident, Member, Type};

use crate::diagnostic::{Errors, NAMELESS};

/// A message to be expanded.
pub(super) struct Message {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) shape: Shape,
    /// Whether rustc may list this message in errors about types that are no messages.
    pub(super) is_listed: bool,
}

/// The fields of a struct, or of one variant of an enum.
pub(super) type List = Vec<(Member, Type)>;

/// The fields of a message, as a struct or an enum has them.
pub(super) enum Shape {
    /// A struct, or a rejected type. A rejected type has no fields here.
    Struct(List),
    Enum(Vec<(Ident, List)>),
}

impl Shape {
    /// Returns the types of all fields. For an enum, these are the fields of all variants.
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

/// Returns `false` for a message with `#[message(unlisted)]`. That option is for the library's own messages: rustc would list
/// them in errors instead of the user's messages.
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

/// Reports `#[message(…)]` on a variant or a field. rustc accepts the attribute there, but it has no effect.
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

/// Reports a field that is called `_`, and returns whether the field has a name.
fn is_named(member: &Member, errors: &mut Errors) -> bool {
    let is_nameless = matches!(member, Member::Named(name) if name == "_");
    if is_nameless {
        errors.at(member, NAMELESS);
    }
    !is_nameless
}
