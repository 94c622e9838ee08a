//! What a kernel is, once it is understood.

use proc_macro2::{Ident, TokenStream};
use syn::{Expr, Generics, Type, Visibility};

/// What stands in `#[kernel(…)]`.
#[derive(Default)]
pub(super) struct Options {
    /// Whether there is a CUDA body, right or wrong.
    pub(super) has_cuda: bool,
    /// The CUDA body: any expression that is a constant string.
    pub(super) cuda: Option<Expr>,
    /// The conditions of `requires(…)`.
    pub(super) requires: Vec<Expr>,
    /// The block size of `threads(…)`, in x, y and z.
    pub(super) threads: Option<[u32; 3]>,
}

/// A kernel to be expanded.
pub(super) struct Kernel {
    pub(super) options: Options,
    pub(super) name: Ident,
    pub(super) visibility: Visibility,
    /// The function's `#[cfg(…)]`s, which hold for all that is made from it.
    pub(super) cfgs: TokenStream,
    pub(super) generics: Generics,
    /// Whether the generics are type parameters alone, and the function is no method.
    pub(super) expandable: Expandable,
    pub(super) arguments: Vec<Argument>,
}

/// How much can be defined for a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// Nothing: it is a method, beside which no type can stand.
    Nothing,
    /// The type, so that its name is known.
    Type,
    /// The type, and what it implements.
    Kernel,
}

/// An argument that has a name.
pub(super) struct Argument {
    pub(super) ident: Ident,
    pub(super) kind: ArgumentKind,
}

/// What an argument is, with the element's or the value's type.
pub(super) enum ArgumentKind {
    Slice(Type),
    SliceMut(Type),
    Scalar(Type),
    /// Refused; the type is as the user wrote it where a launch could be typed with it.
    Wrong(Option<Type>),
}

impl ArgumentKind {
    /// How many parameters of CUDA it becomes.
    pub(super) fn params(&self) -> usize {
        match self {
            Self::Slice(_) | Self::SliceMut(_) => 2,
            Self::Scalar(_) => 1,
            Self::Wrong(_) => 0,
        }
    }
}
