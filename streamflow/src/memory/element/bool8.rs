//! Truth values in device memory.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Element, Scalar, sealed};
use crate::driver::Plain;

/// A truth value of one byte, like NumPy's `bool`: an element of device memory.
///
/// Rust's `bool` can't be an element. Device memory may have any byte: an earlier content, or a 2 that another library has
/// written. A `bool` with such a byte is undefined behaviour, also in a kernel's Rust body, although that is safe code. A
/// `Bool8` may have any byte; each byte except 0 is true. In CUDA C++ the type is `bool8`, with an implicit
/// conversion to `bool`.
///
/// ```
/// use streamflow::memory::Bool8;
///
/// let mask: Vec<Bool8> = [1, 5, 2].iter().map(|x| Bool8::from(*x > 2)).collect();
/// assert_eq!(mask, [false, true, false]);
/// assert!(mask[1].get());
/// assert_eq!(Bool8::slice_of(&[false, true, false]), mask);
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool8(u8);

impl Bool8 {
    /// The value as Rust's `bool`.
    pub const fn get(self) -> bool {
        self.0 != 0
    }

    /// The values of a slice of `bool` as a slice of `Bool8`, without a copy, for example to upload them.
    pub const fn slice_of(values: &[bool]) -> &[Self] {
        // SAFETY: a `bool` and a `Bool8` have one byte each, and any byte is a `Bool8`.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }
}

// SAFETY: the type is a transparent wrapper of `u8`, which is `Plain`.
unsafe impl Plain for Bool8 {}

elements! {
    Bool8: "bool8", "bool";
}

impl From<bool> for Bool8 {
    fn from(value: bool) -> Self {
        Self(value.into())
    }
}

impl From<Bool8> for bool {
    fn from(value: Bool8) -> Self {
        value.get()
    }
}

// The comparison is one of truth values and not of bytes, because 255 of the 256 bytes mean true.
impl PartialEq for Bool8 {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bool8 {}

impl PartialEq<bool> for Bool8 {
    fn eq(&self, other: &bool) -> bool {
        self.get() == *other
    }
}

impl PartialOrd for Bool8 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bool8 {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl Hash for Bool8 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl Not for Bool8 {
    type Output = Self;

    fn not(self) -> Self {
        (!self.get()).into()
    }
}

impl BitAnd for Bool8 {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        (self.get() & other.get()).into()
    }
}

impl BitOr for Bool8 {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        (self.get() | other.get()).into()
    }
}

impl BitXor for Bool8 {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        (self.get() ^ other.get()).into()
    }
}

impl fmt::Debug for Bool8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Display for Bool8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Param;

    #[test]
    fn every_byte_is_one_of_two_values() {
        let of = |byte: u8| Param::new(byte).get::<Bool8>();
        for byte in 1..=u8::MAX {
            let truth = of(byte);
            assert!(truth == true && truth == Bool8::from(true) && truth > of(0));
            assert_eq!((!truth).0, 0);
            assert_eq!(((truth & of(2)).0, (truth ^ of(4)).0, (truth | of(0)).0), (1, 0, 1));
        }
        assert_eq!(
            (of(0), (!of(0)).0, format!("{:?} {}", of(0), of(7))),
            (Bool8::default(), 1, "false true".into())
        );
    }
}
