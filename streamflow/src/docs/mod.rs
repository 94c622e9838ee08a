//! Pages to read, beside the reference.

#[doc = include_str!("coming_from_holoscan.md")]
pub mod coming_from_holoscan {}
