//! A checked graph, `Graph`: the output of `check`, and the input of `expand`.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use proc_macro2::Ident;
use syn::{Expr, Token, Type};

use super::conditions::Condition;
use super::index::Loop;
use super::parts::{
    EdgeAttributes, Header, NodeAttributes, NodeParts, OwnEnd, Pool, Port, Side, Streams,
    unraw_name,
};
use super::places::Places;
use crate::operator::{DeclaredPort, PortOptions};
use crate::tokens::ungrouped;

/// A graph that can be expanded, perhaps without the parts that have mistakes. The names of its nodes are unique. All pools that
/// its nodes use are in `pools`.
pub(super) struct Graph {
    pub(super) header: Header,
    pub(super) pools: Vec<Pool>,
    pub(super) nodes: Nodes,
    /// The edges, each from one output to one input. An edge may name an unknown node: see "An unknown node" in `graph/mod.rs`.
    pub(super) edges: Vec<Edge>,
    pub(super) discards: Vec<Discard>,
    /// The ports of the graph itself. A graph with ports can be a node of another graph.
    pub(super) ports: Vec<OwnPort>,
    /// The indices of `nodes` in the order in which the nodes run. Each node comes after all its producers.
    pub(super) order: Vec<usize>,
    /// The indices of the nodes in cycles with a feedback edge.
    pub(super) in_cycles: Vec<usize>,
    /// The types and values of nodes that have mistakes and are not in `nodes`. The expansion lets rustc check them.
    pub(super) left_out: Vec<NodeParts>,
    /// Whether an edge names an unknown node.
    pub(super) has_unknown_nodes: bool,
    /// Whether the macro has found no mistake in the graph.
    pub(super) is_sound: bool,
}

impl Graph {
    /// Whether the graph has ports, so that it is a node of another graph, and does not run alone.
    pub(super) fn has_ports(&self) -> bool {
        self.header.has_ports
    }

    /// Whether the expansion has constants that check the graph. After a mistake, some would fail because of that mistake, so none are
    /// written: see "Where each check is" in `graph/mod.rs`.
    pub(super) fn has_checks(&self) -> bool {
        self.is_sound && !self.has_unknown_nodes
    }

    /// Returns the edges between the graph's own ports and its nodes, each with its port.
    pub(super) fn borders(&self) -> impl Iterator<Item = (&OwnPort, &Border)> {
        self.ports.iter().flat_map(|port| port.borders.iter().map(move |border| (port, border)))
    }

    /// Returns the nodes that get their streams from `pool`.
    pub(super) fn nodes_on<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(|node| node.is_on(pool))
    }
}

/// A node, declared by `#[…] let name: Operator = …;`.
pub(super) struct Node {
    pub(super) attributes: NodeAttributes,
    pub(super) name: Ident,
    pub(super) ty: Type,
    /// The element and the length, if the node is an array.
    pub(super) array: Option<Array>,
    pub(super) value: Expr,
    /// Whether the graph's struct has the methods `name` and `name_mut`. It does not if another item has one of these names.
    pub(super) has_accessors: bool,
}

impl Node {
    pub(super) fn unraw_name(&self) -> String {
        unraw_name(&self.name)
    }

    /// Returns the type of the elements, if the node is an array.
    pub(super) fn element(&self) -> Option<&Type> {
        self.array.as_ref().map(|array| &array.element)
    }

    /// Returns the conditions of the node. Those of an array are evaluated with each of its values.
    pub(super) fn conditions(&self) -> &[Condition] {
        match self.element() {
            Some(_) => &[],
            None => &self.attributes.conditions,
        }
    }

    /// Returns the count of the node. That of an array is evaluated with each of its values.
    pub(super) fn count(&self) -> Option<&Expr> {
        self.attributes.count.as_ref().filter(|_| self.element().is_none())
    }

