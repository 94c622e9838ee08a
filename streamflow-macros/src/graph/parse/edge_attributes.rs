//! Reads the attributes of edges.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Meta, Token};

use super::attribute::{AttributeTarget, is_doc, reject_attribute};
use crate::diagnostic::{Errors, similar};
use crate::expression::whole_number;
use crate::graph::parts::{Carries, EdgeAttributes, Policy};

const POLICIES: &str = "`pop` drops the oldest message, `reject` the new one, and `fault` is an \
                        error; without `#[policy]` the producer waits for room";

/// Reads the attributes of an edge statement. They apply to each of its edges.
pub(super) fn read_edge_attributes(
    attributes: &[Attribute],
    errors: &mut Errors,
) -> EdgeAttributes {
    let mut edge = EdgeAttributes::default();
    for attribute in attributes {
        let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            _ if is_doc(attribute) => {}
            "copy" => read_carries(Carries::Copy, attribute, &mut edge, errors),
            "transfer" => read_carries(Carries::Transfer, attribute, &mut edge, errors),
            "capacity" if edge.capacity.is_some() => {
                errors.at(attribute, "`#[capacity]` is given twice; an edge has one queue");
            }
            "capacity" => edge.capacity = read_capacity(attribute, errors),
            "policy" if edge.policy.is_some() => {
                errors.at(attribute, "`#[policy]` is given twice; an edge has one queue");
            }
            "policy" => edge.policy = read_policy(attribute, errors),
            "feedback" if edge.initial.is_some() => {
                errors.at(attribute, "`#[feedback]` is given twice");
            }
            "feedback" => {
                edge.is_feedback = true;
                edge.initial = read_initial(attribute, errors);
            }
            _ => {
                reject_attribute(attribute, AttributeTarget::Edge, errors);
                // The user may mean `#[feedback]` by the unknown attribute. The edge counts as feedback, so that a cycle through
                // it is no further error.
                edge.is_feedback = true;
            }
        }
    }
    edge
}

/// Reads `#[copy]` or `#[transfer]`.
fn read_carries(
    asked: Carries,
    attribute: &Attribute,
    edge: &mut EdgeAttributes,
    errors: &mut Errors,
) {
    let name = if asked == Carries::Copy { "copy" } else { "transfer" };
    if !matches!(attribute.meta, Meta::Path(_)) {
        errors.at(attribute, format!("`#[{name}]` takes no options"));
    } else if edge.carries == asked {
        errors.at(attribute, format!("`#[{name}]` is given twice"));
    } else if edge.carries != Carries::Message {
        let text = "`#[transfer]` makes a copy already, on the other device; remove `#[copy]`";
        errors.at(attribute, text);
    }
    edge.carries = asked;
}

/// Reads the number in `#[capacity(n)]`.
fn read_capacity(attribute: &Attribute, errors: &mut Errors) -> Option<Expr> {
    let Ok(number) = attribute.parse_args::<Expr>() else {
        errors.at(attribute, "`#[capacity(n)]` takes how many messages wait on the edge at most");
        return None;
    };
    if whole_number(&number) == Some(0) {
        errors.at(&number, "an edge holds at least 1 message");
        return None;
    }
    Some(number)
}

/// Reads the name in `#[policy(pop)]`.
fn read_policy(attribute: &Attribute, errors: &mut Errors) -> Option<Policy> {
    let Ok(name) = attribute.parse_args::<Ident>() else {
        errors.at(attribute, format!("`#[policy(…)]` names one policy: {POLICIES}"));
        return None;
    };
    let written = name.to_string();
    match written.as_str() {
        "pop" => Some(Policy::Pop),
        "reject" => Some(Policy::Reject),
        "fault" => Some(Policy::Fault),
        _ => {
            let hint = similar(&written, &["pop", "reject", "fault"])
                .map(|name| format!("did you mean `{name}`? "))
                .unwrap_or_default();
            errors.at(&name, format!("unknown policy `{written}`; {hint}{POLICIES}"));
            None
        }
    }
}

/// Reads the first message in `#[feedback(initial = expression)]`.
fn read_initial(attribute: &Attribute, errors: &mut Errors) -> Option<Expr> {
    let parser = |input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((name, input.parse::<Expr>()?))
    };
    let tokens = match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    match parser.parse2(tokens) {
        Ok((name, value)) if name == "initial" => Some(value),
        _ => {
            errors.at(
                attribute,
                "`#[feedback]` needs the message with which the consumer begins: \
                 `#[feedback(initial = …)]`, with a value of the edge's type",
            );
            None
        }
    }
}

/// Reports all attributes of edges at a discard, `a.out >> _`. A discard has no queue and copies nothing.
pub(super) fn reject_at_discard(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes {
        let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let text = match name.as_str() {
            "copy" | "transfer" => {
                format!("a discarded message is not copied; remove `#[{name}]`")
            }
            name if AttributeTarget::Edge.names().contains(&name) => {
                format!("a discarded message waits nowhere; remove `#[{name}]`")
            }
            _ => continue,
        };
        errors.at(attribute, text);
    }
}
