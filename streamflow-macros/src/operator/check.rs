//! Whether a type can be an operator, and what its ports are.

use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DataStruct, DeriveInput, Fields, GenericParam, Generics};

use super::fields::{Sorted, sort};
use super::model::{Body, Expandable, Operator, Options, Port};
use crate::diagnostic::Errors;

/// The operator, as far as it can be understood.
pub(super) fn operator(options: Options, input: DeriveInput, errors: &mut Errors) -> Operator {
    let whole = input.to_token_stream();
    let DeriveInput { attrs, vis, ident, generics, data } = input;
    let expandable = lifetimes(&generics, errors);
    let mut ports = Vec::new();
    let body = match data {
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => {
            let Sorted { ports: found, state } = sort(&ident, fields.named, errors);
            ports = found;
            if ports.is_empty() {
                errors.at(
                    &ident,
                    format!(
                        "`{ident}` has no port; mark at least one field, `#[input] image: \
                         &Tensor<f32>` or `#[output] image: Tensor<f32>`"
                    ),
                );
            }
            Body::State(state)
        }
        Data::Struct(DataStruct { fields: Fields::Unit, .. }) => {
            errors.at(
                &ident,
                format!(
                    "`{ident}` has no port; write `struct {ident} {{ #[input] image: \
                     &Tensor<f32> }}`"
                ),
            );
            Body::State(Vec::new())
        }
        Data::Struct(DataStruct { fields: Fields::Unnamed(fields), .. }) => {
            errors.at(
                fields,
                "an operator's ports are named fields; write `{ … }` with a name for each",
            );
            Body::AsWritten(whole)
        }
        Data::Enum(data) => {
            errors.at(
                data.enum_token,
                "an operator is a struct with ports; make the enum one of its fields",
            );
            Body::AsWritten(whole)
        }
        Data::Union(data) => {
            errors.at(data.union_token, "an operator is a struct with ports, never a union");
            Body::AsWritten(whole)
        }
    };
    for stream in &options.streams {
        if ports.iter().any(|port| port.ident.unraw() == stream.unraw()) {
            errors.at(
                stream,
                format!(
                    "`{stream}` is a port and a stream; both are fields of `{}Io`, so rename one",
                    ident.unraw()
                ),
            );
        }
    }
    let streams = options
        .streams
        .iter()
        .filter(|stream| !ports.iter().any(|port| port.ident.unraw() == stream.unraw()));
    let options = Options { streams: streams.cloned().collect(), ..options };
    distinct_markers(&ident, &mut ports);
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    Operator {
        cfgs: quote!(#(#cfgs)*),
        options,
        ident,
        visibility: vis,
        attrs,
        generics,
        body,
        ports,
        expandable,
    }
}

/// Operators are `'static`, so a lifetime parameter can't be of use.
fn lifetimes(generics: &Generics, errors: &mut Errors) -> Expandable {
    let mut expandable = Expandable::Operator;
    for param in &generics.params {
        if let GenericParam::Lifetime(param) = param {
            expandable = Expandable::Type;
            errors.at(
                param,
                format!(
                    "an operator has no lifetime parameters: it lives as long as its graph, and \
                     owns its state; remove `{}`",
                    param.lifetime
                ),
            );
        }
    }
    expandable
}

/// The names of the ports' types, kept apart from each other and from our other names.
fn distinct_markers(operator: &syn::Ident, ports: &mut [Port]) {
    let operator = operator.unraw();
    let mut taken: Vec<String> =
        ["Ports", "Io", "Streams"].map(|ours| format!("{operator}{ours}")).into();
    for port in ports {
        while taken.contains(&port.marker.to_string()) {
            port.marker = format_ident!("{}Port", port.marker, span = port.marker.span());
        }
        taken.push(port.marker.to_string());
    }
}
