//! Writes the checks of the edges between the ports of a graph and its nodes, where a port of the graph or a node is an array. Each check
//! is a constant, as those of `assertions.rs`. `check/borders.rs` checks the other edges.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::assertion::{Assertions, assertion};
use super::loops::{End, reach};
use super::paths::private_call;
use crate::graph::model::{Border, Graph, OwnPort};
use crate::graph::parts::{Side, unraw_name};
use crate::graph::spans::Underline;

/// Writes the checks of all ports of the graph.
pub(super) fn assert_own_ports(graph: &Graph) -> Assertions {
    let arrays = graph.ports.iter().filter_map(|port| assert_elements(graph, port));
    let outputs = graph.ports.iter().filter(|port| port.side == Side::Output);
    let outputs = outputs.map(|port| assert_one_producer(graph, port));
    arrays.chain(outputs).chain([assert_borders(graph)]).collect()
}

/// Writes the value `Reach { … }` of the ports of the graph that an edge joins.
fn own_reach(border: &Border) -> TokenStream {
    reach(None, border.own.element.as_deref(), border.around.as_ref())
}

/// Writes the value `Reach { … }` of the ports of nodes that an edge joins.
fn inner_reach(border: &Border) -> TokenStream {
    End { port: &border.inner, around: border.around.as_ref() }.reach()
}

/// Writes the check that each element of an array of ports has an edge.
fn assert_elements(graph: &Graph, port: &OwnPort) -> Option<Assertions> {
    let (name, length) = (unraw_name(&port.name), port.declared.length()?);
    let arounds = port.borders.iter().filter_map(|border| border.around.as_ref());
    let depends = arounds.into_iter().any(|around| graph.header.depends_in_range(around));
    let is_input = port.side == Side::Input;
    let reached = port.borders.iter().map(own_reach);
    let args = quote!(#name, #is_input, #length, #depends, &[#(#reached,)*]);
    let check = private_call(Underline::one(port.name.span()), "check_elements", args);
    Some(assertion(graph, [("each_element_has_an_edge", check)]))
}

/// Writes the checks that no element of an output has two producers.
fn assert_one_producer(graph: &Graph, port: &OwnPort) -> Assertions {
    let (name, mut checks) = (unraw_name(&port.name), Assertions::default());
    for (number, border) in port.borders.iter().enumerate() {
        let here = border.own_places();
        let before = port.borders[..number].iter();
        for before in before.filter(|before| before.own_places().may_meet(&here)) {
            let (this, that) = (own_reach(border), own_reach(before));
            let (inner, first) = (border.inner.to_string(), before.inner.to_string());
            let args = quote!(#name, #this, #that, #first, #inner);
            let check = private_call(border.underline(Side::Output), "check_second_output", args);
            checks.extend([assertion(graph, [("an_output_has_one_producer", check)])]);
        }
    }
    checks
}

/// Writes the checks that no port of a node is two ports of the graph.
fn assert_borders(graph: &Graph) -> Assertions {
    let mut known: HashMap<_, Vec<&Border>> = HashMap::new();
    let mut checks = Assertions::default();
    for (OwnPort { side, .. }, border) in graph.borders() {
        let inner = &border.inner;
        let name = (*side, unraw_name(&inner.node), unraw_name(&inner.name));
        let (places, known) = (border.inner_places(), known.entry(name).or_default());
        for before in known.iter().filter(|before| before.inner_places().may_meet(&places)) {
            let (this, that) = (inner_reach(border), inner_reach(before));
            let (inner, first) = (inner.to_string(), before.own.to_string());
            let is_input = *side == Side::Input;
            let args = quote!(#inner, #is_input, #this, #that, #first);
            let check = private_call(border.underline(*side), "check_second_border", args);
            checks.extend([assertion(graph, [("a_port_inside_is_one_port", check)])]);
        }
        known.push(border);
    }
    checks
}
