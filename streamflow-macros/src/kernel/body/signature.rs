//! The arguments of a kernel with one body.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, FnArg, ItemFn, Lit, Pat, ReturnType, Safety, Type};

use super::generics::Generics;
use super::stencil::{self, Stencil};
use super::tables::own_name;
use crate::diagnostic::Errors;
use crate::kernel::check::name_problem;

/// The most arguments in memory. A launch has 31 parameters: four for the shape, five for each argument in memory.
const MOST_OPERANDS: usize = 5;
const MOST_SCALARS: usize = 2;

/// An argument of the function.
pub(super) struct Argument {
    /// The argument's name, or that of its first coordinate.
    pub(super) ident: Ident,
    /// The type of the element or of the value.
    pub(super) ty: Type,
    pub(super) kind: Kind,
}

/// The role of an argument.
pub(super) enum Kind {
    /// `out: &mut T`
    Output,
    /// `a: &T`
    Input,
    /// `table: &[T]`: elements that every thread reads.
    Table,
    /// `a: Window<T>`
    Window,
    /// `factor: T`
    Scalar,
    /// `#[at] i: usize`: the number of the element, in row-major order.
    Number,
    /// `#[at] [y, x]: [usize; 2]`: the coordinates of the element.
    Coordinates(Vec<Ident>),
}

impl Kind {
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self, Self::Output | Self::Input | Self::Window)
    }

    /// Whether the library makes the argument, and no launch passes it.
    pub(super) fn is_position(&self) -> bool {
        matches!(self, Self::Number | Self::Coordinates(_))
    }
}

/// The arguments in order.
pub(super) struct Signature {
    pub(super) generics: Generics,
    pub(super) arguments: Vec<Argument>,
    pub(super) stencil: Option<Stencil>,
}

/// Checks the words of `#[kernel(…)]`. Returns the options of a stencil.
pub(super) fn stencil_of(options: TokenStream, errors: &mut Errors) -> Option<Stencil> {
    let mut words = options.clone().into_iter();
    if words.next().is_some_and(|word| word.to_string() == "stencil") {
        return Some(Stencil::of(options, errors));
    }
    let rest: TokenStream = words.collect();
    if !rest.is_empty() {
        errors.at(rest, "a kernel of `map` has no options: write `#[kernel(map)]`");
    }
    None
}

impl Signature {
    /// No arguments.
    pub(super) fn none() -> Self {
        Self { generics: Generics::default(), arguments: Vec::new(), stencil: None }
    }

    pub(super) fn of(function: &ItemFn, stencil: Option<Stencil>, errors: &mut Errors) -> Self {
        let signature = &function.sig;
        let form = if stencil.is_some() { "stencil" } else { "map" };
        reject_words(signature, errors);
        let generics = Generics::of(signature, errors);
        if let ReturnType::Type(_, ty) = &signature.output {
            let text =
                format!("a kernel of `{form}` returns nothing: write its result to `out: &mut T`");
            errors.at(ty, text);
        }
        let arguments: Vec<_> =
            signature.inputs.iter().filter_map(|input| argument(input, errors)).collect();
        check_names(&signature.ident, &arguments, errors);
        if !arguments.iter().any(|argument| matches!(argument.kind, Kind::Output)) {
            let text =
                format!("a kernel of `{form}` writes an element: add an argument `out: &mut f32`");
            errors.at(&signature.ident, text);
        }
        check_windows(signature, &arguments, stencil.as_ref(), errors);
        let operands = arguments.iter().filter(|argument| argument.kind.is_in_memory()).count();
        if operands > MOST_OPERANDS {
            let text = format!(
                "a kernel of `{form}` has at most {MOST_OPERANDS} arguments in memory, and this has {operands}"
            );
            errors.at(&signature.inputs, text);
        }
        let of_kind = |wanted: fn(&Kind) -> bool| {
            arguments.iter().filter(|argument| wanted(&argument.kind)).count()
        };
        let scalars = of_kind(|kind| matches!(kind, Kind::Scalar));
        let tables = of_kind(|kind| matches!(kind, Kind::Table));
        let most = MOST_SCALARS + 5 * MOST_OPERANDS.saturating_sub(operands);
        if operands <= MOST_OPERANDS && scalars + 2 * tables > most {
            let more = if tables > 0 {
                format!(" and a table counts as two: this has {scalars} values and {tables} tables")
            } else {
                format!(" and this has {scalars}")
            };
            let text = format!(
                "a kernel of `{form}` with {operands} arguments in memory has at most {most} values,{more}"
            );
            errors.at(&signature.inputs, text);
        }
        Self { generics, arguments, stencil }
    }

