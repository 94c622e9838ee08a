//! The number of owners that a message may have, and the number that an input permits, as types.

/// Number of owners: the message has one owner, since the sender gives it away.
#[derive(Debug)]
pub enum Sole {}

/// Number of owners: the message may have several.
#[derive(Debug)]
pub enum Several {}

/// The form of an input that is `&T`.
#[derive(Debug)]
pub enum Reads {}
/// The form of an input that is [`Shared<T>`](crate::Shared).
#[derive(Debug)]
pub enum Shares {}
/// The form of an input that is `T`.
#[derive(Debug)]
pub enum Takes {}

/// The form of an input that is declared by the name of a type alias, where the macro sees only the name and not the
/// type behind it. The form follows from the number of owners that the message may have.
pub trait Owned {
    /// [`Takes`] or [`Shares`].
    type Form;
}

impl Owned for Sole {
    type Form = Takes;
}

impl Owned for Several {
    type Form = Shares;
}
