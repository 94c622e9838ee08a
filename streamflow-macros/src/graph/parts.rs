//! The types that `syntax`, the graph as it is written, and `model`, the checked graph, have in common.

use std::fmt;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Generics, Path, Token, Type, Visibility};

use super::conditions::{Condition, Time};
use super::index::{Index, Loop};
use super::places::Places;

/// The header of a graph: `#[…] pub struct Name<S: Interface>(parameter: Type, …)`.
pub(super) struct Header {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) keyword: Token![struct],
    pub(super) name: Ident,
    pub(super) generics: Generics,
    pub(super) params: Vec<Param>,
    /// The pool that `#[green_contexts(POOL)]` names, if the graph has that attribute.
    pub(super) green_contexts: Option<Ident>,
    /// The interfaces that `#[implements(…)]` names.
    pub(super) implements: Vec<Path>,
    /// Whether a statement of the body declares a port of the graph, correct or not.
    pub(super) has_ports: bool,
    /// `#[replay]`, if the graph has that attribute.
    pub(super) replays: Option<Attribute>,
}

/// A parameter of the graph, which becomes a parameter of `new`.
pub(super) struct Param {
    pub(super) name: Ident,
    pub(super) ty: Type,
}

/// A pool, declared by `const STREAMS: CudaStreamPool = …;` or by `let STREAMS = CudaStreamPool::new()…;`.
pub(super) struct Pool {
    /// Whether the pool is declared by `let`: a value that the graph's `new` makes, and no constant.
    pub(super) is_made_by_run: bool,
    pub(super) docs: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) description: Expr,
}

/// What the streams of a pool are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolKind {
    /// `CudaStreamPool`: streams of a device.
    Streams,
    /// `CudaGreenContextPool`: streams of green contexts.
    GreenContexts,
}

impl PoolKind {
    /// Returns the kind of pool that a type has by its name, or `None` if the name is not that of a pool.
    pub(super) fn of(ty: &Type) -> Option<Self> {
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last().filter(|last| last.arguments.is_none())?;
        Self::named(&last.ident)
    }

    pub(super) fn named(name: &Ident) -> Option<Self> {
        if name == "CudaStreamPool" {
            Some(Self::Streams)
        } else if name == "CudaGreenContextPool" {
            Some(Self::GreenContexts)
        } else {
            None
        }
    }
}

impl Pool {
    /// Returns the kind of this pool by the name of its type. Returns `None` for another name, as that of an alias.
    pub(super) fn kind(&self) -> Option<PoolKind> {
        PoolKind::of(&self.ty)
    }
}

/// The attributes of a node.
#[derive(Default)]
pub(super) struct NodeAttributes {
    pub(super) docs: Vec<Attribute>,
    pub(super) streams: Streams,
    /// The worker that `#[worker(name)]` names.
    pub(super) worker: Option<Ident>,
    /// The number of ticks in `#[when(count(n))]`.
    pub(super) count: Option<Expr>,
    /// The conditions of `#[when(…)]`, without `count`.
    pub(super) conditions: Vec<Condition>,
    /// The policy of `#[on_failure(…)]`.
    pub(super) on_failure: Option<OnFailure>,
}

/// What a node does after a tick that failed.
pub(super) enum OnFailure {
    /// `#[on_failure(stop)]`: the run ends with the error.
    Stop,
    /// `#[on_failure(skip)]`: the messages of the failed tick are dropped, and the node goes on.
    Skip,
    /// `#[on_failure(restart(most, back_off))]`: the operator is made again, at most `most` times in a row.
    Restart { most: Box<Expr>, back_off: Time },
}

/// The source of a node's streams, as its `#[streams(…)]` says.
#[derive(Default)]
pub(super) enum Streams {
    /// No `#[streams]`: the node has a pool of its own.
    #[default]
    OwnPool,
    /// `#[streams(none)]`: an adopting node. The node allocates no streams, and adopts the stream of its message.
    Adopt,
    /// `#[streams(POOL)]`: the node's streams are from a pool that the graph declares.
    Pool(Ident),
}

