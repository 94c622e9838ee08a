//! Types for the number of owners that a message may have, and for the form of an input, which depends on that number.

/// The number of owners of a message that has one owner, because the sender gives the message away.
#[derive(Debug)]
pub enum Sole {}

/// The number of owners of a message that may have several owners.
#[derive(Debug)]
pub enum Several {}

/// The form of an input that is declared as `&T`.
#[derive(Debug)]
pub enum Reads {}
/// The form of an input that is declared as [`Shared<T>`](crate::Shared).
#[derive(Debug)]
pub enum Shares {}
/// The form of an input that is declared as `T`.
#[derive(Debug)]
pub enum Takes {}

/// The number of owners of a message, with the form of an input that is declared by a type alias. The macro sees only the
/// name of the alias, so the form follows from the number of owners that the message may have.
pub trait Owned {
    /// The form of the input: [`Takes`] or [`Shares`].
    type Form;
}

impl Owned for Sole {
    type Form = Takes;
}

impl Owned for Several {
    type Form = Shares;
}

/// The form of an input, with the number of owners that its messages may have.
pub trait Form {
    /// The number: [`Sole`] or [`Several`].
    type Owners;
}

impl Form for Reads {
    type Owners = Several;
}

impl Form for Shares {
    type Owners = Several;
}

impl Form for Takes {
    type Owners = Sole;
}
