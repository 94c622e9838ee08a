//! The ports of a graph. A graph declares its ports with the types that an operator's ports have, and each has the same items: the
//! port's own type, its implementation of `InputPort` or `OutputPort`, and a `PortInfo`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Generics, Ident, Type, TypeArray, TypePath, Visibility, parse_quote};

use super::checked::name_checked_types;
use super::docs;
use super::expand::{expand_port_impl, expand_port_info, expand_port_type};
use super::model::{Body, Direction, Expandable, Operator, Options, Port, Size};
use super::port_type::{read_input_type, read_output_type, type_argument};
use super::structs::name_types;
use crate::diagnostic::Errors;
use crate::tokens::{spelled, ungrouped};

/// A port that a graph declares.
pub(crate) struct DeclaredPort {
    /// The port; of an array, each of its ports.
    port: Port,
    /// The number of ports, if the graph declares an array: `[Type; length]`.
    length: Option<Expr>,
}

impl DeclaredPort {
    /// Returns the number of ports, if this is an array of ports.
    pub(crate) fn length(&self) -> Option<&Expr> {
        self.length.as_ref()
    }
}

/// The options of a graph's input: `input(many, optional) name: Type;`.
#[derive(Clone, Copy, Default)]
pub(crate) struct PortOptions {
    /// Whether any number of edges leads to the input.
    pub(crate) many: bool,
    /// Whether the input may be without an edge.
    pub(crate) optional: bool,
}

/// A port as a graph declares it.
pub(crate) struct PortDeclaration<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) is_input: bool,
    pub(crate) options: PortOptions,
}

/// Reads a port of the graph `graph`, and reports a type that a port can't have.
pub(crate) fn read_graph_port(
    graph: &Ident,
    port: PortDeclaration<'_>,
    errors: &mut Errors,
) -> DeclaredPort {
    let PortDeclaration { name, ty, docs, is_input, options } = port;
    let PortOptions { many, optional } = options;
    let array = read_array(ty, errors);
    let array = array.as_ref();
    let ty = array.map_or(ty, |array| &array.elem);
    if let (Some(_), Type::Array(_)) = (array, ungrouped(ty)) {
        errors.at(
            ty,
            "an array of ports has one index, so its elements are no arrays; write one array for each",
        );
    }
    let ty = innermost(ty);
    let (ty, direction) = if is_input {
        let ty = ungrouped(ty);
        let is_option = |path: &TypePath| type_argument(&path.path, "Option").cloned();
        let inner = if let Type::Path(path) = ty { is_option(path) } else { None };
        if let Some(inner) = &inner {
            let text = format!(
                "an input that may be without an edge is an `input(optional)`, with the type `{}`",
                spelled(inner)
            );
            errors.at(ty, text);
        }
        let ty = read_input_type(inner.as_ref().unwrap_or(ty), errors);
        let direction = Direction::Input { form: ty.form, optional };
        (ty, direction)
    } else {
        (read_output_type(ty, errors), Direction::Output)
    };
    let shown = match array {
        Some(array) => {
            Type::Array(TypeArray { elem: Box::new(ty.written.clone()), ..array.clone() })
        }
        None => ty.written.clone(),
    };
    let port = Port {
        doc: docs::read_doc_text(&docs),
        ident: name.clone(),
        direction,
        size: if many { Size::Many } else { Size::One },
        message: ty.message,
        shown,
        written: ty.written,
        is_branch: false,
        is_checked: false,
        docs,
        port_type_name: format_ident!("{}_{}", graph.unraw(), name.unraw(), span = name.span()),
    };
    DeclaredPort { port, length: array.map(|array| array.len.clone()) }
}

