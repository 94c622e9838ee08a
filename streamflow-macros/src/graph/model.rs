//! What a graph is, once it is understood.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Token, Type, Visibility};

use super::parse::edge_attributes::EdgeAttributes;

/// What stands before the body.
pub(super) struct Header {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) keyword: Token![struct],
    pub(super) name: Ident,
    pub(super) params: Vec<Param>,
    /// `#[green_contexts(GREEN)]`
    pub(super) green: Option<Ident>,
}

/// A parameter of the graph's `new`.
pub(super) struct Param {
    pub(super) name: Ident,
    pub(super) ty: Type,
}

/// A statement of the body that could be read.
pub(super) enum Statement {
    Pool(Pool),
    Node(NodeStatement),
    Edges(EdgeStatement),
    /// A statement with a mistake, already reported.
    Draft(Draft),
}

/// `const STREAMS: CudaStreamPool = …;`
pub(super) struct Pool {
    pub(super) docs: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) description: Expr,
}

/// `#[…] let name: Operator = …;`, its attributes not yet looked at.
pub(super) struct NodeStatement {
    pub(super) attributes: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) value: Expr,
}

/// `#[…] node.output >> …;`, its attributes not yet looked at.
pub(super) struct EdgeStatement {
    pub(super) attributes: Vec<Attribute>,
    pub(super) from: Port,
    pub(super) arrow: Token![>>],
    pub(super) to: Target,
}

impl EdgeStatement {
    /// All ports that it names.
    pub(super) fn ports(&self) -> impl Iterator<Item = &Port> {
        let consumers = match &self.to {
            Target::One(port) => std::slice::from_ref(port),
            Target::Several(ports) => ports,
            Target::Discard(_) => &[],
        };
        std::iter::once(&self.from).chain(consumers)
    }

    /// The same, to be changed.
    pub(super) fn ports_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        let consumers = match &mut self.to {
            Target::One(port) => std::slice::from_mut(port),
            Target::Several(ports) => ports,
            Target::Discard(_) => &mut [],
        };
        std::iter::once(&mut self.from).chain(consumers)
    }
}

/// The right side of an edge.
pub(super) enum Target {
    One(Port),
    Several(Vec<Port>),
    Discard(Token![_]),
}

/// What of a statement with a mistake is still of use.
#[derive(Default)]
pub(super) struct Draft {
    /// The node it would declare. Edges to it are no further mistake.
    pub(super) node: Option<Ident>,
    /// The ports that it names, perhaps not to their end: an editor completes them.
    pub(super) ports: Vec<PartialPort>,
    /// What else the user wrote for a node.
    pub(super) rest: Leftover,
}

/// The type and the value of a node that is left out of the graph. They are compiled nevertheless, so that
/// what is wrong in them is told in the same run, and what they name is used.
#[derive(Default)]
pub(super) struct Leftover {
    pub(super) ty: Option<Type>,
    pub(super) value: Option<Expr>,
}

/// `node`, `node.` or `node.port`.
#[derive(Clone)]
pub(super) struct PartialPort {
    pub(super) node: Ident,
    pub(super) dot: Option<Token![.]>,
    pub(super) port: Option<Ident>,
}

/// `node.port`
#[derive(Clone)]
pub(super) struct Port {
    pub(super) node: Ident,
    pub(super) dot: Token![.],
    pub(super) port: Ident,
}

impl ToTokens for Port {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.node.to_tokens(tokens);
        self.dot.to_tokens(tokens);
        self.port.to_tokens(tokens);
    }
}

impl Port {
    pub(super) fn partial(&self) -> PartialPort {
        let Self { node, dot, port } = self.clone();
        PartialPort { node, dot: Some(dot), port: Some(port) }
    }

    pub(super) fn text(&self) -> String {
        format!("{}.{}", self.node.unraw(), self.port.unraw())
    }
}

