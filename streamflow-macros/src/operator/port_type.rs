//! Reads the type of a port: its message and its form. Reports types that a port can't have.

use syn::{GenericArgument, Path, PathArguments, Type, parse_quote};

use super::message_type::message;
use super::model::Form;
use crate::diagnostic::Errors;
use crate::tokens::{spelled, ungrouped};

/// The parts of a port's type.
pub(super) struct PortType {
    /// The type as the user wrote it, with its mistakes removed.
    pub(super) written: Type,
    /// The type that travels along the edge.
    pub(super) message: Type,
    pub(super) form: Form,
    /// Whether the user wrote an `Option` instead of `#[input(optional)]`.
    pub(super) optional: bool,
}

/// Reads the type of an input: `&T` reads, `Shared<T>` shares, and any other type takes. Only the tokens decide: a
/// macro can't resolve names.
pub(super) fn input(ty: &Type, errors: &mut Errors) -> PortType {
    let ty = ungrouped(ty);
    match ty {
        Type::Reference(reference) => {
            let target = spelled(&reference.elem);
            if reference.mutability.is_some() {
                errors.at(
                    ty,
                    format!("an input that changes its message takes it; write `{target}`"),
                );
                return input(&reference.elem, errors);
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
            let message = message(&reference.elem, errors);
            *reference.elem = message.clone();
            let written = Type::Reference(reference);
            PortType { written, message, form: Form::Reads, optional: false }
        }
        Type::Path(path) => {
            if let Some(inner) = argument(&path.path, "Option") {
                errors.at(
                    ty,
                    format!(
                        "an input that may be empty is written `#[input(optional)]`, with the \
                         type `{}`",
                        spelled(inner)
                    ),
                );
                return PortType { optional: true, ..input(inner, errors) };
            }
            match argument(&path.path, "Shared") {
                Some(shared) => {
                    let message = message(shared, errors);
                    let mut written = path.clone();
                    if let Some(last) = written.path.segments.last_mut() {
                        last.arguments = PathArguments::AngleBracketed(parse_quote!(<#message>));
                    }
                    let written = Type::Path(written);
                    PortType { written, message, form: Form::Shares, optional: false }
                }
                None => takes(message(ty, errors)),
            }
        }
        _ => takes(message(ty, errors)),
    }
}

/// Reads the type of an output, which is the type of its message: an output gives its message away.
pub(super) fn output(ty: &Type, errors: &mut Errors) -> PortType {
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
            output(&reference.elem, errors)
        }
        Type::Path(path) => match argument(&path.path, "Option") {
            Some(inner) => {
                errors.at(
                    ty,
                    format!(
                        "an output is always optional: without a call of `emit` it sends nothing; write `{}`",
                        spelled(inner)
                    ),
                );
                output(inner, errors)
            }
            None => takes(message(ty, errors)),
        },
        _ => takes(message(ty, errors)),
    }
}

fn takes(ty: Type) -> PortType {
    PortType { written: ty.clone(), message: ty, form: Form::Takes, optional: false }
}

/// `T` of `Name<T>` or `path::Name<T>`.
fn argument<'a>(path: &'a Path, name: &str) -> Option<&'a Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match (list.args.first(), list.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}
