//! A port as `#[operator]` declares it: as a constant, [`PortInfo`], and as a type, [`InputPort`] or [`OutputPort`].

use crate::message::{Message, Receive};

/// The number of edges that lead to an input. A tick receives one message from each edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortSize {
    /// One edge: the default.
    One,
    /// Any number: `#[input(many)]`.
    Many,
    /// This number of edges: `#[input(size = n)]`.
    Exactly(usize),
}

/// A port as a constant: for checks, pictures of graphs and documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInfo {
    /// The name of the port's field in the operator's struct.
    pub name: &'static str,
    /// Whether the operator may run without a message at this port; `false` for outputs.
    pub optional: bool,
    /// The number of edges that lead to an input. For an output this is always `One`, whatever the number of its edges.
    pub size: PortSize,
    /// The number of elements, if the port is an array of ports of a graph.
    pub length: Option<usize>,
    /// Whether the port's messages carry device data.
    pub device: bool,
    /// Whether the port's messages may have [downloads](crate::Download).
    pub downloads: bool,
    /// The port's type as the user wrote it.
    pub ty: &'static str,
    /// The doc comment that the user wrote at the port.
    pub doc: &'static str,
}

/// An input as a type, with all that is known while compiling: its name, its form and its message. `#[operator]` makes such a
/// type for each input.
pub trait InputPort: 'static {
    /// The name of the port's field in the operator's struct.
    const NAME: &'static str;
    /// The name of the operator's struct.
    const OPERATOR: &'static str;
    /// Whether the operator may run without a message at this input.
    const OPTIONAL: bool;
    /// The type `T` of the message, for an input that is declared as `&T`, `Shared<T>` or `T`.
    type Message: Message;
    /// The type that the operator receives: `&T`, `Shared<T>` or `T`; or an `Option`, a [`Many`](super::Many) or an array of
    /// these.
    type Arg<'t>: Receive<'t, Message = Self::Message>;
    /// The form of the input: `Reads`, `Shares` or `Takes`.
    type Form;
}

/// An output as a type, with all that is known while compiling: its name and its message. `#[operator]` makes such a type for
/// each output.
pub trait OutputPort: 'static {
    /// The name of the port's field in the operator's struct.
    const NAME: &'static str;
    /// The name of the operator's struct.
    const OPERATOR: &'static str;
    /// Whether a tick sends on at most one of this output and the operator's other branches: `#[output(branch)]`.
    const IS_BRANCH: bool = false;
    /// The type of the message that the operator emits.
    type Item: Message;
}
