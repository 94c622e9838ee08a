//! A graph as the user wrote it, `ParsedGraph`: the output of `parse`, and the input of `check`.

use proc_macro2::Ident;
use syn::{Attribute, Expr, Token, Type, Visibility};

use super::index::Loop;
use super::parts::{EdgeAttributes, End, Header, NodeAttributes, NodeParts, Pool, Port, Side};
use crate::operator::PortOptions;

/// The header and the statements of a graph.
pub(super) struct ParsedGraph {
    pub(super) header: Header,
    pub(super) statements: Vec<Statement>,
}

/// An interface as the user wrote it: `pub trait Name { … }`.
pub(super) struct ParsedInterface {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) ports: Vec<PortStatement>,
}

/// A statement in the body of a graph.
pub(super) enum Statement {
    Pool(Pool),
    Node(Box<NodeStatement>),
    Edge(Box<EdgeStatement>),
    /// The statement `for i in 0..4 { … }`, with the edges in its braces.
    Loop(Vec<EdgeStatement>),
    Port(PortStatement),
    /// A statement with a mistake that is already reported.
    Broken(BrokenStatement),
}

/// The statement that declares a node: `#[…] let name: Operator = …;`.
pub(super) struct NodeStatement {
    pub(super) attributes: NodeAttributes,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) value: Expr,
}

/// The statement that connects an output, `#[…] node.output >> …;`, or an input of the graph, `input >> …;`.
pub(super) struct EdgeStatement {
    pub(super) attributes: EdgeAttributes,
    /// The loop around this edge, if it is in one.
    pub(super) around: Option<Loop>,
    pub(super) output: End,
    pub(super) arrow: Token![>>],
    pub(super) target: Target,
}

/// What follows `>>` in an edge statement.
pub(super) enum Target {
    /// An input, `node.input`, or an output of the graph.
    Input(End),
    /// Several inputs or outputs in parentheses: `(node.input, …)`.
    Group(Vec<End>),
    /// A discard: `_`.
    Discard(Token![_]),
}

impl EdgeStatement {
    /// Returns the ports of nodes in this statement, as references through which they can be changed.
    pub(super) fn ports_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        let targets = match &mut self.target {
            Target::Input(input) => std::slice::from_mut(input),
            Target::Group(inputs) => inputs,
            Target::Discard(_) => &mut [],
        };
        std::iter::once(&mut self.output).chain(targets).filter_map(|end| match end {
            End::Node(port) => Some(port),
            End::Own(_) => None,
        })
    }
}

/// The statement that declares a port of the graph: `input name: Type;` or `output name: Type;`.
pub(super) struct PortStatement {
    pub(super) docs: Vec<Attribute>,
    pub(super) side: Side,
    pub(super) options: PortOptions,
    pub(super) name: Ident,
    pub(super) ty: Type,
}

/// The parts of a statement with a mistake that are still of use.
#[derive(Default)]
pub(super) struct BrokenStatement {
    /// The node that the statement was to declare. An edge to this node is not reported.
    pub(super) node: Option<Ident>,
    /// The stream pool that the statement was to declare. A use of this pool is not reported.
    pub(super) pool: Option<Ident>,
    /// The type and the value of the node, for rustc to check.
    pub(super) parts: NodeParts,
}
