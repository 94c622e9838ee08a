//! The data of a kernel that the steps of `#[kernel]` hand on: `Options` is the output of `parse`, and `Kernel` that of `check`.

use proc_macro2::{Ident, TokenStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Generics, LitStr, Token, Type, Visibility};

/// The options of `#[kernel(…)]`.
#[derive(Default)]
pub(super) struct Options {
    /// Whether the user wrote a CUDA body, readable or not.
    pub(super) has_cuda: bool,
    /// The word `cuda` as the user wrote it.
    pub(super) cuda_word: Option<Ident>,
    /// The CUDA body, if it is readable: any expression that is a constant string.
    pub(super) cuda: Option<Expr>,
    /// The conditions in `requires(…)`, each a `bool` expression of the arguments.
    pub(super) requires: Vec<Expr>,
    /// The block size in `threads(…)`, as x, y and z.
    pub(super) threads: Option<[u32; 3]>,
    /// The entries of `instances(…)`, and the word `instances` as the user wrote it. An entry is a type, or a tuple of types.
    pub(super) instances: Option<(Punctuated<Type, Token![,]>, Ident)>,
    /// The option `grid_stride` or `partial`, with its word as the user wrote it.
    pub(super) coverage: Option<(Coverage, Ident)>,
    /// The options of code that another tool has compiled.
    pub(super) image: ImageOptions,
}

/// The options of the image, each with its word as the user wrote it, and with its value if that is readable.
#[derive(Default)]
pub(super) struct ImageOptions {
    pub(super) image: Option<(Ident, Option<Expr>)>,
    pub(super) entry: Option<(Ident, Option<LitStr>)>,
    /// `slices = pointers`: whether a slice is its address alone.
    pub(super) slices: Option<Ident>,
}

/// Returns the type arguments of an entry of `instances(…)`.
pub(super) fn instance_types(instance: &Type) -> Vec<&Type> {
    match instance {
        Type::Tuple(types) => types.elems.iter().collect(),
        ty => vec![ty],
    }
}

/// The options that say which grids write all elements. A kernel without one needs a grid with a thread for each element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    GridStride,
    Partial,
}

/// A kernel to be expanded.
pub(super) struct Kernel {
    pub(super) options: Options,
    pub(super) name: Ident,
    /// Whether the function has a body. A kernel of an image may end with `;`.
    pub(super) has_host_body: bool,
    pub(super) visibility: Visibility,
    /// The `#[cfg(…)]`s on the function. Every generated item repeats them.
    pub(super) cfgs: TokenStream,
    pub(super) generics: Generics,
    /// How much the macro can define in spite of the mistakes.
    pub(super) expandable: Expandable,
    pub(super) arguments: Vec<Argument>,
}

/// How much of a kernel can be defined in spite of its mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// Nothing: the function is a method, and its `impl` can't contain the kernel's type.
    Nothing,
    /// Only the type, so that its name exists. The generics have a lifetime or a const parameter.
    Type,
    /// The type and its implementation.
    Kernel,
}

/// An argument of the function.
pub(super) struct Argument {
    pub(super) ident: Ident,
    pub(super) kind: ArgumentKind,
}

/// The kind of an argument, with the type of its elements or of its value. Views also have their rank.
pub(super) enum ArgumentKind {
    Slice(Type),
    SliceMut(Type),
    /// A view that the kernel reads, `&Strided<T, N>`.
    View(Type, usize),
    /// A view that the kernel writes, `&mut Strided<T, N>`.
    ViewMut(Type, usize),
    Scalar(Type),
    /// A rejected argument. It has the user's type if that type can be in the tuple that a launch passes.
    Wrong(Option<Type>),
}

impl ArgumentKind {
    /// Returns the number of CUDA parameters that this argument becomes.
    pub(super) fn params(&self) -> usize {
        match self {
            Self::Slice(_) | Self::SliceMut(_) => 2,
            // The address, the length of each dimension, and the stride of each dimension.
            Self::View(_, rank) | Self::ViewMut(_, rank) => 1 + 2 * rank,
            Self::Scalar(_) => 1,
            Self::Wrong(_) => 0,
        }
    }
}