/// Returns the array that the type of a port is, if it is one. Reports an array of ports without a length.
fn read_array(ty: &Type, errors: &mut Errors) -> Option<TypeArray> {
    match ungrouped(ty) {
        Type::Array(array) => Some(array.clone()),
        Type::Slice(slice) if matches!(*slice.elem, Type::Reference(_)) => {
            let element = &slice.elem;
            let text = format!("an array of ports has a length; write `[{}; N]`", spelled(element));
            errors.at(ty, text);
            Some(parse_quote!([#element; 1]))
        }
        _ => None,
    }
}

/// Returns the type of the elements of an array of arrays. Any other type is returned as it is.
fn innermost(ty: &Type) -> &Type {
    match ungrouped(ty) {
        Type::Array(array) => innermost(&array.elem),
        ty => ty,
    }
}

/// The items of a graph's ports.
pub(crate) struct PortItems {
    /// The ports' own types.
    pub(crate) types: TokenStream,
    /// The checks of the types, and the implementations.
    pub(crate) impls: TokenStream,
    /// The fields of the struct with the ports.
    pub(crate) fields: Vec<TokenStream>,
    /// A `PortInfo` for each input.
    pub(crate) inputs: Vec<TokenStream>,
    /// A `PortInfo` for each output.
    pub(crate) outputs: Vec<TokenStream>,
    /// The table of the ports for the graph's documentation.
    pub(crate) table: TokenStream,
}

/// Writes the items of these ports of the graph `graph`. If `checks` is false, the types are not checked, for an editor.
pub(crate) fn expand_graph_ports<'a>(
    graph: &Ident,
    visibility: &Visibility,
    generics: &Generics,
    ports: impl Iterator<Item = &'a DeclaredPort>,
    checks: bool,
) -> PortItems {
    let (ports, lengths): (Vec<Port>, Vec<Option<&Expr>>) =
        ports.map(|declared| (declared.port.clone(), declared.length())).unzip();
    let mut operator = Operator {
        options: Options::default(),
        ident: graph.clone(),
        spans: [graph.span(); 2],
        visibility: visibility.clone(),
        attrs: Vec::new(),
        cfgs: TokenStream::new(),
        generics: generics.clone(),
        body: Body::State(Vec::new()),
        ports,
        params: Vec::new(),
        made: Vec::new(),
        expandable: Expandable::Operator,
        state_checks: Vec::new(),
    };
    let table = docs::write_port_table(&operator);
    let checked =
        if checks { name_checked_types(&mut operator).others } else { TokenStream::new() };
    let (operator, names) = (&operator, name_types(&operator));
    let infos = |are_inputs: bool| {
        let ports = operator.ports.iter().zip(&lengths);
        let ports = ports.filter(|(port, _)| (port.direction != Direction::Output) == are_inputs);
        let infos = ports.map(|(port, length)| {
            let info = expand_port_info(operator, port);
            match length {
                Some(length) => quote!(::streamflow::__private::PortInfo {
                    length: ::core::option::Option::Some(#length),
                    ..#info
                }),
                None => info,
            }
        });
        infos.collect::<Vec<_>>()
    };
    let (_, arguments, _) = generics.split_for_impl();
    let fields = operator.ports.iter().zip(&lengths).map(|(port, length)| {
        let (name, port_type, docs) =
            (&port.ident, &port.port_type_name, docs::write_port_docs(port));
        let exported = match port.direction {
            Direction::Input { .. } => quote!(ExportedInput),
            Direction::Output => quote!(ExportedOutput),
        };
        let exported = quote!(::streamflow::__private::#exported<'__a, #port_type #arguments>);
        match length {
            Some(length) => quote!(#docs pub #name: [#exported; #length],),
            None => quote!(#docs pub #name: #exported,),
        }
    });
    let impls = operator.ports.iter().map(|port| expand_port_impl(operator, port, &names));
    PortItems {
        types: operator.ports.iter().map(|port| expand_port_type(operator, port)).collect(),
        impls: quote!(#checked #(#impls)*),
        fields: fields.collect(),
        inputs: infos(true),
        outputs: infos(false),
        table,
    }
}
