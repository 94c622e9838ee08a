//! The type [`Value`]: the value of a name in the metadata of a message, which an operator adds in addition to the data.

use std::borrow::Cow;
use std::fmt;

/// A named value in [`Metadata`](super::Metadata). Numbers, `bool` and text convert to a `Value`. A `u64` or `usize` may be
/// too large for [`Value::Integer`], and needs `i64::try_from` first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Cow<'static, str>),
}

impl Value {
    /// The value as `bool`; `None` if it is no truth value.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as `i64`; `None` if it is no whole number.
    pub const fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as `f64`; `None` if it is no number. A whole number is rounded to 53 bits.
    pub const fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Integer(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// The value as `str`; `None` if it is no text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }
}

macro_rules! values {
    ($($variant:ident: $($type:ty),+;)+) => {$($(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )+)+};
}

values! {
    Bool: bool;
    Integer: i64, i32, i16, i8, u32, u16, u8;
    Float: f64, f32;
    Text: &'static str, String, Cow<'static, str>;
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_the_type_that_was_set() {
        let read = |value: Value| {
            let text = value.as_text().map(str::to_owned);
            (value.as_bool(), value.as_integer(), value.as_float(), text)
        };
        assert_eq!(read(true.into()), (Some(true), None, None, None));
        assert_eq!(read(7_u32.into()), (None, Some(7), Some(7.0), None));
        assert_eq!(read(255_u8.into()), (None, Some(255), Some(255.0), None));
        assert_eq!(read((-7_i16).into()), (None, Some(-7), Some(-7.0), None));
        assert_eq!(read((-7_i64).into()), (None, Some(-7), Some(-7.0), None));
        assert_eq!(read(0.5_f32.into()), (None, None, Some(0.5), None));
        assert_eq!(read("wide".into()), (None, None, None, Some("wide".to_owned())));
        assert_eq!(read("wide".to_owned().into()), read("wide".into()));
    }
}
