//! Checks the edges between the ports of a graph and the nodes inside.

use std::collections::HashMap;

use proc_macro2::Ident;
use syn::Token;

use crate::diagnostic::Errors;
use crate::graph::index::Loop;
use crate::graph::model::{Border, OwnPort};
use crate::graph::parts::{EdgeAttributes, End, OwnEnd, Port, Side, unraw_name};

/// The edges between the ports of the graph and its nodes, as they are read.
pub(super) struct Borders<'a>(&'a mut [OwnPort]);

impl<'a> Borders<'a> {
    pub(super) fn new(ports: &'a mut [OwnPort]) -> Self {
        Self(ports)
    }

    /// Returns a port by its name. A port with a mistake is not among the ports, and was reported.
    fn port(&mut self, name: &Ident) -> Option<&mut OwnPort> {
        self.0.iter_mut().find(|port| unraw_name(&port.name) == unraw_name(name))
    }

    /// Whether an input of the graph leads to this input of a node, by an edge that is read already.
    pub(super) fn lead_to(&self, input: &Port, around: Option<&Loop>) -> bool {
        let places = input.places(around);
        borders(self.0, Side::Input).any(|border| {
            let inner = &border.inner;
            let is_same = unraw_name(&inner.node) == unraw_name(&input.node)
                && unraw_name(&inner.name) == unraw_name(&input.name);
            is_same && border.inner_places().may_meet(&places)
        })
    }

    /// Adds an edge that has a port of the graph at one end.
    pub(super) fn add(
        &mut self,
        ends: (&End, Token![>>], &End),
        attributes: &EdgeAttributes,
        (around, in_group): (Option<&Loop>, bool),
        errors: &mut Errors,
    ) {
        let (from, arrow, to) = ends;
        let (own, inner, side) = match (from, to) {
            (End::Own(own), End::Node(inner)) => (own, inner, Side::Input),
            (End::Node(inner), End::Own(own)) => (own, inner, Side::Output),
            (End::Own(from), End::Own(to)) => {
                let text = format!(
                    "an edge of a graph has a node at one of its ends, and `{from}` and `{to}` are ports of the graph; put an \
                     operator between them"
                );
                errors.at(to, text);
                return;
            }
            (End::Node(_), End::Node(_)) => return,
        };
        let Some(port) = self.port(&own.name) else { return };
        if port.side != side {
            let text = match side {
                Side::Input => format!(
                    "`{own}` is an output of this graph: an edge inside ends at it, `node.output >> {own};`"
                ),
                Side::Output => format!(
                    "`{own}` is an input of this graph: an edge inside begins at it, `{own} >> node.input;`"
                ),
            };
            errors.at(own, text);
            return;
        }
        if has_options(attributes) {
            let text = format!(
                "this is the inner end of an edge that leads to `{own}` from outside, or from it; its attributes are those of that \
                 edge, in the graph around this one"
            );
            errors.at(own, text);
        }
        if !fits_port(own, port, errors)
            || around.is_some() && !follow_loop(own, inner, side, errors)
        {
            return;
        }
        if let (Side::Output, None, Some(Border { inner: first, .. })) =
            (side, port.declared.length(), port.borders.first())
        {
            let text = format!(
                "output `{own}` of this graph is `{first}` already, and can't be `{inner}` too; declare another output"
            );
            errors.at(inner, text);
            return;
        }
        let (own, inner, around) = (own.clone(), inner.clone(), around.cloned());
        port.borders.push(Border { own, around, arrow, inner, in_group, is_shared: false });
    }
}

/// Whether a port of the graph has an index if it is an array, and none if it is a single port. Reports a port that does not.
fn fits_port(own: &OwnEnd, port: &OwnPort, errors: &mut Errors) -> bool {
    let name = unraw_name(&port.name);
    match (&own.element, port.declared.length()) {
        (None, Some(_)) => {
            let text = format!(
                "`{name}` is an array of ports; write `{name}[0]`, or `{name}[i]` in `for i in 0..n {{ … }}`"
            );
            errors.at(own, text);
            false
        }
        (Some(index), None) => {
            errors.at(index, format!("`{name}` is a single port, and has no index; remove it"));
            false
        }
        (None, None) | (Some(_), Some(_)) => true,
    }
}