    pub(super) fn is_on(&self, pool: &Pool) -> bool {
        matches!(&self.attributes.streams, Streams::Pool(name) if *name == pool.name)
    }
}

/// An array of nodes, `[element; length]`.
pub(super) struct Array {
    pub(super) element: Type,
    pub(super) length: Expr,
}

impl Array {
    /// Returns the array that a type is, if it is one.
    pub(super) fn of(ty: &Type) -> Option<Self> {
        let Type::Array(array) = ungrouped(ty) else { return None };
        Some(Self { element: (*array.elem).clone(), length: array.len.clone() })
    }
}

/// The nodes in the order of their declarations.
pub(super) struct Nodes {
    list: Vec<Node>,
    index_by_name: HashMap<String, usize>,
}

impl Nodes {
    pub(super) fn new(list: Vec<Node>) -> Self {
        let names = list.iter().enumerate().map(|(index, node)| (node.unraw_name(), index));
        Self { index_by_name: names.collect(), list }
    }

    /// Returns the index of a port's node, or `None` if the node is unknown.
    pub(super) fn index_of(&self, port: &Port) -> Option<usize> {
        self.index_by_name.get(&unraw_name(&port.node)).copied()
    }

    /// Returns the node of a port, or `None` if the node is unknown.
    pub(super) fn node_of(&self, port: &Port) -> Option<&Node> {
        self.index_of(port).map(|index| &self.list[index])
    }
}

impl DerefMut for Nodes {
    fn deref_mut(&mut self) -> &mut [Node] {
        &mut self.list
    }
}

impl Deref for Nodes {
    type Target = [Node];

    fn deref(&self) -> &[Node] {
        &self.list
    }
}

/// A connection from an output to one input.
pub(super) struct Edge {
    pub(super) output: Port,
    pub(super) arrow: Token![>>],
    pub(super) input: Port,
    pub(super) attributes: EdgeAttributes,
    /// The loop around this edge, if it is in one.
    pub(super) around: Option<Loop>,
    /// Whether the user wrote the input in parentheses, alone or with other inputs of the same output.
    pub(super) in_group: bool,
    /// Whether the same message goes to several inputs, without copies. The value has a meaning only for an edge with
    /// `Carries::Message`.
    pub(super) is_shared: bool,
}

impl Border {
    /// Returns the ports of the nodes that this edge leads to, or from.
    pub(super) fn inner_places(&self) -> Places {
        self.inner.places(self.around.as_ref())
    }

    /// Returns the ports of the graph that this edge leads from, or to.
    pub(super) fn own_places(&self) -> Places {
        self.own.places(self.around.as_ref())
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} >> {}", self.output, self.input)
    }
}

/// A statement that discards the messages of an output: `node.output >> _;`.
pub(super) struct Discard {
    /// The loop around this statement, if it is in one.
    pub(super) around: Option<Loop>,
    pub(super) output: Port,
    pub(super) arrow: Token![>>],
    pub(super) underscore: Token![_],
}

/// A port of the graph itself, declared by `input name: Type;` or `output name: Type;`.
pub(super) struct OwnPort {
    pub(super) name: Ident,
    pub(super) side: Side,
    pub(super) options: PortOptions,
    /// The port as `#[operator]` has one.
    pub(super) declared: DeclaredPort,
    /// The ports of nodes that this port is: one output, or one input or several. An array of ports has these for each element.
    pub(super) borders: Vec<Border>,
}

/// An edge between a port of the graph and a port of a node in it.
pub(super) struct Border {
    /// The port of the graph, as this edge names it.
    pub(super) own: OwnEnd,
    /// The loop around this edge, if it is in one.
    pub(super) around: Option<Loop>,
    pub(super) arrow: Token![>>],
    pub(super) inner: Port,
    /// Whether the user wrote the end of the edge in parentheses.
    pub(super) in_group: bool,
    /// Whether the message has other readers inside of the graph, or other inputs inside to which the graph's input leads.
    pub(super) is_shared: bool,
}