/// The type and the value of a node that is left out of the graph. The expansion has them nevertheless, so that rustc reports
/// their mistakes in the same compilation, and does not report names as unused that only they use.
#[derive(Default)]
pub(super) struct NodeParts {
    pub(super) ty: Option<Type>,
    pub(super) value: Option<Expr>,
}

/// The end of an edge at which a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Output,
    Input,
}

/// An end of an edge: a port of a node, or a port of the graph itself.
#[derive(Clone)]
pub(super) enum End {
    Node(Port),
    Own(OwnEnd),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(port) => write!(f, "{port}"),
            Self::Own(own) => write!(f, "{own}"),
        }
    }
}

/// A port of the graph itself, as an edge names it: `frame`, or `frames[3]`.
#[derive(Clone)]
pub(super) struct OwnEnd {
    pub(super) name: Ident,
    /// The index of the port, if the name is that of an array of ports.
    pub(super) element: Option<Box<Index>>,
}

impl fmt::Display for OwnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name.unraw())?;
        self.element.as_ref().map_or(Ok(()), |index| write!(f, "{index}"))
    }
}

impl OwnEnd {
    /// Returns the ports of the graph that this end is in the turns of a loop around it.
    pub(super) fn places(&self, around: Option<&Loop>) -> Places {
        Places::of(None, self.element.as_deref(), around)
    }
}

/// A port of a node, as an edge names it: `node.port`, `node[3].port` or `node.ports[3]`.
#[derive(Clone)]
pub(super) struct Port {
    pub(super) node: Ident,
    /// The index of the node, if the name is that of an array.
    pub(super) index: Option<Box<Index>>,
    pub(super) dot: Token![.],
    pub(super) name: Ident,
    /// The index of the port, if the name is that of an array of ports.
    pub(super) element: Option<Box<Index>>,
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node.unraw())?;
        if let Some(index) = &self.index {
            write!(f, "{index}")?;
        }
        write!(f, ".{}", self.name.unraw())?;
        self.element.as_ref().map_or(Ok(()), |index| write!(f, "{index}"))
    }
}

impl Port {
    /// Returns the ports that this end is in the turns of a loop around it.
    pub(super) fn places(&self, around: Option<&Loop>) -> Places {
        Places::of(self.index.as_deref(), self.element.as_deref(), around)
    }

    /// Returns the indices of the node and of the port.
    pub(super) fn indices(&self) -> impl Iterator<Item = &Index> {
        [&self.index, &self.element].into_iter().filter_map(Option::as_deref)
    }

    /// Whether the port is another one in each turn of a loop.
    pub(super) fn follows_loop(&self) -> bool {
        self.indices().any(Index::follows_loop)
    }
}

/// The attributes of an edge.
#[derive(Clone, Default)]
pub(super) struct EdgeAttributes {
    pub(super) carries: Carries,
    /// The number in `#[capacity(n)]`.
    pub(super) capacity: Option<Expr>,
    /// The policy in `#[policy(…)]`.
    pub(super) policy: Option<Policy>,
    /// Whether the edge has `#[feedback]`, correct or not. An incorrect one also shows that the user wants the cycle.
    pub(super) is_feedback: bool,
    /// The expression of the first message, in `#[feedback(initial = …)]`.
    pub(super) initial: Option<Expr>,
}

impl EdgeAttributes {
    /// Whether the edge copies.
    pub(super) fn has_copy(&self) -> bool {
        self.carries != Carries::Message
    }
}

/// The message that the input of an edge gets for each message of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Carries {
    /// The output's message itself.
    #[default]
    Message,
    /// A copy, because of `#[copy]`.
    Copy,
    /// A copy on the device of the input's node, because of `#[transfer]`.
    Transfer,
}

/// What happens to a message when the queue of its edge is full.
#[derive(Clone, Copy)]
pub(super) enum Policy {
    Pop,
    Reject,
    Fault,
}

/// Returns the name without `r#`, since `r#type` and `type` are the same name.
pub(super) fn unraw_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}
