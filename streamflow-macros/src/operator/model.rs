//! The data that the steps of `#[operator]` hand on. An `Operator` is the output of `check` and the input of `expand`, and
//! `Options` are the output of `parse`.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, Field, Generics, Ident, Path, Type, Visibility};

/// The options of `#[operator(…)]`.
#[derive(Default)]
pub(super) struct Options {
    /// The names in `streams(…)`, without repetitions.
    pub(super) streams: Vec<Ident>,
    /// `no_new`: whether the user writes the constructor, and the macro writes none.
    pub(super) no_new: bool,
    /// `stays`: whether all hooks of the operator are called on the thread of the run.
    pub(super) stays: bool,
    /// `flush`: whether the operator has messages to send after its inputs have ended, in `flush`.
    pub(super) flush: bool,
    /// `unlisted`: whether rustc never lists the operator as an alternative in errors about other types.
    pub(super) unlisted: bool,
    /// The interfaces in `implements(…)`.
    pub(super) implements: Vec<Path>,
    /// `map = scale`: the kernel that `compute` launches, if the macro writes `compute`.
    pub(super) map: Option<Map>,
}

/// The option `map = scale`.
pub(super) struct Map {
    pub(super) kernel: Path,
    /// Whether the macro has found no mistake in what the kernel gets.
    pub(super) is_sound: bool,
}

/// An operator to be expanded.
pub(super) struct Operator {
    pub(super) options: Options,
    pub(super) ident: Ident,
    /// The spans of `struct` and of the braces. Code with these spans lets rustc show the user's struct instead of the attribute.
    pub(super) spans: [Span; 2],
    pub(super) visibility: Visibility,
    /// All attributes that the user wrote on the struct.
    pub(super) attrs: Vec<Attribute>,
    /// The `#[cfg(…)]`s in `attrs`. Every generated item repeats them.
    pub(super) cfgs: TokenStream,
    pub(super) generics: Generics,
    pub(super) body: Body,
    /// The ports, in the order of their fields.
    pub(super) ports: Vec<Port>,
    /// The fields of the state that are marked `#[param]`, in their order in the struct.
    pub(super) params: Vec<Param>,
    /// The fields of the state that are marked `#[state]`: `new` makes them by `Default`.
    pub(super) made: Vec<Ident>,
    /// How much the macro can define in spite of the mistakes.
    pub(super) expandable: Expandable,
    /// The names of the constants that say whether the types of the state fields may move to another thread, for types that only
    /// rustc can judge.
    pub(super) state_checks: Vec<Ident>,
}

/// The user's type without its ports.
pub(super) enum Body {
    /// A struct with named fields: the fields that are no ports.
    State(Vec<Field>),
    /// Any other item, with all of its tokens but the attributes of ports and parameters.
    AsWritten(TokenStream),
}

/// How much of an operator can be defined in spite of its mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// The user's type and its constructor. The generics have a mistake: a lifetime, or a type parameter without its bounds.
    Type,
    /// The whole expansion.
    Operator,
}

/// A field marked `#[input]` or `#[output]`.
#[derive(Clone)]
pub(super) struct Port {
    pub(super) ident: Ident,
    pub(super) direction: Direction,
    pub(super) size: Size,
    /// The type of the messages that travel along the edges of the port.
    pub(super) message: Type,
    /// The port's type as the user wrote it, after the removal of mistakes.
    pub(super) written: Type,
    /// The port's type as documentation and diagrams show it. `message` and `written` have an alias in place of a type that rustc
    /// must check, since `checked.rs` replaces it there.
    pub(super) shown: Type,
    /// Whether the port is a branch, `#[output(branch)]`. A tick sends on at most one branch.
    pub(super) is_branch: bool,
    /// Whether `checked.rs` has replaced the type by an alias.
    pub(super) is_checked: bool,
    /// The doc comment as attributes, one for each line.
    pub(super) docs: Vec<Attribute>,
    /// The doc comment as one text.
    pub(super) doc: String,
    /// The name of the port's own type, as `CombineAndSum_in1`. See "The expansion of a port" in `operator/mod.rs`.
    pub(super) port_type_name: Ident,
}

/// A field marked `#[param]`, also listed among the state's fields.
pub(super) struct Param {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// The doc comment as attributes, one for each line.
    pub(super) docs: Vec<Attribute>,
    /// The `#[cfg(…)]`s that the user wrote on the field.
    pub(super) cfgs: Vec<Attribute>,
    pub(super) range: Option<Range>,
}

/// The option `range = begin..end` or `range = begin..=end` of `#[param]`.
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
#[derive(Clone)]
pub(super) enum Size {
    One,
    /// `#[input(many)]`
    Many,
    /// `#[input(size = n)]`
    Exactly(Box<Expr>),
}

/// How an input uses its message, as its type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Reads the message: the type is `&T`.
    Reads,
    /// Shares the message: the type is `Shared<T>`.
    Shares,
    /// Takes the message: the type is `T`.
    Takes,
}

impl Operator {
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.direction != Direction::Output)
    }

    pub(super) fn outputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.direction == Direction::Output)
    }

    pub(super) fn branches(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.is_branch)
    }
}
