//! The declaration of a port by `#[operator]`: as a constant, and as a type.

use crate::message::{Message, Receive};

/// The number of edges that lead to an input. A tick receives a message from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortSize {
    /// One edge.
    One,
    /// Any number: `#[input(many)]`.
    Many,
    /// This number: `#[input(size = n)]`.
    Exactly(usize),
}

/// A port as a constant: for checks, pictures and documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInfo {
    /// The field's name.
    pub name: &'static str,
    /// Whether the operator may run without a message here; `false` for outputs.
    pub optional: bool,
    /// The number of edges that lead to an input. For outputs this is `One`, whatever the number of their edges.
    pub size: PortSize,
    /// Whether the port's messages carry device data.
    pub device: bool,
    /// Whether the port's messages may have [downloads](crate::Download).
    pub downloads: bool,
    /// The type as the user wrote it.
    pub ty: &'static str,
    /// The user's documentation.
    pub doc: &'static str,
}

/// An input as a type, with everything known while compiling: its name, form and message. `#[operator]` makes such a
/// type for each input.
pub trait InputPort: 'static {
    /// The field's name.
    const NAME: &'static str;
    /// The operator's name.
    const OPERATOR: &'static str;
    /// Whether the operator may run without a message here.
    const OPTIONAL: bool;
    /// The message: `T`, for an input of `&T`, `Shared<T>` or `T`.
    type Message: Message;
    /// The type that the operator gets: `&T`, `Shared<T>`, `T`, or an `Option`, [`Many`](super::Many) or array of
    /// these.
    type Arg<'t>: Receive<'t, Message = Self::Message>;
    /// `Reads`, `Shares` or `Takes`.
    type Form;
}

/// An output as a type, with everything known while compiling: its name and message. `#[operator]` makes such a type
/// for each output.
pub trait OutputPort: 'static {
    /// The field's name.
    const NAME: &'static str;
    /// The operator's name.
    const OPERATOR: &'static str;
    /// The type that the operator emits.
    type Item: Message;
}
