//! Reads the type of a port as its message and its form, and reports types that a port can't have.

use syn::{GenericArgument, Path, PathArguments, Type, parse_quote};

use super::message_type::check_message_type;
use super::model::Form;
use crate::diagnostic::Errors;
use crate::tokens::{spelled, ungrouped};

/// The parts of a port's type.
pub(super) struct PortType {
    /// The port's type as the user wrote it, after the removal of mistakes.
    pub(super) written: Type,
    /// The type of the messages that travel along the edges of the port.
    pub(super) message: Type,
    pub(super) form: Form,
    /// Whether the user wrote an `Option` where `#[input(optional)]` belongs.
    pub(super) optional: bool,
}

/// Reads the type of an input: `&T` reads the message, `Shared<T>` shares it, and any other type takes it. The macro goes by the
/// tokens alone, since a macro can't resolve names.
pub(super) fn read_input_type(ty: &Type, errors: &mut Errors) -> PortType {
    let ty = ungrouped(ty);
    match ty {
        Type::Reference(reference) => {
            let target = spelled(&reference.elem);
            if reference.mutability.is_some() {
                errors.at(
                    ty,
                    format!("an input that changes its message takes it; write `{target}`"),
                );
                return read_input_type(&reference.elem, errors);
            }
            if let Some(lifetime) = &reference.lifetime {
                errors.at(
                    lifetime,
                    format!(
                        "an input is borrowed for one tick only, and has no named lifetime; write `&{target}`"
                    ),
                );
            }
            let mut reference = reference.clone();
            reference.lifetime = None;
            let message = check_message_type(&reference.elem, errors);
            *reference.elem = message.clone();
            let written = Type::Reference(reference);
            PortType { written, message, form: Form::Reads, optional: false }
        }
        Type::Path(path) => {
            if let Some(inner) = type_argument(&path.path, "Option") {
                errors.at(
                    ty,
                    format!(
                        "an input that may be empty is written `#[input(optional)]`, with the \
                         type `{}`",
                        spelled(inner)
                    ),
                );
                return PortType { optional: true, ..read_input_type(inner, errors) };
            }
            match type_argument(&path.path, "Shared") {
                Some(shared) => {
                    let message = check_message_type(shared, errors);
                    let mut written = path.clone();
                    if let Some(last) = written.path.segments.last_mut() {
                        last.arguments = PathArguments::AngleBracketed(parse_quote!(<#message>));
                    }
                    let written = Type::Path(written);
                    PortType { written, message, form: Form::Shares, optional: false }
                }
                None => taking_port(check_message_type(ty, errors)),
            }
        }
        _ => taking_port(check_message_type(ty, errors)),
    }
}

/// Reads the type of an output. It is the type of the message, since an output gives its message away.
pub(super) fn read_output_type(ty: &Type, errors: &mut Errors) -> PortType {
    let ty = ungrouped(ty);
    match ty {
        Type::Reference(reference) => {
            errors.at(
                ty,
                format!(
                    "an output gives its message away, so it can't borrow it; write `{}`",
                    spelled(&reference.elem)
                ),
            );
            read_output_type(&reference.elem, errors)
        }
        Type::Path(path) => match type_argument(&path.path, "Option") {
            Some(inner) => {
                errors.at(
                    ty,
                    format!(
                        "an output is always optional: without a call of `emit` it sends nothing; write `{}`",
                        spelled(inner)
                    ),
                );
                read_output_type(inner, errors)
            }
            None => taking_port(check_message_type(ty, errors)),
        },
        _ => taking_port(check_message_type(ty, errors)),
    }
}

fn taking_port(ty: Type) -> PortType {
    PortType { written: ty.clone(), message: ty, form: Form::Takes, optional: false }
}

/// Returns the `T` of `Name<T>` or `path::Name<T>`, where `name` is the `Name`.
pub(super) fn type_argument<'a>(path: &'a Path, name: &str) -> Option<&'a Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match (list.args.first(), list.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}