/// Whether each turn of a loop joins another port of the graph and another port of a node. Reports an edge that does not.
fn follow_loop(own: &OwnEnd, inner: &Port, side: Side, errors: &mut Errors) -> bool {
    let text = match (&own.element, side) {
        (None, _) => format!(
            "`{own}` is a port of this graph, and its edges stand outside of a loop: one for each node, with a number as index"
        ),
        (Some(index), _) if !index.follows_loop() => format!(
            "`{own}` is the same port of this graph in each turn; write the variable of the loop as its index, or the edge outside of \
             the loop"
        ),
        (Some(_), Side::Input) if !inner.follows_loop() => format!(
            "each turn of this loop leads to `{inner}`, and one input of a graph leads to an input inside; put an operator before \
             `{inner}` that joins them"
        ),
        (Some(_), Side::Output) if !inner.follows_loop() => format!(
            "`{inner}` is another output of this graph in each turn, and is exported once; read that output outside as often as \
             needed"
        ),
        (Some(_), _) => return true,
    };
    match own.element.as_ref().is_some_and(|index| index.follows_loop()) {
        true => errors.at(inner, text),
        false => errors.at(own, text),
    }
    false
}

fn has_options(attributes: &EdgeAttributes) -> bool {
    let EdgeAttributes { carries: _, capacity, policy, is_feedback, initial } = attributes;
    attributes.has_copy()
        || capacity.is_some()
        || policy.is_some()
        || *is_feedback
        || initial.is_some()
}

/// Reports ports without an edge inside, in a graph without other mistakes: after another one, the edge may be left out.
pub(super) fn check_edges(ports: &[OwnPort], errors: &mut Errors) {
    if !errors.is_empty() {
        return;
    }
    for OwnPort { name, side, declared, .. } in ports.iter().filter(|port| port.borders.is_empty())
    {
        let index = if declared.length().is_some() { "[0]" } else { "" };
        let text = match side {
            Side::Input => format!(
                "input `{name}` of this graph leads nowhere; write `{name}{index} >> node.input;`, or remove it"
            ),
            Side::Output => format!(
                "output `{name}` of this graph has no producer; write `node.output >> {name}{index};`"
            ),
        };
        errors.at(name, text);
    }
}

/// Reports outputs of nodes that are two outputs of the graph, inputs of nodes that are two inputs of it, and repeated edges. Removes
/// the repeated ones, so that no further errors follow.
pub(super) fn check_repeated(ports: &mut [OwnPort], errors: &mut Errors) {
    let mut known: HashMap<_, String> = HashMap::new();
    for OwnPort { side, borders, .. } in ports {
        borders.retain(|border| {
            let (own, inner) = (border.own.to_string(), &border.inner);
            let name = (unraw_name(&inner.node), unraw_name(&inner.name));
            let key = (*side, name, border.inner_places());
            match (*side, known.get(&key)) {
                (_, None) => {
                    known.insert(key, own);
                    return true;
                }
                (Side::Input, Some(first)) if *first == own => {
                    let text = format!("this edge is there already; `{own}` feeds `{inner}` once");
                    errors.at(border.underlined_tokens(Side::Input), text);
                }
                (Side::Input, Some(first)) => {
                    let text = format!(
                        "input `{first}` of this graph leads to `{inner}` already, and one input of a graph leads to an input inside; \
                         put an operator before `{inner}` that joins them"
                    );
                    errors.at(border.underlined_tokens(Side::Input), text);
                }
                (Side::Output, Some(first)) => {
                    let text = format!(
                        "`{inner}` is output `{first}` of this graph already, and is exported once; read `{first}` outside as \
                         often as needed"
                    );
                    errors.at(&border.own, text);
                }
            }
            false
        });
    }
}

/// Returns the edges between the ports of the graph on one side and the nodes.
pub(super) fn borders(ports: &[OwnPort], side: Side) -> impl Iterator<Item = &Border> {
    ports.iter().filter(move |port| port.side == side).flat_map(|port| &port.borders)
}
