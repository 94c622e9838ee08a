//! A port as `#[operator]` declares it: as a constant, and as a type.

use crate::message::{Message, Receive};

/// How many edges lead to an input. A tick receives one message from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortSize {
    /// One.
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
    /// How many edges lead to an input. It is `One` for outputs, from which any number of edges may lead.
    pub size: PortSize,
    /// Whether its messages carry device data.
    pub device: bool,
    /// Whether its messages may have [downloads](crate::Download).
    pub downloads: bool,
    /// The type as the user wrote it.
    pub ty: &'static str,
    /// The user's documentation.
    pub doc: &'static str,
}

/// An input as a type, for what is known while compiling: its name, form and message. `#[operator]` makes one for each
/// input.
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

/// An output as a type, for what is known while compiling: its name and message. `#[operator]` makes one for each
/// output.
pub trait OutputPort: 'static {
    /// The field's name.
    const NAME: &'static str;
    /// The operator's name.
    const OPERATOR: &'static str;
    /// The type that the operator emits.
    type Item: Message;
}
