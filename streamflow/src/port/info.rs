//! What `#[operator]` says about a port: as a constant, and as a type.

use crate::message::{Message, Receive};

/// How many edges lead to an input; it receives one message from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortSize {
    /// One.
    One,
    /// Any number: `#[input(many)]`.
    Many,
    /// As many as it says: `#[input(size = n)]`.
    Exactly(usize),
}

/// What is known about a port: for checks, pictures and documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInfo {
    /// The field's name.
    pub name: &'static str,
    /// Whether the operator may run without a message here; `false` for outputs.
    pub optional: bool,
    /// How many edges lead to it; one for outputs, which may have any number.
    pub size: PortSize,
    /// Whether its messages carry device data.
    pub device: bool,
    /// The type as the user wrote it.
    pub ty: &'static str,
    /// The user's documentation.
    pub doc: &'static str,
}

/// One input of an operator, as a type of its own. Made by `#[operator]`.
pub trait InputPort: 'static {
    /// The field's name.
    const NAME: &'static str;
    /// The operator's name.
    const OPERATOR: &'static str;
    /// Whether the operator may run without a message here.
    const OPTIONAL: bool;
    /// The message below the form.
    type Message: Message;
    /// What the operator gets, of all messages together.
    type Arg<'t>: Receive<'t, Message = Self::Message>;
    /// `Reads`, `Shares` or `Takes`.
    type Form;
}

/// One output of an operator, as a type of its own. Made by `#[operator]`.
pub trait OutputPort: 'static {
    /// The field's name.
    const NAME: &'static str;
    /// The operator's name.
    const OPERATOR: &'static str;
    /// What is emitted.
    type Item: Message;
}
