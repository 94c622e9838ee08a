//! Reads the type of a kernel's argument. Reports types that a kernel can't take, with the type to write instead.

use syn::{Expr, ExprLit, GenericArgument, Ident, Lit, PathArguments, Type};

use super::model::ArgumentKind;
use crate::diagnostic::Errors;
use crate::tokens::spelled;

/// The value of `streamflow::memory::MAX_RANK`: this crate can't import the constant.
const MAX_RANK: usize = 8;

/// Returns the kind of an argument of this type. Errors name the argument as `name`.
pub(super) fn argument_type(name: &str, ty: &Type, errors: &mut Errors) -> ArgumentKind {
    use ArgumentKind::{Slice, SliceMut, View, ViewMut, Wrong};
    let kind = written_type(name, ty, errors);
    let (Slice(element) | SliceMut(element) | View(element, _) | ViewMut(element, _)) = &kind
    else {
        return kind;
    };
    // The expansion writes `<T as Element>` for the element type `T`, and `dyn A as` or `impl A as` does not parse.
    if !matches!(element, Type::TraitObject(_) | Type::ImplTrait(_)) {
        return kind;
    }
    let text = "the elements of a kernel's slice have a number's type, as `f32`";
    errors.at(element, format!("argument `{name}`: {text}, and not `{}`", spelled(element)));
    Wrong(None)
}

/// Returns the kind that the tokens of the type say, whatever its element type is.
fn written_type(name: &str, ty: &Type, errors: &mut Errors) -> ArgumentKind {
    match ty {
        Type::Paren(inner) => written_type(name, &inner.elem, errors),
        Type::Group(inner) => written_type(name, &inner.elem, errors),
        Type::Path(path) => match path.path.get_ident().and_then(scalar_problem) {
            Some(problem) => {
                errors.at(ty, format!("argument `{name}`: {problem}"));
                ArgumentKind::Wrong(Some(ty.clone()))
            }
            None if is_strided(ty) => view(name, ty, ty, false, errors),
            None => match elements_of(ty) {
                Some(element) => reject_memory(name, ty, element, false, errors),
                None => ArgumentKind::Scalar(ty.clone()),
            },
        },
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                errors.at(
                    lifetime,
                    format!("a kernel's slices live for the launch; remove `{lifetime}`"),
                );
            }
            let mutable = reference.mutability.is_some();
            match &*reference.elem {
                Type::Slice(slice) if mutable => ArgumentKind::SliceMut((*slice.elem).clone()),
                Type::Slice(slice) => ArgumentKind::Slice((*slice.elem).clone()),
                other if is_strided(other) => view(name, ty, other, mutable, errors),
                other => match elements_of(other) {
                    Some(element) => reject_memory(name, ty, element, mutable, errors),
                    None => {
                        let problem = reference_problem(other, mutable);
                        errors.at(ty, format!("argument `{name}`: {problem}"));
                        ArgumentKind::Wrong(None)
                    }
                },
            }
        }
        other => {
            let text = "a kernel takes slices `&[T]` and `&mut [T]`, and scalars by value";
            errors.at(other, format!("argument `{name}`: {text}, not `{}`", spelled(other)));
            ArgumentKind::Wrong(
                matches!(other, Type::Array(_) | Type::Tuple(_)).then(|| other.clone()),
            )
        }
    }
}

/// Reports an argument like `&Tensor<f32>`: that is what a launch passes, and the kernel receives its elements. The argument then
/// counts as a slice, so that rustc reports no launch of this kernel.
fn reject_memory(
    name: &str,
    ty: &Type,
    element: &Type,
    mutable: bool,
    errors: &mut Errors,
) -> ArgumentKind {
    let (and, item) = (if mutable { "&mut " } else { "&" }, spelled(element));
    let or = if matches!(ty, Type::Reference(_)) {
        String::new()
    } else {
        format!(", or `{name}: &mut [{item}]` to write")
    };
    errors.at(
        ty,
        format!(
            "argument `{name}`: a kernel has the elements of a tensor, a buffer or a vector as a slice; write \
             `{name}: {and}[{item}]`{or}"
        ),
    );
    if mutable {
        ArgumentKind::SliceMut(element.clone())
    } else {
        ArgumentKind::Slice(element.clone())
    }
}

