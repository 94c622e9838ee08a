//! Reads the attributes of nodes.

use proc_macro2::Ident;
use syn::Attribute;
use syn::ext::IdentExt;

use super::attribute::{AttributeTarget, is_doc, reject_attribute};
use super::conditions::read_conditions;
use super::on_failure::read_on_failure;
use crate::diagnostic::Errors;
use crate::graph::parts::{NodeAttributes, Streams};

/// Reads the attributes of a node.
pub(super) fn read_node_attributes(
    attributes: Vec<Attribute>,
    errors: &mut Errors,
) -> NodeAttributes {
    let mut node = NodeAttributes::default();
    for attribute in attributes {
        if is_doc(&attribute) {
            node.docs.push(attribute);
        } else if attribute.path().is_ident("streams") {
            read_streams(&attribute, &mut node.streams, errors);
        } else if attribute.path().is_ident("worker") {
            read_worker(&attribute, &mut node.worker, errors);
        } else if attribute.path().is_ident("when") {
            read_conditions(&attribute, &mut node, errors);
        } else if attribute.path().is_ident("on_failure") && node.on_failure.is_some() {
            errors.at(&attribute, "`#[on_failure]` is given twice; a node has one policy");
        } else if attribute.path().is_ident("on_failure") {
            node.on_failure = read_on_failure(&attribute, errors);
        } else {
            reject_attribute(&attribute, AttributeTarget::Node, errors);
        }
    }
    node
}

/// Reads the pool in `#[streams(POOL)]`, or `#[streams(none)]`.
fn read_streams(attribute: &Attribute, streams: &mut Streams, errors: &mut Errors) {
    let Ok(name) = attribute.parse_args::<Ident>() else {
        errors.at(
            attribute,
            "this attribute names one stream pool of the graph, `#[streams(POOL)]`, or is \
             `#[streams(none)]`",
        );
        return;
    };
    if !matches!(streams, Streams::OwnPool) {
        errors.at(attribute, "`#[streams]` is given twice; a node has one stream pool");
        return;
    }
    *streams = if name == "none" { Streams::Adopt } else { Streams::Pool(name) };
}

/// Reads the name of the worker in `#[worker(name)]`.
fn read_worker(attribute: &Attribute, worker: &mut Option<Ident>, errors: &mut Errors) {
    let Ok(name) = attribute.parse_args::<Ident>() else {
        errors.at(
            attribute,
            "this attribute names one worker, `#[worker(disk)]`: the thread on which the node runs",
        );
        return;
    };
    if worker.is_some() {
        errors.at(attribute, "`#[worker]` is given twice; a node runs on one worker");
    } else if name.unraw() == "none" {
        errors.at(
            &name,
            "`none` is no name of a worker; a node without `#[worker(…)]` runs on any worker without a name, so \
             remove this, or give the worker another name",
        );
    } else {
        *worker = Some(name);
    }
}
