//! Checks that a type can be a message, and finds its fields.

use syn::{Data, DeriveInput, GenericParam, Generics, Ident, Member, Type};

use crate::diagnostic::{Errors, NAMELESS};

/// A message to be expanded.
pub(super) struct Message {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    /// Empty for a rejected type.
    pub(super) fields: Vec<(Member, Type)>,
}

pub(super) fn message(input: DeriveInput, errors: &mut Errors) -> Message {
    let DeriveInput { ident, generics, data, .. } = input;
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
    let fields = match data {
        Data::Struct(data) => {
            let types = data.fields.iter().map(|field| field.ty.clone());
            let fields = data.fields.members().zip(types);
            fields.filter(|(member, _)| is_named(member, errors)).collect()
        }
        Data::Enum(data) => {
            errors.at(
                data.enum_token,
                format!(
                    "a message is a struct, since its type says whether it has device data; send \
                     `HostData<{ident}>` if `{ident}` is for the host, or give each case an output \
                     of its own"
                ),
            );
            Vec::new()
        }
        Data::Union(data) => {
            errors.at(data.union_token, "a message is a struct whose fields are messages");
            Vec::new()
        }
    };
    Message { ident, generics, fields }
}

/// A field can't be called `_`.
fn is_named(member: &Member, errors: &mut Errors) -> bool {
    let is_nameless = matches!(member, Member::Named(name) if name == "_");
    if is_nameless {
        errors.at(member, NAMELESS);
    }
    !is_nameless
}
