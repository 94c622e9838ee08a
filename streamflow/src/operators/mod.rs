//! Operators that come with the library, for any graph: [`Inspect`] prints what messages look like.

mod inspect;

pub use inspect::Inspect;
