//! Parts that a graph has both as it is written, in `syntax`, and when it is checked, in `model`.

use std::fmt;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Token, Type, Visibility};

use super::conditions::{Condition, Time};

/// `#[…] pub struct Name(parameter: Type, …)`
pub(super) struct Header {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) keyword: Token![struct],
    pub(super) name: Ident,
    pub(super) params: Vec<Param>,
    /// The pool of `#[green_contexts(POOL)]`.
    pub(super) green_contexts: Option<Ident>,
    /// Whether it has `#[replay]`.
    pub(super) replays: bool,
}

/// A parameter of the graph's `new`.
pub(super) struct Param {
    pub(super) name: Ident,
    pub(super) ty: Type,
}

/// `const STREAMS: CudaStreamPool = …;`, or `let STREAMS = CudaStreamPool::new()…;`
pub(super) struct Pool {
    /// Whether it is declared by `let`: a value that `new` makes.
    pub(super) is_made_by_run: bool,
    pub(super) docs: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) description: Expr,
}

/// The contents of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolKind {
    /// `CudaStreamPool`
    Streams,
    /// `CudaGreenContextPool`
    GreenContexts,
}

impl PoolKind {
    /// The pool of this type's name, if it is one.
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
    /// `None` for the name of another type.
    pub(super) fn kind(&self) -> Option<PoolKind> {
        PoolKind::of(&self.ty)
    }
}

/// The attributes of a node.
#[derive(Default)]
pub(super) struct NodeAttributes {
    pub(super) docs: Vec<Attribute>,
    pub(super) streams: Streams,
    /// The name of `#[worker(name)]`.
    pub(super) worker: Option<Ident>,
    /// `#[when(count(n))]`
    pub(super) count: Option<Expr>,
    /// The other conditions of `#[when(…)]`.
    pub(super) conditions: Vec<Condition>,
    /// `#[on_failure(…)]`
    pub(super) on_failure: Option<OnFailure>,
}

/// The reaction of a node to a tick that fails.
pub(super) enum OnFailure {
    /// `#[on_failure(stop)]`
    Stop,
    /// `#[on_failure(skip)]`
    Skip,
    /// `#[on_failure(restart(most, back_off))]`
    Restart { most: Box<Expr>, back_off: Time },
}

/// The source of a node's streams, as in its `#[streams(…)]`.
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

/// The type and the value of a node that is left out of the graph. Both are compiled nevertheless: rustc then reports
/// their mistakes in the same run, and no name counts as unused that only they use.
#[derive(Default)]
pub(super) struct NodeParts {
    pub(super) ty: Option<Type>,
    pub(super) value: Option<Expr>,
}

/// `node.port`
#[derive(Clone)]
pub(super) struct Port {
    pub(super) node: Ident,
    pub(super) dot: Token![.],
    pub(super) name: Ident,
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node.unraw(), self.name.unraw())
    }
}

/// The attributes of an edge.
#[derive(Clone, Default)]
pub(super) struct EdgeAttributes {
    pub(super) carries: Carries,
    /// `#[capacity(n)]`
    pub(super) capacity: Option<Expr>,
    /// `#[policy(…)]`
    pub(super) policy: Option<Policy>,
    /// Whether there is `#[feedback]`, perhaps a wrong one: the user then means the cycle.
    pub(super) is_feedback: bool,
    /// The value of `#[feedback(initial = …)]`.
    pub(super) initial: Option<Expr>,
}

/// The messages that the input of an edge gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Carries {
    /// The message itself.
    #[default]
    Message,
    /// `#[copy]`
    Copy,
    /// `#[transfer]`: a copy on the input's device.
    Transfer,
}

/// The fate of a message when the queue of its edge is full.
#[derive(Clone, Copy)]
pub(super) enum Policy {
    Pop,
    Reject,
    Fault,
}

/// The name without `r#`: `r#type` and `type` are the same name.
pub(super) fn unraw_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}