    /// The arguments of a function that kernels call. All are values.
    pub(super) fn of_function(function: &ItemFn, errors: &mut Errors) -> Self {
        let signature = &function.sig;
        reject_words(signature, errors);
        let generics = Generics::of(signature, errors);
        if matches!(signature.output, ReturnType::Default) {
            let text = "a function of kernels returns its result: add `-> f32`, or its type";
            errors.at(&signature.ident, text);
        }
        let mut arguments = Vec::new();
        for input in &signature.inputs {
            let typed = if let FnArg::Typed(typed) = input { Some(typed) } else { None };
            let name = typed.and_then(|typed| match &*typed.pat {
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name),
                _ => None,
            });
            let (Some(typed), Some(name)) = (typed, name) else {
                let text =
                    "an argument of a function of kernels is a value with a name, as `x: f32`";
                errors.at(input, text);
                continue;
            };
            if let Type::Reference(reference) = &*typed.ty {
                let (ident, ty) = (name.ident.clone(), (*reference.elem).clone());
                let mut kind = Kind::Input;
                let text = if let Type::Slice(slice) = &ty {
                    kind = Kind::Table;
                    let element = slice.elem.to_token_stream();
                    format!(
                        "a function of kernels takes values: write `{ident}: {element}`, and pass an element of the table"
                    )
                } else {
                    let written = ty.to_token_stream();
                    format!("a function of kernels takes values: write `{ident}: {written}`")
                };
                errors.at(&typed.ty, text);
                // With this kind, the body's `*a` is no second mistake.
                arguments.push(Argument { ident, ty, kind });
                continue;
            }
            let (ident, ty) = (name.ident.clone(), (*typed.ty).clone());
            arguments.push(Argument { ident, ty, kind: Kind::Scalar });
        }
        check_names(&signature.ident, &arguments, errors);
        Self { generics, arguments, stencil: None }
    }

    /// The arguments, each with the number of those that a launch passes before it.
    pub(super) fn passed_numbers(&self) -> impl Iterator<Item = (u32, &Argument)> {
        self.arguments.iter().scan(0, |next, argument| {
            let number = *next;
            *next += u32::from(!argument.kind.is_position());
            Some((number, argument))
        })
    }

    /// `where T: Element,`: each type of elements that has a type parameter.
    pub(super) fn element_bounds(&self) -> TokenStream {
        let elements = self.arguments.iter().filter(|argument| {
            matches!(argument.kind, Kind::Output | Kind::Input | Kind::Table | Kind::Window)
                && self.generics.are_in(&argument.ty)
        });
        let types: Vec<&Type> = elements.map(|argument| &argument.ty).collect();
        if types.is_empty() {
            return TokenStream::new();
        }
        quote!(where #(#types: ::streamflow::__private::Element,)*)
    }

    /// Whether a body needs the coordinates of its element, so that dimensions can't be merged.
    pub(super) fn coordinates(&self) -> Option<usize> {
        self.arguments.iter().find_map(|argument| match &argument.kind {
            Kind::Coordinates(idents) => Some(idents.len()),
            _ => None,
        })
    }
}

/// A stencil has windows, and as many coordinates as its reach has dimensions. Another kernel has no windows.
fn check_windows(
    signature: &syn::Signature,
    arguments: &[Argument],
    stencil: Option<&Stencil>,
    errors: &mut Errors,
) {
    let mut windows = arguments.iter().filter(|argument| matches!(argument.kind, Kind::Window));
    let Some(stencil) = stencil else {
        for Argument { ident, .. } in windows {
            let text = "a window is an argument of a stencil: write `#[kernel(stencil(reach = [1, 1], border = clamp))]`";
            errors.at(ident, text);
        }
        return;
    };
    if windows.next().is_none() {
        let text =
            "a stencil reads a window: add an argument `a: Window<f32>`, or write `#[kernel(map)]`";
        errors.at(&signature.ident, text);
    }
    let rank = stencil.reach.len();
    for Argument { ident, kind, .. } in arguments {
        if let Kind::Coordinates(idents) = kind
            && idents.len() != rank
            && rank > 0
        {
            let text = format!(
                "`reach` has {rank} dimensions, and these are {} coordinates: write one for each dimension",
                idents.len()
            );
            errors.at(ident, text);
        }
    }
}

/// The words before `fn`, and the name.
fn reject_words(signature: &syn::Signature, errors: &mut Errors) {
    if let Some(word) = &signature.constness {
        errors.at(word, "a kernel runs on a device: remove `const`");
    }
    if let Some(word) = &signature.asyncness {
        errors.at(word, "a kernel does not wait: remove `async`");
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, "a kernel has no ABI of its own: remove this");
    }
    if let Safety::Unsafe(word) = &signature.safety {
        errors.at(word, "a kernel with one body needs no `unsafe`: remove the word");
    }
    if let Some(problem) = name_problem(&signature.ident) {
        let name = &signature.ident;
        errors.at(name, format!("a kernel cannot be named `{name}`: {problem}"));
    }
}

