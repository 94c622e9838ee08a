//! A kernel as data: the result of parse and check.

use proc_macro2::{Ident, TokenStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Generics, Token, Type, Visibility};

/// The options of `#[kernel(…)]`.
#[derive(Default)]
pub(super) struct Options {
    /// Whether the user wrote a CUDA body, correct or not.
    pub(super) has_cuda: bool,
    /// The CUDA body: any expression that is a constant string.
    pub(super) cuda: Option<Expr>,
    /// The conditions of `requires(…)`.
    pub(super) requires: Vec<Expr>,
    /// The block size of `threads(…)`, in x, y and z.
    pub(super) threads: Option<[u32; 3]>,
    /// The type of each instance of `instances(…)`, or a tuple of several types, with the word that the user wrote.
    pub(super) instances: Option<(Punctuated<Type, Token![,]>, Ident)>,
    /// `grid_stride` or `partial`, with the word that the user wrote.
    pub(super) coverage: Option<(Coverage, Ident)>,
}

/// The type arguments of an instance.
pub(super) fn instance_types(instance: &Type) -> Vec<&Type> {
    match instance {
        Type::Tuple(types) => types.elems.iter().collect(),
        ty => vec![ty],
    }
}

/// The options that say which grids write all elements. Without one a grid has a thread for each element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    GridStride,
    Partial,
}

/// A kernel to be expanded.
pub(super) struct Kernel {
    pub(super) options: Options,
    pub(super) name: Ident,
    pub(super) visibility: Visibility,
    /// The function's `#[cfg(…)]`s. Every generated item has them too.
    pub(super) cfgs: TokenStream,
    pub(super) generics: Generics,
    /// How much the macro can define.
    pub(super) expandable: Expandable,
    pub(super) arguments: Vec<Argument>,
}

/// How much of a kernel can be defined in spite of its mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// Nothing: the function is a method, and an `impl` can't contain a type.
    Nothing,
    /// The type, so that its name is known. The generics have more than type parameters.
    Type,
    /// The type and its implementation.
    Kernel,
}

/// An argument of the function.
pub(super) struct Argument {
    pub(super) ident: Ident,
    pub(super) kind: ArgumentKind,
}

/// The kind of an argument, with the element's or the value's type.
pub(super) enum ArgumentKind {
    Slice(Type),
    SliceMut(Type),
    /// `&Strided<T, N>`
    View(Type, usize),
    /// `&mut Strided<T, N>`
    ViewMut(Type, usize),
    Scalar(Type),
    /// Rejected. The user's type is kept if a launch can have it in its arguments.
    Wrong(Option<Type>),
}

impl ArgumentKind {
    /// The number of CUDA parameters of this argument.
    pub(super) fn params(&self) -> usize {
        match self {
            Self::Slice(_) | Self::SliceMut(_) => 2,
            // The address, the shape and the strides.
            Self::View(_, rank) | Self::ViewMut(_, rank) => 1 + 2 * rank,
            Self::Scalar(_) => 1,
            Self::Wrong(_) => 0,
        }
    }
}
