//! A checked graph, `Graph`: the output of `check`, and the input of `expand`.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use proc_macro2::Ident;
use syn::{Expr, Token, Type};

use super::parts::{
    EdgeAttributes, Header, NodeAttributes, NodeParts, Pool, Port, Streams, unraw_name,
};

/// A graph that can be expanded, perhaps without the parts that have mistakes. The names of its nodes are unique,
/// and it has all pools that they use.
pub(super) struct Graph {
    pub(super) header: Header,
    pub(super) pools: Vec<Pool>,
    pub(super) nodes: Nodes,
    /// An edge for each input that is fed. An edge may name an unknown node: see "An unknown node" in
    /// `graph/mod.rs`.
    pub(super) edges: Vec<Edge>,
    pub(super) discards: Vec<Discard>,
    /// Indices of `nodes` in the order in which they run: each after all its producers.
    pub(super) order: Vec<usize>,
    /// The user's code for nodes that have mistakes and are not among `nodes`.
    pub(super) left_out: Vec<NodeParts>,
    /// Whether an edge names an unknown node.
    pub(super) has_unknown_nodes: bool,
    /// Whether the macro has found no mistake.
    pub(super) is_sound: bool,
}

impl Graph {
    /// Returns the nodes that get their streams from this pool.
    pub(super) fn nodes_on<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(|node| node.is_on(pool))
    }
}

/// `#[…] let name: Operator = …;`
pub(super) struct Node {
    pub(super) attributes: NodeAttributes,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) value: Expr,
    /// Whether the struct has the methods `name` and `name_mut`, because no other item has these names.
    pub(super) has_accessors: bool,
}

impl Node {
    pub(super) fn unraw_name(&self) -> String {
        unraw_name(&self.name)
    }

    pub(super) fn is_on(&self, pool: &Pool) -> bool {
        matches!(&self.attributes.streams, Streams::Pool(name) if *name == pool.name)
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

    /// The index of a port's node, if that is there.
    pub(super) fn index_of(&self, port: &Port) -> Option<usize> {
        self.index_by_name.get(&unraw_name(&port.node)).copied()
    }

    /// The node of a port, if it is there.
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

/// An output and one input that it feeds.
pub(super) struct Edge {
    pub(super) output: Port,
    pub(super) arrow: Token![>>],
    pub(super) input: Port,
    pub(super) attributes: EdgeAttributes,
    /// Whether the input is written in parentheses, perhaps with others.
    pub(super) in_group: bool,
    /// Whether several inputs get the message of this output itself, and not a copy. Meaningful only if the edge
    /// carries the message itself.
    pub(super) is_shared: bool,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} >> {}", self.output, self.input)
    }
}

/// `node.output >> _;`
pub(super) struct Discard {
    pub(super) output: Port,
    pub(super) arrow: Token![>>],
    pub(super) underscore: Token![_],
}