/// Each argument has a name that CUDA C++ can have, and no two arguments have one name there.
fn check_names(kernel: &Ident, arguments: &[Argument], errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for Argument { ident, kind, .. } in arguments {
        let one = std::slice::from_ref(ident);
        let names = if let Kind::Coordinates(names) = kind { names } else { one };
        for name in names {
            let text = name.unraw().to_string();
            if let Some(problem) = name_problem(name).or(own_name(&text)) {
                errors.at(name, format!("an argument cannot be named `{name}`: {problem}"));
            } else if name.unraw() == kernel.unraw() {
                let text = format!("`{name}` is the kernel's name, too: rename the argument");
                errors.at(name, text);
            } else if !known.insert(name.unraw().to_string()) {
                errors.at(name, format!("two arguments have the name `{name}`: rename this one"));
            }
        }
    }
    for Argument { ident, .. } in arguments {
        let name = ident.unraw().to_string();
        let Some(tensor) = name.strip_suffix("_len") else { continue };
        let is_length = |other: &Argument| {
            matches!(other.kind, Kind::Output | Kind::Input | Kind::Table)
                && other.ident.unraw() == tensor
        };
        if arguments.iter().any(is_length) {
            let text = format!(
                "`{name}` is the name of the length of `{tensor}` in CUDA: rename this argument"
            );
            errors.at(ident, text);
        }
    }
}

fn argument(input: &FnArg, errors: &mut Errors) -> Option<Argument> {
    let FnArg::Typed(input) = input else {
        errors.at(input, "a kernel is a function and no method");
        return None;
    };
    let mut is_at = false;
    for attribute in &input.attrs {
        if attribute.path().is_ident("at") {
            is_at = true;
        } else {
            errors.at(attribute, "an argument of a kernel has no attribute but `#[at]`");
        }
    }
    if is_at {
        return coordinates(&input.pat, &input.ty, errors);
    }
    let Pat::Ident(name) = &*input.pat else {
        errors.at(&input.pat, "an argument of a kernel has a name");
        return None;
    };
    if let Some(word) = &name.by_ref {
        errors.at(word, "an argument of a kernel is passed as it is: remove `ref`");
    }
    let (ident, ty) = (name.ident.clone(), &*input.ty);
    if let Type::ImplTrait(_) = ty {
        errors.at(ty, "a type of a kernel's argument has a name: write `<T: Float>` and `x: T`");
        return None;
    }
    if let Some(element) = stencil::window(ty) {
        return Some(Argument { ident, ty: element.clone(), kind: Kind::Window });
    }
    let Type::Reference(reference) = ty else {
        return Some(Argument { ident, ty: ty.clone(), kind: Kind::Scalar });
    };
    let kind = if reference.mutability.is_some() { Kind::Output } else { Kind::Input };
    if let Some(element) = stencil::window(&reference.elem) {
        let text = format!("`{ident}` is a window and no reference: remove the `&`");
        errors.at(ty, text);
        return Some(Argument { ident, ty: element.clone(), kind: Kind::Window });
    }
    if let Type::Slice(slice) = &*reference.elem {
        let item = (*slice.elem).clone();
        if reference.mutability.is_none() {
            return Some(Argument { ident, ty: item, kind: Kind::Table });
        }
        let text = format!(
            "argument `{ident}`: a kernel of `map` writes one element of each tensor: write `{ident}: &mut {}`",
            item.to_token_stream()
        );
        errors.at(ty, text);
        return Some(Argument { ident, ty: item, kind });
    }
    Some(Argument { ident, ty: (*reference.elem).clone(), kind })
}

/// `#[at] i: usize` or `#[at] [y, x]: [usize; 2]`
fn coordinates(pattern: &Pat, ty: &Type, errors: &mut Errors) -> Option<Argument> {
    const FORM: &str = "`#[at]` is `i: usize`, the number of the element, or `[y, x]: [usize; 2]`, its coordinates, 1 to 4";
    let is_usize = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident("usize"));
    match (pattern, ty) {
        (Pat::Ident(name), ty) if is_usize(ty) => {
            Some(Argument { ident: name.ident.clone(), ty: ty.clone(), kind: Kind::Number })
        }
        (Pat::Slice(names), Type::Array(array)) if is_usize(&array.elem) => {
            let idents: Vec<Ident> = names
                .elems
                .iter()
                .filter_map(|name| match name {
                    Pat::Ident(name) => Some(name.ident.clone()),
                    _ => None,
                })
                .collect();
            let len = match &array.len {
                Expr::Lit(ExprLit { lit: Lit::Int(len), .. }) => len.base10_parse::<usize>().ok(),
                _ => None,
            };
            if idents.len() != names.elems.len()
                || len != Some(idents.len())
                || !(1..=4).contains(&idents.len())
            {
                errors.at(names, FORM);
                return None;
            }
            let ident = idents[0].clone();
            Some(Argument { ident, ty: (*array.elem).clone(), kind: Kind::Coordinates(idents) })
        }
        _ => {
            errors.at(pattern, FORM);
            None
        }
    }
}
