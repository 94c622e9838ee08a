//! Checks the attributes and the parameters of a graph.

use std::collections::HashSet;

use crate::diagnostic::Errors;
use crate::graph::model::Header;
use crate::graph::parse::node_attributes;

/// The header without what is wrong in it.
pub(super) fn check_header(mut header: Header, errors: &mut Errors) -> Header {
    header.green_contexts = node_attributes::take_green_contexts(&mut header.attributes, errors);
    for attribute in &header.attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            errors
                .at(attribute, "`cfg` stands before `graph!`: more than the struct depends on it");
        }
    }
    header.attributes.retain(|attribute| {
        let of_node = ["streams", "when"].into_iter().find(|name| attribute.path().is_ident(name));
        if let Some(name) = of_node {
            let text = format!("`#[{name}]` is for nodes: put it on the node that it is about");
            errors.at(attribute, text);
        }
        of_node.is_none()
    });
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
    header
}
