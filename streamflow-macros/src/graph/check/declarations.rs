//! Sorts the statements of a graph into pools, nodes and edges.

use std::collections::HashSet;

use proc_macro2::Ident;

use super::pools::{self, LeftOutPools};
use crate::diagnostic::Errors;
use crate::graph::model::{Array, Node};
use crate::graph::parts::{NodeParts, Param, Pool, Port, unraw_name};
use crate::graph::syntax::{
    BrokenStatement, EdgeStatement, NodeStatement, PortStatement, Statement,
};

/// Names that the expansion gives to its own fields and constants. A node with such a name is reported and left out.
const RESERVED: &[&str] = &["__streamflow", "__sized", "__marker", "__GREEN"];

/// The statements of a graph, by kind. Statements with mistakes are not among them.
#[derive(Default)]
pub(super) struct Declarations {
    pub(super) pools: Vec<Pool>,
    pub(super) left_out_pools: LeftOutPools,
    pub(super) nodes: Vec<Node>,
    pub(super) names: NodeNames,
    pub(super) edges: Vec<EdgeStatement>,
    pub(super) ports: Vec<PortStatement>,
    /// The parts of nodes with mistakes that are still user code to be checked: see `Graph::left_out`.
    pub(super) left_out: Vec<NodeParts>,
}

/// The names of all declared nodes.
#[derive(Default)]
pub(super) struct NodeNames {
    declared: HashSet<String>,
    /// The names of nodes that are left out of the graph because of a mistake. An edge to such a node can't be checked, and is
    /// not reported.
    left_out: HashSet<String>,
    /// Whether a node has a forbidden name, as that of another node. An edge with an unknown name may be meant for that node.
    has_wrong_name: bool,
}

impl NodeNames {
    /// Adds a name, and returns whether it is new. Reports a name that no node can have.
    fn declare(&mut self, name: &Ident, errors: &mut Errors) -> bool {
        let text = unraw_name(name);
        self.has_wrong_name |= self.declared.contains(&text);
        if RESERVED.contains(&text.as_str()) {
            errors.at(
                name,
                format!("a node cannot be named `{text}`: the graph has that name for itself; give the node another one"),
            );
            self.declared.insert(text.clone());
            self.left_out.insert(text);
            return false;
        }
        let is_new = self.declared.insert(text.clone());
        if !is_new {
            errors.at(name, format!("node `{text}` is declared twice; give one another name"));
        }
        is_new
    }

    /// Returns what is known about the node of a port.
    pub(super) fn find(&self, port: &Port, params: &[Param]) -> PortNode {
        let name = unraw_name(&port.node);
        if self.left_out.contains(&name) {
            PortNode::LeftOut
        } else if self.declared.contains(&name) {
            PortNode::Declared
        } else if port.node == "platform" || params.iter().any(|param| param.name == port.node) {
            PortNode::Param
        } else if self.has_wrong_name {
            PortNode::LeftOut
        } else {
            PortNode::Unknown
        }
    }
}

/// What the declarations of a graph say about the node of a port.
pub(super) enum PortNode {
    Declared,
    /// A declaration has the name, but the node is left out because of a mistake.
    LeftOut,
    /// The name is that of a parameter of the graph.
    Param,
    /// No declaration has the name. See "An unknown node" in `graph/mod.rs`.
    Unknown,
}

/// Sorts the statements by kind, and reports names that are declared twice.
pub(super) fn collect(statements: Vec<Statement>, errors: &mut Errors) -> Declarations {
    let mut declarations = Declarations::default();
    let Declarations { pools, left_out_pools, nodes, names, edges, ports, left_out } =
        &mut declarations;
    for statement in statements {
        match statement {
            Statement::Pool(pool) => pools::declare_pool(pool, pools, left_out_pools, errors),
            Statement::Node(node) => {
                let NodeStatement { attributes, name, ty, value } = *node;
                if names.declare(&name, errors) {
                    let array = Array::of(&ty);
                    nodes.push(Node { attributes, name, ty, array, value, has_accessors: true });
                } else {
                    left_out.push(NodeParts { ty: Some(ty), value: Some(value) });
                }
            }
            Statement::Edge(edge) => edges.push(*edge),
            Statement::Loop(in_loop) => edges.extend(in_loop),
            Statement::Port(port) => ports.push(port),
            Statement::Broken(BrokenStatement { node, pool, parts }) => {
                left_out_pools.add(pool);
                left_out.push(parts);
                if let Some(name) = node
                    && names.declare(&name, errors)
                {
                    names.left_out.insert(unraw_name(&name));
                }
            }
        }
    }
    declarations
}

impl Declarations {
    /// Reports and leaves out nodes that have the name of a pool. The expansion uses node names in patterns, and there such a
    /// name would mean the constant of the pool.
    pub(super) fn leave_out_nodes_named_as_pools(&mut self, errors: &mut Errors) {
        let pools: HashSet<String> = self.pools.iter().map(|pool| pool.name.to_string()).collect();
        let (taken, free): (Vec<_>, Vec<_>) = std::mem::take(&mut self.nodes)
            .into_iter()
            .partition(|node| pools.contains(&node.name.to_string()));
        self.nodes = free;
        for Node { name, ty, value, .. } in taken {
            let text = format!("node `{name}` has the name of a stream pool; give it another name");
            errors.at(&name, text);
            self.names.left_out.insert(unraw_name(&name));
            self.left_out.push(NodeParts { ty: Some(ty), value: Some(value) });
        }
    }
}
