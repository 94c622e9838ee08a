//! A checked operator, `Operator`: the output of `check`, and the input of `expand`. The operator's `Options` are the
//! output of `parse`.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, Field, Generics, Ident, Type, Visibility};

/// The options of `#[operator(…)]`.
#[derive(Default)]
pub(super) struct Options {
    /// The names of `streams(…)`, each once.
    pub(super) streams: Vec<Ident>,
    /// Whether the user writes the constructor.
    pub(super) no_new: bool,
    /// Whether the operator stays on the thread of the run.
    pub(super) stays: bool,
    /// Whether the operator goes on sending when its inputs have ended.
    pub(super) flush: bool,
    /// Whether rustc never lists the operator as an alternative.
    pub(super) unlisted: bool,
}

/// An operator to be expanded.
pub(super) struct Operator {
    pub(super) options: Options,
    pub(super) ident: Ident,
    /// The spans of `struct` and of its braces. With these, rustc shows the user's struct, and not the attribute.
    pub(super) spans: [Span; 2],
    pub(super) visibility: Visibility,
    /// All of the struct's own attributes.
    pub(super) attrs: Vec<Attribute>,
    /// The `#[cfg(…)]`s among them. Every generated item has them too.
    pub(super) cfgs: TokenStream,
    pub(super) generics: Generics,
    pub(super) body: Body,
    /// In the order of the fields.
    pub(super) ports: Vec<Port>,
    /// The fields of the state that are marked `#[param]`, in their order.
    pub(super) params: Vec<Param>,
    /// The fields of the state that are marked `#[state]`: `new` makes them by `Default`.
    pub(super) made: Vec<Ident>,
    /// How much the macro can define.
    pub(super) expandable: Expandable,
    /// The constants that say whether the types of the state fit, where rustc must check that.
    pub(super) state_checks: Vec<Ident>,
}

/// The user's type without its ports.
pub(super) enum Body {
    /// The state, field by field.
    State(Vec<Field>),
    /// The whole item, if it is not a struct with named fields.
    AsWritten(TokenStream),
}

/// How much of an operator can be defined in spite of its mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// The user's type and its constructor: it has parameters that an operator can't have.
    Type,
    /// The whole expansion.
    Operator,
}

/// A field marked `#[input]` or `#[output]`.
pub(super) struct Port {
    pub(super) ident: Ident,
    pub(super) direction: Direction,
    pub(super) size: Size,
    /// The type that travels along the edge.
    pub(super) message: Type,
    /// The type as the user wrote it, with its mistakes removed.
    pub(super) written: Type,
    /// The same, as documentation and diagrams show it: in `message` and `written`, `checked.rs` gives a type that rustc
    /// must check another name.
    pub(super) shown: Type,
    /// Whether that is so.
    pub(super) is_checked: bool,
    /// The doc comment, attribute by attribute.
    pub(super) docs: Vec<Attribute>,
    /// The doc comment as text.
    pub(super) doc: String,
    /// The name of the port's own type, `CombineAndSum_in1`. See "The expansion of a port" in `operator/mod.rs`.
    pub(super) port_type_name: Ident,
}

/// A field marked `#[param]`, also listed among the state's fields.
pub(super) struct Param {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// The doc comment, attribute by attribute.
    pub(super) docs: Vec<Attribute>,
    /// The `#[cfg(…)]`s.
    pub(super) cfgs: Vec<Attribute>,
    pub(super) range: Option<Range>,
}

/// `range = begin..end`, or `range = begin..=end`
pub(super) struct Range {
    pub(super) begin: Option<Box<Expr>>,
    pub(super) end: Option<Box<Expr>>,
    pub(super) with_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Input { form: Form, optional: bool },
    Output,
}

/// How many edges lead to a port.
pub(super) enum Size {
    One,
    /// `#[input(many)]`
    Many,
    /// `#[input(size = n)]`
    Exactly(Box<Expr>),
}

/// The access of an input to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `&T`
    Reads,
    /// `Shared<T>`
    Shares,
    /// `T`
    Takes,
}

impl Operator {
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.direction != Direction::Output)
    }

    pub(super) fn outputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.direction == Direction::Output)
    }
}
