//! Sorts the fields into ports and state, and reads the ports' attributes.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Field, Meta, Token, Type, Visibility, parse_quote};

use super::docs::text;
use super::input_options::{InputOptions, input_options};
use super::model::{Direction, Port, Size};
use super::port_type::{PortType, input, output};
use crate::diagnostic::{Errors, NAMELESS, similar};
use crate::tokens::{spelled, ungrouped};

/// The fields of the user's struct.
pub(super) struct Sorted {
    pub(super) ports: Vec<Port>,
    pub(super) state: Vec<Field>,
}

/// The attribute that makes a field a port.
enum Mark {
    Input(InputOptions),
    Output,
}

pub(super) fn sort(
    operator: &Ident,
    fields: Punctuated<Field, Token![,]>,
    errors: &mut Errors,
) -> Sorted {
    let mut sorted = Sorted { ports: Vec::new(), state: Vec::new() };
    let mut names = HashSet::new();
    for mut field in fields {
        let Some(ident) = field.ident.clone() else { continue };
        if ident == "_" {
            errors.at(&ident, NAMELESS);
            continue;
        }
        if ident.unraw().to_string().starts_with("__") {
            errors.at(&ident, "names that begin with `__` are reserved");
            continue;
        }
        if !names.insert(ident.unraw().to_string()) && !has_cfg(&field) {
            let text = format!("`{ident}` is declared twice; give one another name");
            errors.at(&ident, text);
            continue;
        }
        let mark = mark(&mut field, errors).or_else(|| borrowed(&ident, &mut field.ty, errors));
        match mark {
            Some(mark) => sorted.ports.push(port(operator, ident, mark, field, errors)),
            None => sorted.state.push(field),
        }
    }
    sorted
}

/// Whether the field depends on `cfg`. Another field may then have the same name.
fn has_cfg(field: &Field) -> bool {
    field.attrs.iter().any(|attr| attr.path().is_ident("cfg"))
}

/// Removes the field's `#[input]` or `#[output]`, and returns it.
fn mark(field: &mut Field, errors: &mut Errors) -> Option<Mark> {
    let mut found: Option<Mark> = None;
    field.attrs.retain(|attr| {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else { return true };
        let meant = match name.as_str() {
            "input" => "input",
            "output" => "output",
            other => match misspelled(other) {
                Some(meant) => {
                    errors.at(
                        attr,
                        format!("unknown attribute `{other}`; did you mean `#[{meant}]`?"),
                    );
                    meant
                }
                None => return true,
            },
        };
        let mark = if meant == "input" {
            Mark::Input(input_options(attr, errors))
        } else {
            no_options(attr, errors);
            Mark::Output
        };
        match &found {
            None => found = Some(mark),
            Some(first) if matches!(first, Mark::Output) == matches!(mark, Mark::Output) => {
                errors.at(attr, format!("`#[{meant}]` is given twice; remove one"));
            }
            Some(_) => errors.at(
                attr,
                "a port is an input or an output; declare two ports, one for each direction",
            ),
        }
        false
    });
    found
}

/// The attribute of which `name` is probably a misspelling.
fn misspelled(name: &str) -> Option<&'static str> {
    match name {
        "in" | "inputs" => Some("input"),
        "out" | "outputs" => Some("output"),
        _ => similar(name, &["input", "output"]),
    }
}

fn no_options(attr: &Attribute, errors: &mut Errors) {
    if !matches!(attr.meta, Meta::Path(_)) {
        errors.at(attr, "an output has no options; write `#[output]`");
    }
}

fn port(operator: &Ident, ident: Ident, mark: Mark, field: Field, errors: &mut Errors) -> Port {
    if !matches!(field.vis, Visibility::Inherited) {
        errors.at(&field.vis, "a port is as visible as its operator; remove this");
    }
    let docs = port_attributes(&ident, field.attrs, errors);
    let (PortType { written, message, .. }, direction, size) = match mark {
        Mark::Input(InputOptions { optional, size }) => {
            let ty = input(&field.ty, errors);
            let direction = Direction::Input { form: ty.form, optional: optional || ty.optional };
            (ty, direction, size)
        }
        Mark::Output => (output(&field.ty, errors), Direction::Output, Size::One),
    };
    // Type names with an underscore are unusual, so this one does not collide with the user's. rustc shows it.
    let marker = format_ident!("{}_{}", operator.unraw(), ident.unraw(), span = ident.span());
    Port { doc: text(&docs), ident, direction, size, message, written, docs, marker }
}

/// The port's doc comment. Any other attribute is an error: the generated struct does not have this field.
fn port_attributes(port: &Ident, attrs: Vec<Attribute>, errors: &mut Errors) -> Vec<Attribute> {
    let (docs, others): (Vec<_>, Vec<_>) =
        attrs.into_iter().partition(|attr| attr.path().is_ident("doc"));
    for attr in others {
        let name = attr.path().to_token_stream().to_string().replace(' ', "");
        errors.at(
            &attr,
            if matches!(name.as_str(), "cfg" | "cfg_attr") {
                format!("a port cannot depend on `{name}`; put it on the whole operator")
            } else {
                format!("`{port}` is a port, not a field of the struct; remove `#[{name}]`")
            },
        );
    }
    docs
}

/// Reports a reference without a lifetime: a port whose attribute is missing, or state that must be owned. rustc would
/// suggest a lifetime parameter, which an operator can't have.
fn borrowed(ident: &Ident, ty: &mut Type, errors: &mut Errors) -> Option<Mark> {
    let Type::Reference(reference) = ungrouped(ty) else { return None };
    if reference.lifetime.is_some() {
        return None;
    }
    let owned: Option<Type> = match ungrouped(&reference.elem) {
        Type::Path(path) if path.path.is_ident("str") => Some(parse_quote!(::std::string::String)),
        Type::Slice(slice) => {
            let element = &slice.elem;
            Some(parse_quote!(::std::vec::Vec<#element>))
        }
        _ => None,
    };
    let Some(owned) = owned else {
        // Most likely an input; as state it would not compile.
        errors.at(
            ty,
            format!(
                "`{ident}` borrows; mark it `#[input]` if it is a port, and own it if it is \
                 state: an operator lives as long as its graph"
            ),
        );
        return Some(Mark::Input(InputOptions::default()));
    };
    // A type without a size can't be a port, so the field is state.
    let name = spelled(&owned).replace("::std::string::", "").replace("::std::vec::", "");
    let text = format!(
        "`{ident}` borrows, and an operator lives as long as its graph; own it, as `{name}`"
    );
    errors.at(&*ty, text);
    *ty = owned;
    None
}
