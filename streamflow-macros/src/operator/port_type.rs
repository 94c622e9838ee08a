//! What the type of a port says, and what to write instead of types that say nothing.

use syn::{GenericArgument, Path, PathArguments, Type, parse_quote};

use super::message_type::message;
use super::model::Form;
use crate::diagnostic::Errors;
use crate::tokens::{spelled, ungrouped};

/// A port's type, taken apart.
pub(super) struct PortType {
    /// As the user wrote it, less what is wrong in it.
    pub(super) written: Type,
    /// What travels along the edge.
    pub(super) message: Type,
    pub(super) form: Form,
    /// Whether it was written as an `Option`, which is a mistake that says what was meant.
    pub(super) optional: bool,
}

/// `&T` reads, `Shared<T>` shares, and anything else takes. The tokens decide: a macro does not know
/// what a name stands for.
pub(super) fn input(ty: &Type, errors: &mut Errors) -> PortType {
    let ty = ungrouped(ty);
    match ty {
        Type::Reference(reference) => {
            let target = spelled(&reference.elem);
            if reference.mutability.is_some() {
                errors.at(
                    ty,
                    format!("an input that is written takes its message; write `{target}`"),
                );
                return input(&reference.elem, errors);
            }
            if let Some(lifetime) = &reference.lifetime {
                errors.at(
                    lifetime,
                    format!(
                        "an input is read within one tick, whatever its name; write `&{target}`"
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

/// An output hands its message on, so it has the type of the message.
pub(super) fn output(ty: &Type, errors: &mut Errors) -> PortType {
    let ty = ungrouped(ty);
    match ty {
        Type::Reference(reference) => {
            errors.at(
                ty,
                format!(
                    "an output hands its message on, it does not lend it; write `{}`",
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
                        "an output with nothing to send is simply not emitted; write `{}`",
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

/// `T` of `Name<T>`, by whatever path.
fn argument<'a>(path: &'a Path, name: &str) -> Option<&'a Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    match (list.args.first(), list.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}
