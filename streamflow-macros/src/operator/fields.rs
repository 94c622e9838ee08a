//! Sorts the fields of the user's struct into ports and state, and reads the attributes of the ports.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Field, Meta, Token, Type, Visibility, parse_quote};

use super::docs::read_doc_text;
use super::input_options::{InputOptions, read_input_options};
use super::model::{Direction, Param, Port, Size};
use super::param_options::take_param;
use super::port_type::{PortType, read_input_type, read_output_type};
use crate::diagnostic::{Errors, NAMELESS, similar};
use crate::tokens::{spelled, ungrouped};

/// The fields of the user's struct, as ports, parameters and state.
pub(super) struct SortedFields {
    pub(super) ports: Vec<Port>,
    pub(super) state: Vec<Field>,
    /// The state fields that are marked `#[param]`. They are in `state` as well.
    pub(super) params: Vec<Param>,
    /// One entry for each state field that is marked `#[state]`: `new` makes such fields by `Default`.
    pub(super) made: Vec<StateAttribute>,
}

/// A `#[state]` attribute and the name of the field that it stands on.
pub(super) struct StateAttribute {
    pub(super) field: Ident,
    pub(super) written: Attribute,
}

/// The attribute that makes a field a port.
enum PortAttribute {
    Input(InputOptions),
    Output { is_branch: bool },
}

pub(super) fn sort_fields(
    operator: &Ident,
    fields: Punctuated<Field, Token![,]>,
    errors: &mut Errors,
) -> SortedFields {
    let mut sorted =
        SortedFields { ports: Vec::new(), state: Vec::new(), params: Vec::new(), made: Vec::new() };
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
        let attribute = take_port_attribute(&mut field, errors)
            .or_else(|| reject_borrowed_field(&ident, &mut field.ty, errors));
        match attribute {
            Some(attribute) => {
                reject_param_attribute(&mut field, errors);
                if let Some(StateAttribute { written, .. }) = take_state(&mut field, errors) {
                    let text = "a port is no state: it has no value between two ticks; remove this";
                    errors.at(written, text);
                }
                sorted.ports.push(read_port(operator, ident, attribute, field, errors));
            }
            None => {
                sorted.params.extend(take_param(&mut field, errors));
                sorted.made.extend(take_state(&mut field, errors));
                sorted.state.push(field);
            }
        }
    }
    sorted
}

/// Whether the field has a `#[cfg]`. If so, another field under the opposite condition may have the same name.
fn has_cfg(field: &Field) -> bool {
    field.attrs.iter().any(|attr| attr.path().is_ident("cfg"))
}

/// Reports and removes `#[param]` on a port.
fn reject_param_attribute(field: &mut Field, errors: &mut Errors) {
    field.attrs.retain(|attr| {
        let is_param = attr.path().is_ident("param");
        if is_param {
            let text = "a port carries messages, and is no parameter; give the parameter a field of \
                        its own, or remove this";
            errors.at(attr, text);
        }
        !is_param
    });
}

/// Removes `#[state]` from the field and returns it, or `None` if the field has none. A misspelled one counts, and is reported.
fn take_state(field: &mut Field, errors: &mut Errors) -> Option<StateAttribute> {
    let ident = field.ident.clone()?;
    let mut found: Option<StateAttribute> = None;
    field.attrs.retain(|attr| {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else { return true };
        if name != "state" {
            if similar(&name, &["state"]).is_none() {
                return true;
            }
            errors.at(attr, format!("unknown attribute `{name}`; did you mean `#[state]`?"));
        } else if !matches!(attr.meta, Meta::Path(_)) {
            errors.at(attr, "the state that `new` makes is the type's `Default`; write `#[state]`");
        } else if found.is_some() {
            errors.at(attr, "`#[state]` is given twice; remove one");
        }
        found.get_or_insert(StateAttribute { field: ident.clone(), written: attr.clone() });
        false
    });
    found
}

