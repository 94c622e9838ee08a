//! How many owners a message may have, and how many an input permits, as types.

/// The sender gives the message away.
#[derive(Debug)]
pub enum Sole {}

/// Others may own the message as well.
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

/// How many owners a message has, as the form of an input that was declared by a name: the macro does not know
/// what the name stands for.
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