/// Whether a type is a view: `Strided`, or one of the views that only launches have.
fn is_strided(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        ["Strided", "TensorView", "TensorViewMut"].iter().any(|view| last.ident == view)
    })
}

/// Reads `&Strided<T, 2>` or `&mut Strided<T, 2>`. `whole` is the argument's type, and `target` is the type behind the reference.
fn view(
    name: &str,
    whole: &Type,
    target: &Type,
    mutable: bool,
    errors: &mut Errors,
) -> ArgumentKind {
    let arguments = match target {
        Type::Path(path) => path.path.segments.last().map(|last| &last.arguments),
        _ => None,
    };
    let parts = match arguments {
        Some(PathArguments::AngleBracketed(list)) => {
            (list.args.first(), list.args.get(1), list.args.len())
        }
        _ => (None, None, 0),
    };
    let rank = match parts {
        (_, Some(GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(rank), .. }))), 2) => {
            rank.base10_parse::<usize>().ok().filter(|rank| (1..=MAX_RANK).contains(rank))
        }
        _ => None,
    };
    let is_view = matches!(target, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Strided"));
    match (parts.0, rank.filter(|_| is_view), whole) {
        (Some(GenericArgument::Type(element)), Some(rank), Type::Reference(_)) => {
            let element = element.clone();
            if mutable {
                ArgumentKind::ViewMut(element, rank)
            } else {
                ArgumentKind::View(element, rank)
            }
        }
        _ => {
            errors.at(
                whole,
                format!(
                    "argument `{name}`: a view has its elements' type and 1 to {MAX_RANK} dimensions, as a number: \
                     write `{name}: &Strided<f32, 2>`, or `{name}: &mut Strided<f32, 2>` to write"
                ),
            );
            ArgumentKind::Wrong(None)
        }
    }
}

/// Returns the element type `T` of `Tensor<T>`, and of the other types that hold elements.
fn elements_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    let (Some(GenericArgument::Type(inner)), 1) = (list.args.first(), list.args.len()) else {
        return None;
    };
    match last.ident.to_string().as_str() {
        "Tensor" | "Buffer" | "DeviceSlice" | "Vec" | "Pinned" | "Download" => Some(inner),
        "Shared" | "Box" | "Arc" | "Rc" => elements_of(inner),
        _ => None,
    }
}

/// Returns the error text for a common scalar type that a kernel can't take. rustc checks all other types, since a macro can't
/// resolve names.
fn scalar_problem(name: &Ident) -> Option<String> {
    let instead = match name.to_string().as_str() {
        "bool" => "take a `streamflow::memory::Bool8`, which `.into()` makes of a `bool`",
        "char" => "pass a `u32`",
        "isize" => "pass an `i64`",
        "i128" | "u128" => "pass two `u64`",
        "String" => "pass its bytes as `&[u8]`",
        _ => return None,
    };
    Some(format!("a kernel takes no `{name}` by value; {instead}"))
}

fn reference_problem(target: &Type, mutable: bool) -> String {
    let and = if mutable { "&mut " } else { "&" };
    let written = spelled(target);
    match target {
        Type::Array(array) => {
            let item = spelled(&array.elem);
            format!("a kernel takes slices, not arrays: write `{and}[{item}]`")
        }
        Type::Path(path) if path.path.is_ident("str") => {
            format!("a kernel takes no text: write `{and}[u8]` for its bytes")
        }
        _ if mutable => format!(
            "a kernel writes to slices: write `&mut [{written}]`, of one element if it is one value"
        ),
        _ => format!(
            "a kernel takes slices `&[T]`, and scalars by value: write `&[{written}]` or `{written}`"
        ),
    }
}
