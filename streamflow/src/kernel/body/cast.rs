//! `as` between types that a generic body does not name.

use super::{Number, Value};

/// `value as B`, where a type is a type parameter: Rust's `as` is for types with a name alone.
#[inline(always)]
pub fn cast<A: Value, B: Number>(value: A) -> B {
    B::narrow(value.wide())
}
