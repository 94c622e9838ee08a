//! The conditions of a node: `#[when(…)]`.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::Expr;

use crate::tokens::spelled_tokens;

/// A condition, as written and as parsed.
pub(super) struct Condition {
    pub(super) written: TokenStream,
    pub(super) kind: ConditionKind,
}

/// What a condition waits for.
pub(super) enum ConditionKind {
    /// `any(a, b)`
    Any(Vec<Condition>),
    /// `count(n)`, in `any`.
    Count(Expr),
    /// `periodic(interval, policy)`
    Periodic { interval: Time, catch_up: CatchUp },
    /// `message_available(input, n)`
    MessageAvailable { input: Ident, messages: Expr },
    /// `multi_message([a, b], sum(n))`
    Sum { inputs: Vec<Ident>, sum: Expr },
    /// `multi_message([a, b], each(n, m))`
    Each { inputs: Vec<Ident>, each: Vec<Expr> },
    /// `same_sequence`, `same_sequence([a, b])`
    SameSequence(Vec<Ident>),
    /// `expiring(input, timeout)`
    Expiring { input: Ident, timeout: Time },
    /// `room(output)`
    Room(Ident),
    /// `memory_available(allocator, bytes(n))`
    Bytes { allocator: Expr, bytes: Expr },
    /// `memory_available(allocator, blocks(n))`
    Blocks { allocator: Expr, blocks: Expr },
    /// `boolean(handle)`
    Boolean(Expr),
    /// `asynchronous(handle)`
    Asynchronous(Expr),
    /// `stream_done(input)`
    StreamDone(Ident),
    /// `host_done(input)`
    HostDone(Ident),
    /// `condition(value)`
    Own(Expr),
}

/// A duration.
pub(super) enum Time {
    /// `10ms`, in nanoseconds.
    Literal(u64),
    /// A `Duration`.
    Value(Expr),
}

/// The policy of `periodic` for missed ticks.
pub(super) enum CatchUp {
    Skip,
    AtMost(Expr),
    Spaced,
}

impl Condition {
    /// The condition as the user has written it.
    pub(super) fn text(&self) -> String {
        spelled_tokens(self.written.clone())
    }

    /// The condition itself, and those inside of an `any`.
    pub(super) fn each(&self) -> Vec<&Self> {
        let inner: &[Self] = if let ConditionKind::Any(any) = &self.kind { any } else { &[] };
        std::iter::once(self).chain(inner).collect()
    }

    /// A key of the condition. A node can't have two conditions with equal keys.
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

    /// The inputs that the condition names.
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

    /// Whether the condition says when the node runs without a message.
    pub(super) fn runs_without_messages(&self) -> bool {
        let says = |condition: &&Self| condition.kind.says_when();
        self.each().iter().any(says)
    }
}

impl ConditionKind {
    /// The name of the condition in `#[when(…)]`.
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

    /// Whether the condition says when the node runs, with or without messages.
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
