//! `as` between types that a generic body does not name.

use super::{Number, Value};

/// A number, exact, in the widest type of its kind.
#[derive(Debug, Clone, Copy)]
pub enum Wide {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer, or a `bool` as 0 or 1.
    Unsigned(u64),
    /// A float.
    Float(f64),
}

/// `value as B`, where a type is a type parameter: Rust's `as` is for types with a name alone.
#[inline(always)]
pub fn cast<A: Value, B: Number>(value: A) -> B {
    B::narrow(value.wide())
}

/// The value of an `as`. rustc reports another type than a number's at the type of the cast.
#[inline(always)]
pub fn cast_to<T: Number>(value: T) -> T {
    value
}
