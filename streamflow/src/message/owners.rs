//! How many owners a message may have, and how many an input permits, as types.

/// The message has one owner: the sender gives it away.
#[derive(Debug)]
pub enum Sole {}

/// The message may have other owners.
#[derive(Debug)]
pub enum Several {}

/// Form of an input that is `&T`.
#[derive(Debug)]
pub enum Reads {}
/// Form of an input that is [`Shared<T>`](crate::Shared).
#[derive(Debug)]
pub enum Shares {}
/// Form of an input that is `T`.
#[derive(Debug)]
pub enum Takes {}

/// The form of an input that is declared by the name of a type alias: the macro sees the name, and not the type
/// behind it. It follows from how many owners the message has.
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
