//! Expands `operator_interface!`.
//!
//! For `pub trait Source { output frame: Tensor<u8>; }` the items are:
//!
//! - `Source`, the trait that bounds a type parameter of a graph. Its function returns the ports of a node, and is written by
//!   `#[operator(implements(Source))]` and `#[implements(Source)]`.
//! - `Source_Ports<'a>`, these ports, with the port types as `Source_frame`. They are written as those of a graph with ports.
//! - `__Source`, a trait of all types that names `Source_Ports`. An implementation in another module names that struct by it, as
//!   `Self::InterfacePorts`, and so needs no path other than the user's path of `Source`.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Generics, Type};

use super::parse::parse_interface;
use super::parts::{Side, unraw_name};
use super::syntax::{ParsedInterface, PortStatement};
use crate::diagnostic::Errors;
use crate::operator::{
    DeclaredPort, PortDeclaration, PortItems, PortOptions, expand_graph_ports, read_graph_port,
};
use crate::tokens::{spelled, ungrouped};

/// Expands one use of `operator_interface!`.
pub(crate) fn interface(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let interface = parse_interface(tokens, &mut errors);
    let expanded = interface.map(|interface| expand_interface(interface, &mut errors));
    [expanded.unwrap_or_default(), errors.into_tokens()].into_iter().collect()
}

fn expand_interface(interface: ParsedInterface, errors: &mut Errors) -> TokenStream {
    let ParsedInterface { attributes, visibility, name, ports } = interface;
    if ports.is_empty() && errors.is_empty() {
        errors.at(&name, "an interface has a port: `input name: Type;` or `output name: Type;`");
    }
    let mut known = HashSet::new();
    let mut declared: Vec<DeclaredPort> = Vec::new();
    for PortStatement { docs, side, options, name: port, ty } in ports {
        let text = unraw_name(&port);
        if options.many || options.optional {
            errors.at(
                &port,
                "an input of an interface has one edge, and has no options: an operator that has one may implement it; remove the options",
            );
        }
        if text.starts_with("__") {
            errors.at(&port, "names that begin with `__` are reserved");
        } else if text == "Ports" {
            errors.at(
                &port,
                format!("`{name}_Ports` is a name of the expansion; give the port another name"),
            );
        } else if !known.insert(text.clone()) {
            errors.at(&port, format!("port `{text}` is declared twice; give one another name"));
        } else {
            let ty = match ungrouped(&ty) {
                Type::Array(array) => {
                    let text = format!(
                        "a port of an interface is a single one, since an operator has no arrays of ports; write one port for each \
                         element, with the type `{}`",
                        spelled(&array.elem)
                    );
                    errors.at(&ty, text);
                    (*array.elem).clone()
                }
                _ => ty,
            };
            let is_input = side == Side::Input;
            let options = PortOptions::default();
            let port = PortDeclaration { name: &port, ty: &ty, docs, is_input, options };
            declared.push(read_graph_port(&name, port, errors));
        }
    }
    let items = expand_graph_ports(
        &name,
        &visibility,
        &Generics::default(),
        declared.iter(),
        errors.is_empty(),
    );
    let PortItems { types, impls, fields, table, .. } = items;
    let span = name.span();
    let ports = format_ident!("{}_Ports", name.unraw(), span = span);
    let named = format_ident!("__{}", name.unraw(), span = span);
    let text = format!("The ports of a node whose type is a [`{name}`].");
    let missing = format!("`{{Self}}` does not have the ports of `{name}`");
    let note = format!(
        "write `#[operator(implements({name}))]` on the definition of an operator, or `#[implements({name})]` on that of a graph"
    );
    let marker =
        declared.is_empty().then(|| quote!(__streamflow: ::core::marker::PhantomData<&'__a ()>,));
    quote! {
        #types

        #[doc = #text]
        #[allow(dead_code, missing_debug_implementations, non_camel_case_types)]
        #visibility struct #ports<'__a> { #(#fields)* #marker }

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility trait #named {
            type InterfacePorts<'__a>;
        }

        impl<T> #named for T {
            type InterfacePorts<'__a> = #ports<'__a>;
        }

        #(#attributes)*
        #table
        #[diagnostic::on_unimplemented(message = #missing, label = "another type is needed here", note = #note)]
        #visibility trait #name:
            ::streamflow::__private::NodeType<Made: ::streamflow::__private::Restartable<Value = <Self as ::streamflow::__private::NodeType>::Value>>
            + ::streamflow::__private::RunsAsNode
            + ::streamflow::__private::NotMadeOfItself
            + #named
            + 'static
        {
            #[doc(hidden)]
            fn interface(
                made: &mut <Self as ::streamflow::__private::NodeType>::Made,
                wiring: ::streamflow::__private::Wiring,
            ) -> #ports<'_>;
        }

        #[allow(non_local_definitions, trivial_bounds, non_camel_case_types, unexpected_cfgs)]
        const _: () = {
            #impls
        };
    }
}
