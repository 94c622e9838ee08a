//! Checks the parameters of a graph.

use std::collections::HashSet;

use crate::diagnostic::Errors;
use crate::graph::parts::{Header, unraw_name};

/// Reports parameters that are named `platform` or named as another parameter, and returns the header without them.
pub(super) fn check_header(mut header: Header, errors: &mut Errors) -> Header {
    let mut params = HashSet::new();
    header.params.retain(|param| {
        let name = &param.name;
        let text = if name == "platform" {
            "`platform` is the first parameter of every graph, and is there already; remove this \
             one"
            .to_owned()
        } else if !params.insert(name.to_string()) {
            format!("parameter `{name}` is declared twice")
        } else {
            return true;
        };
        errors.at(name, text);
        false
    });
    let constants: Vec<String> =
        header.generics.const_params().map(|it| unraw_name(&it.ident)).collect();
    for param in &header.params {
        let name = unraw_name(&param.name);
        if constants.contains(&name) {
            errors.at(
                &param.name,
                format!(
                    "`{name}` is a constant of this graph already; give the parameter another name"
                ),
            );
        }
    }
    if let Some(interface) = header.implements.first()
        && !header.has_ports
    {
        let text =
            format!("`{}` has no ports, so it implements no interface; remove this", header.name);
        errors.at(interface, text);
    }
    header
}