/// A graph to be expanded. Names are unique, pools that nodes use are there, and `order` holds.
pub(super) struct Graph {
    pub(super) header: Header,
    pub(super) pools: Vec<Pool>,
    pub(super) nodes: Vec<Node>,
    /// The nodes' places among them, by their names.
    pub(super) places: HashMap<String, usize>,
    /// One per consumer. The nodes may be missing: rustc says so, at the name.
    pub(super) edges: Vec<Edge>,
    pub(super) discards: Vec<Discard>,
    /// All ports that edges name, as far as they are written, in the order of the source.
    pub(super) probes: Vec<PartialPort>,
    /// Indices of `nodes`, each after all that feed it.
    pub(super) order: Vec<usize>,
    /// Of nodes with mistakes.
    pub(super) leftovers: Vec<Leftover>,
    /// Nodes that edges name and that are not there. rustc reports them, if nothing else is wrong.
    pub(super) unknown_nodes: Vec<Ident>,
    /// It has the name of one of its operators.
    pub(super) hides_operator: bool,
}

impl Graph {
    /// The place of a port's node, if that is there.
    pub(super) fn place_of(&self, port: &Port) -> Option<usize> {
        self.places.get(&port.node.unraw().to_string()).copied()
    }

    /// The node of a port, if it is there.
    pub(super) fn node_of(&self, port: &Port) -> Option<&Node> {
        self.place_of(port).map(|place| &self.nodes[place])
    }
}

/// An operator of the graph.
pub(super) struct Node {
    pub(super) docs: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) value: Expr,
    pub(super) streams: Streams,
    /// `#[when(count(n))]`
    pub(super) count: Option<Expr>,
    /// The inputs of `#[when(stream_done(port))]`.
    pub(super) stream_done: Vec<Ident>,
    /// Its name is free for the methods that lend it.
    pub(super) has_methods: bool,
}

/// Where a node's streams come from.
pub(super) enum Streams {
    /// No attribute.
    Default,
    /// `#[streams(none)]`
    None,
    /// `#[streams(POOL)]`
    Pool(Ident),
}

impl Node {
    /// The name, for texts.
    pub(super) fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

/// What the input of an edge gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Carries {
    /// The message.
    #[default]
    Itself,
    /// `#[copy]`
    Copy,
    /// `#[transfer]`: a copy on its own device.
    Transfer,
}

/// An output feeds an input.
pub(super) struct Edge {
    pub(super) from: Port,
    pub(super) arrow: Token![>>],
    pub(super) to: Port,
    pub(super) attributes: EdgeAttributes,
    /// The consumer stands among others, in parentheses.
    pub(super) in_group: bool,
    /// Others too read the message itself, and not a copy.
    pub(super) shared: bool,
}

impl Edge {
    /// `producer.output >> consumer.input`
    pub(super) fn text(&self) -> String {
        format!("{} >> {}", self.from.text(), self.to.text())
    }

    /// What a mistake of this edge underlines.
    pub(super) fn blamed(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        if !self.in_group {
            self.from.to_tokens(&mut tokens);
            self.arrow.to_tokens(&mut tokens);
        }
        self.to.to_tokens(&mut tokens);
        tokens
    }

    /// Of what is underlined, the first token, one in the middle, and the last.
    pub(super) fn spans(&self) -> [Span; 3] {
        let last = self.to.port.span();
        if self.in_group {
            [self.to.node.span(), self.to.dot.span(), last]
        } else {
            [self.from.node.span(), self.arrow.span(), last]
        }
    }
}

/// An output that nobody reads, on purpose.
pub(super) struct Discard {
    pub(super) from: Port,
    pub(super) arrow: Token![>>],
    pub(super) underscore: Token![_],
}

impl Discard {
    /// What a mistake of this statement underlines.
    pub(super) fn blamed(&self) -> TokenStream {
        let mut tokens = self.from.to_token_stream();
        self.arrow.to_tokens(&mut tokens);
        self.underscore.to_tokens(&mut tokens);
        tokens
    }
}
