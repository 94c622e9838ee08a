//! A graph as it is written: the output of `parse`, and the input of `check`.

use proc_macro2::Ident;
use syn::{Expr, Token, Type};

use super::parts::{EdgeAttributes, Header, NodeAttributes, NodeParts, Pool, Port};

/// The header and the statements of a graph.
pub(super) struct ParsedGraph {
    pub(super) header: Header,
    pub(super) statements: Vec<Statement>,
}

/// A statement of the body.
pub(super) enum Statement {
    Pool(Pool),
    Node(Box<NodeStatement>),
    Edge(EdgeStatement),
    /// A statement with a mistake that is already reported.
    Broken(BrokenStatement),
}

/// `#[…] let name: Operator = …;`
pub(super) struct NodeStatement {
    pub(super) attributes: NodeAttributes,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) value: Expr,
}

/// `#[…] node.output >> …;`
pub(super) struct EdgeStatement {
    pub(super) attributes: EdgeAttributes,
    pub(super) output: Port,
    pub(super) arrow: Token![>>],
    pub(super) target: Target,
}

/// The right side of an edge.
pub(super) enum Target {
    /// `node.input`
    Input(Port),
    /// `(node.input, …)`
    Group(Vec<Port>),
    /// `_`
    Discard(Token![_]),
}

impl EdgeStatement {
    /// The output, then the inputs, to be changed.
    pub(super) fn ports_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        let inputs = match &mut self.target {
            Target::Input(input) => std::slice::from_mut(input),
            Target::Group(inputs) => inputs,
            Target::Discard(_) => &mut [],
        };
        std::iter::once(&mut self.output).chain(inputs)
    }
}

/// The part of a statement with a mistake that can still be used.
#[derive(Default)]
pub(super) struct BrokenStatement {
    /// The node that the statement would declare. An edge to this node is not reported.
    pub(super) node: Option<Ident>,
    /// The stream pool that the statement would declare. A use of this pool is not reported.
    pub(super) pool: Option<Ident>,
    /// The user's code for the node.
    pub(super) parts: NodeParts,
}