/// Removes `#[input]` or `#[output]` from the field and returns it, or `None` if the field has none.
fn take_port_attribute(field: &mut Field, errors: &mut Errors) -> Option<PortAttribute> {
    let mut found: Option<PortAttribute> = None;
    field.attrs.retain(|attr| {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else { return true };
        let meant = match name.as_str() {
            "input" => "input",
            "output" => "output",
            other => match find_misspelled(other) {
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
        let attribute = if meant == "input" {
            PortAttribute::Input(read_input_options(attr, errors))
        } else {
            PortAttribute::Output { is_branch: read_output_options(attr, errors) }
        };
        match &found {
            None => found = Some(attribute),
            Some(first)
                if matches!(first, PortAttribute::Output { .. })
                    == matches!(attribute, PortAttribute::Output { .. }) =>
            {
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

/// Returns the attribute that `name` probably misspells: `input`, `output` or none.
fn find_misspelled(name: &str) -> Option<&'static str> {
    match name {
        "in" | "inputs" => Some("input"),
        "out" | "outputs" => Some("output"),
        _ => similar(name, &["input", "output"]),
    }
}

/// Returns whether the output is a branch, its only option.
fn read_output_options(attr: &Attribute, errors: &mut Errors) -> bool {
    let written = match &attr.meta {
        Meta::Path(_) => return false,
        Meta::List(list) => list.parse_args::<Ident>().ok().map(|option| option.to_string()),
        Meta::NameValue(_) => None,
    };
    let meant = written.as_deref().and_then(|option| similar(option, &["branch"]));
    if written.as_deref() != Some("branch") {
        let hint = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        let text = "write `#[output]` or `#[output(branch)]`";
        errors.at(attr, format!("an output has no other option than `branch`; {hint}{text}"));
    }
    meant.is_some()
}

fn read_port(
    operator: &Ident,
    ident: Ident,
    attribute: PortAttribute,
    field: Field,
    errors: &mut Errors,
) -> Port {
    if !matches!(field.vis, Visibility::Inherited) {
        errors.at(&field.vis, "a port is as visible as its operator; remove this");
    }
    let docs = read_port_docs(&ident, field.attrs, errors);
    let is_branch = matches!(attribute, PortAttribute::Output { is_branch: true });
    let (PortType { written, message, .. }, direction, size) = match attribute {
        PortAttribute::Input(InputOptions { optional, size }) => {
            let ty = read_input_type(&field.ty, errors);
            let direction = Direction::Input { form: ty.form, optional: optional || ty.optional };
            (ty, direction, size)
        }
        PortAttribute::Output { .. } => {
            (read_output_type(&field.ty, errors), Direction::Output, Size::One)
        }
    };
    // Names of types rarely have an underscore, so `Blur_image` is unlikely to be a type of the user. rustc's errors show this
    // name.
    let port_type_name =
        format_ident!("{}_{}", operator.unraw(), ident.unraw(), span = ident.span());
    Port {
        doc: read_doc_text(&docs),
        ident,
        direction,
        size,
        message,
        shown: written.clone(),
        written,
        is_branch,
        is_checked: false,
        docs,
        port_type_name,
    }
}

/// Returns the port's doc comment. Any other attribute is reported: the generated structs don't have the user's field, so they
/// could not carry it.
fn read_port_docs(port: &Ident, attrs: Vec<Attribute>, errors: &mut Errors) -> Vec<Attribute> {
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

/// Reports a field whose type is a reference without a lifetime: a port without its attribute, or state that must be owned. rustc
/// would suggest a lifetime parameter, which an operator can't have.
fn reject_borrowed_field(
    ident: &Ident,
    ty: &mut Type,
    errors: &mut Errors,
) -> Option<PortAttribute> {
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
        // The field is most likely meant as an input, and is handled as one. As state, the reference would not compile.
        errors.at(
            ty,
            format!(
                "`{ident}` borrows; mark it `#[input]` if it is a port, and own it if it is \
                 state: an operator lives as long as its graph"
            ),
        );
        return Some(PortAttribute::Input(InputOptions::default()));
    };
    // The reference points to a type without a size, as `str`, which can't be a port. So the field is state.
    let name = spelled(&owned).replace("::std::string::", "").replace("::std::vec::", "");
    let text = format!(
        "`{ident}` borrows, and an operator lives as long as its graph; own it, as `{name}`"
    );
    errors.at(&*ty, text);
    *ty = owned;
    None
}
