//! A value of a body, in both languages.

use proc_macro2::TokenStream;

/// A value, as an expression of Rust and as one of CUDA C++.
pub(super) struct Value {
    pub(super) host: TokenStream,
    pub(super) cuda: String,
}

impl Value {
    pub(super) fn new(host: TokenStream, cuda: impl Into<String>) -> Self {
        Self { host, cuda: cuda.into() }
    }

    /// The value in place of an expression that was reported. It has any type.
    pub(super) fn wrong() -> Self {
        Self::new(quote::quote!(::streamflow::__private::body::any()), "0")
    }
}

/// A place in the Rust text that tells the text in CUDA a type, or a value. In the examples below it is number 3.
pub(super) enum Witness {
    /// The type `W3`.
    Type,
    /// The function `C3`.
    Function,
    /// The type `W3`, and the constant `L3` with this value.
    Constant(TokenStream),
    /// The constant `L3`, with this value, of the type of another witness.
    Pattern { of: usize, value: TokenStream },
}
