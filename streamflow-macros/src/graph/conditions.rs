//! The conditions of a node, which the user writes in `#[when(…)]`.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::Expr;

use crate::tokens::spelled_tokens;

/// A condition, as the user's tokens and as the parsed kind with its arguments.
pub(super) struct Condition {
    pub(super) written: TokenStream,
    pub(super) kind: ConditionKind,
}

/// The kind of a condition, with its arguments.
pub(super) enum ConditionKind {
    /// The condition `any(a, b)`.
    Any(Vec<Condition>),
    /// The condition `count(n)` within an `any`. Outside of an `any`, it is `NodeAttributes::count`.
    Count(Expr),
    /// The condition `periodic(interval, policy)`.
    Periodic { interval: Time, catch_up: CatchUp },
    /// The condition `message_available(input, n)`.
    MessageAvailable { input: Ident, messages: Expr },
    /// The condition `multi_message([a, b], sum(n))`.
    Sum { inputs: Vec<Ident>, sum: Expr },
    /// The condition `multi_message([a, b], each(n, m))`.
    Each { inputs: Vec<Ident>, each: Vec<Expr> },
    /// The condition `same_sequence`, or `same_sequence([a, b])` with a list of inputs.
    SameSequence(Vec<Ident>),
    /// The condition `expiring(input, timeout)`.
    Expiring { input: Ident, timeout: Time },
    /// The condition `room(output)`.
    Room(Ident),
    /// The condition `memory_available(allocator, bytes(n))`.
    Bytes { allocator: Expr, bytes: Expr },
    /// The condition `memory_available(allocator, blocks(n))`.
    Blocks { allocator: Expr, blocks: Expr },
    /// The condition `boolean(handle)`.
    Boolean(Expr),
    /// The condition `asynchronous(handle)`.
    Asynchronous(Expr),
    /// The condition `stream_done(input)`.
    StreamDone(Ident),
    /// The condition `host_done(input)`.
    HostDone(Ident),
    /// The condition `condition(value)`, a condition of the user's own type.
    Own(Expr),
}

/// A duration, as the user wrote it.
pub(super) enum Time {
    /// A literal as `10ms`, in nanoseconds.
    Literal(u64),
    /// An expression of type `Duration`.
    Value(Expr),
}

/// What `periodic` does after missed ticks.
pub(super) enum CatchUp {
    Skip,
    AtMost(Expr),
    Spaced,
}

impl Condition {
    /// Returns the condition as text, as the user wrote it.
    pub(super) fn text(&self) -> String {
        spelled_tokens(self.written.clone())
    }

    /// Returns this condition, and the conditions inside of it if it is an `any`.
    pub(super) fn each(&self) -> Vec<&Self> {
        let inner: &[Self] = if let ConditionKind::Any(any) = &self.kind { any } else { &[] };
        std::iter::once(self).chain(inner).collect()
    }

    /// Returns a key that is equal for two conditions that a node can't both have.
    pub(super) fn key(&self) -> String {
        use ConditionKind::{
            Any, Asynchronous, Blocks, Boolean, Bytes, Count, Each, Expiring, HostDone,
            MessageAvailable, Own, Periodic, Room, SameSequence, StreamDone, Sum,
        };
        let name = self.kind.name();
        match &self.kind {
            Count(_) | Periodic { .. } | SameSequence(_) => name.into(),
            MessageAvailable { input, .. } | Expiring { input, .. } => {
                format!("{name}({input}, …)")
            }
            Room(port) | StreamDone(port) | HostDone(port) => format!("{name}({port})"),
            Any(_) | Sum { .. } | Each { .. } | Bytes { .. } | Blocks { .. } => self.text(),
            Boolean(_) | Asynchronous(_) | Own(_) => self.text(),
        }
    }

    /// Returns the inputs that this condition names.
    pub(super) fn inputs(&self) -> &[Ident] {
        use ConditionKind::{
            Any, Asynchronous, Blocks, Boolean, Bytes, Count, Each, Expiring, HostDone,
            MessageAvailable, Own, Periodic, Room, SameSequence, StreamDone, Sum,
        };
        match &self.kind {
            MessageAvailable { input, .. } | Expiring { input, .. } => std::slice::from_ref(input),
            StreamDone(input) | HostDone(input) => std::slice::from_ref(input),
            Sum { inputs, .. } | Each { inputs, .. } | SameSequence(inputs) => inputs,
            Any(_) | Count(_) | Periodic { .. } | Room(_) => &[],
            Bytes { .. } | Blocks { .. } | Boolean(_) | Asynchronous(_) | Own(_) => &[],
        }
    }

    /// Whether this condition lets the node run without a message: it, or one inside of its `any`, decides when the node runs.
    pub(super) fn runs_without_messages(&self) -> bool {
        let says = |condition: &&Self| condition.kind.says_when();
        self.each().iter().any(says)
    }
}

impl ConditionKind {
    /// Returns the name of this kind of condition in `#[when(…)]`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Any(_) => "any",
            Self::Count(_) => "count",
            Self::Periodic { .. } => "periodic",
            Self::MessageAvailable { .. } => "message_available",
            Self::Sum { .. } | Self::Each { .. } => "multi_message",
            Self::SameSequence(_) => "same_sequence",
            Self::Expiring { .. } => "expiring",
            Self::Room(_) => "room",
            Self::Bytes { .. } | Self::Blocks { .. } => "memory_available",
            Self::Boolean(_) => "boolean",
            Self::Asynchronous(_) => "asynchronous",
            Self::StreamDone(_) => "stream_done",
            Self::HostDone(_) => "host_done",
            Self::Own(_) => "condition",
        }
    }

    /// Whether this kind decides when the node runs, be there messages or not.
    fn says_when(&self) -> bool {
        match self {
            Self::Periodic { .. } | Self::Asynchronous(_) | Self::Own(_) => true,
            Self::Any(_) | Self::Count(_) | Self::MessageAvailable { .. } | Self::Sum { .. } => {
                false
            }
            Self::Each { .. } | Self::SameSequence(_) | Self::Expiring { .. } => false,
            Self::Room(_) | Self::Bytes { .. } | Self::Blocks { .. } | Self::Boolean(_) => false,
            Self::StreamDone(_) | Self::HostDone(_) => false,
        }
    }
}

impl ToTokens for Condition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.written.to_tokens(tokens);
    }
}
