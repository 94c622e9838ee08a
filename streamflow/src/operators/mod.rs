//! Operators that come with the library.

mod inspect;

pub use inspect::Inspect;
