//! Checks that a function can be a kernel, and reads its arguments.

use std::collections::BTreeSet;

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, GenericParam, Generics, Ident, ItemFn, Pat, ReturnType, Safety, Signature,
    Type, TypeParam, TypeParamBound, WherePredicate,
};

use super::argument::argument_type;
use super::model::{Argument, ArgumentKind, Expandable, Kernel, Options, instance_types};
use crate::diagnostic::Errors;
use crate::tokens::{STANDARD_TRAITS, spelled};

/// The value of `streamflow_driver::driver::MAX_PARAMS` minus 1, for the parameter that a launch with checked indices adds.
const MAX_PARAMS: usize = 31;

/// Names of arguments and functions that mean something else in a CUDA body: keywords of C++ that are no keywords of Rust, names
/// of CUDA, and names that streamflow defines.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "case",
    "catch", "char", "char16_t", "char32_t", "class", "compl", "const_cast", "constexpr",
    "decltype", "default", "delete", "double", "dynamic_cast", "explicit", "export", "float",
    "friend", "goto", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not",
    "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "short", "signed", "sizeof", "static_assert", "static_cast", "switch",
    "template", "this", "thread_local", "throw", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "xor", "xor_eq",
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "half",
    "nv_bfloat16", "complex", "bool8",
    "thread_index", "thread_index_y", "thread_index_z", "thread_count", "shared_bytes", "streamflow",
];

/// Reports entries of `instances(…)` that are no instance of the kernel: each has one type for each type parameter.
fn reject_other_instances(options: &Options, generics: &Generics, errors: &mut Errors) {
    let Some((instances, word)) = &options.instances else { return };
    let params = generics.type_params().count();
    if params == 0 {
        errors.at(word, "`instances` is for a kernel with type parameters; leave it out");
        return;
    }
    let mut known = BTreeSet::new();
    for instance in instances {
        let types = instance_types(instance);
        if types.len() != params {
            let s = if params == 1 { "" } else { "s" };
            let text = "an instance of this kernel has";
            errors.at(instance, format!("{text} {params} type{s}, as many as it has parameters"));
            continue;
        }
        // Only rustc knows which of these types are element types. All other forms of types are never element types.
        let elements = |ty: &Type| {
            matches!(ty, Type::Path(_) | Type::Paren(_) | Type::Group(_) | Type::Macro(_))
        };
        for ty in types.into_iter().filter(|ty| !elements(ty)) {
            let text = "an instance has element types, as `f32`, and not";
            errors.at(ty, format!("{text} `{}`", spelled(ty)));
        }
        if !known.insert(spelled(instance)) {
            errors.at(instance, "this instance is named twice; once is enough");
        }
    }
}

/// Checks the function, and builds the `Kernel` from it. Mistakes go to `errors`; the `Kernel` has all parts of the function that
/// are usable in spite of them.
pub(super) fn kernel(
    options: Options,
    (function, has_host_body): (ItemFn, bool),
    errors: &mut Errors,
) -> Kernel {
    let ItemFn { attrs, vis, sig, .. } = function;
    reject_qualifiers(&sig, errors);
    if let Some(problem) = name_problem(&sig.ident) {
        errors.at(&sig.ident, format!("a kernel cannot be named `{}`: {problem}", sig.ident));
    }
    let expandable = generics(&sig.generics, errors).limited_by(receiver(&sig, errors));
    let arguments = arguments(&sig, errors);
    reject_coverage_of_nothing(&options, &arguments, errors);
    reject_other_instances(&options, &sig.generics, errors);
    options.image.check(options.cuda_word.as_ref(), &sig.generics, &arguments, errors);
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    Kernel {
        options,
        cfgs: quote!(#(#cfgs)*),
        name: sig.ident,
        has_host_body,
        visibility: vis,
        generics: sig.generics,
        expandable,
        arguments,
    }
}

impl Expandable {
    fn limited_by(self, other: Self) -> Self {
        if other == Self::Kernel { self } else { other }
    }
}

/// Reports `const`, `async`, `unsafe`, `extern`, `...` and a return type.
fn reject_qualifiers(sig: &Signature, errors: &mut Errors) {
    if let Some(token) = &sig.constness {
        errors.at(token, "a kernel cannot be `const`: it is launched on a device; remove `const`");
    }
    if let Some(token) = &sig.asyncness {
        errors.at(token, "a kernel cannot be `async`: every launch already is; remove `async`");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(
            token,
            "a kernel cannot be an `unsafe fn`: a launch is safe, and the kernel's author vouches for \
             the CUDA body with `unsafe cuda`; remove `unsafe`",
        );
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a kernel cannot be `extern`: its CUDA side is generated; remove it");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a kernel's arguments are all named; remove `...`");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.at(
            &sig.output,
            format!(
                "a kernel returns nothing: it runs after the launch has returned; write to an \
                 argument `&mut [{}]` instead",
                quote!(#ty)
            ),
        );
    }
}

fn receiver(sig: &Signature, errors: &mut Errors) -> Expandable {
    let Some(receiver) = sig.receiver() else { return Expandable::Kernel };
    errors.at(receiver, "a kernel cannot take `self`: make it a function outside of the `impl`");
    Expandable::Nothing
}

fn generics(generics: &Generics, errors: &mut Errors) -> Expandable {
    let mut expandable = Expandable::Kernel;
    for param in &generics.params {
        match param {
            GenericParam::Type(param) => {
                let name = &param.ident;
                if !may_be_element(param, generics) {
                    expandable = Expandable::Type;
                    let text = format!(
                        "a kernel's type parameter is an element type: write `{name}: Element`"
                    );
                    errors.at(param, text);
                }
                if let Some(problem) = name_problem(name) {
                    errors
                        .at(name, format!("a type parameter cannot be named `{name}`: {problem}"));
                }
            }
            GenericParam::Lifetime(param) => {
                expandable = Expandable::Type;
                errors.at(
                    param,
                    format!(
                        "a kernel has no lifetime parameters: its slices live for the launch; \
                         remove `{}`",
                        param.lifetime
                    ),
                );
            }
            GenericParam::Const(param) => {
                expandable = Expandable::Type;
                errors.at(
                    param,
                    format!(
                        "a kernel has no const parameters; make `{0}` an argument, `{0}: {1}`",
                        param.ident,
                        param.ty.to_token_stream()
                    ),
                );
            }
        }
    }
    expandable
}

/// Whether a type parameter has a bound that could imply `Element`. Without this check, rustc would report a missing bound many
/// times.
fn may_be_element(param: &TypeParam, generics: &Generics) -> bool {
    let clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_clause = clause.filter_map(|predicate| match predicate {
        WherePredicate::Type(of) if matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(&param.ident)) => {
            Some(&of.bounds)
        }
        _ => None,
    });
    [&param.bounds].into_iter().chain(of_clause).flatten().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last();
            last.is_some_and(|last| !STANDARD_TRAITS.contains(&last.ident.to_string().as_str()))
        }
        _ => false,
    })
}

fn arguments(sig: &Signature, errors: &mut Errors) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    for (index, input) in typed.enumerate() {
        for attr in &input.attrs {
            reject_cfg(attr, errors);
        }
        let ident = argument_name(&input.pat, errors)
            .unwrap_or_else(|| Ident::new(&format!("argument{index}"), sig.ident.span()));
        let kind = argument_type(&ident.unraw().to_string(), &input.ty, errors);
        arguments.push(Argument { ident, kind });
    }
    reject_length_names(&arguments, errors);
    let params: usize = arguments.iter().map(|argument| argument.kind.params()).sum();
    if params > MAX_PARAMS {
        errors.at(
            &sig.inputs,
            format!(
                "a kernel has at most {MAX_PARAMS} parameters, and these make {params}: a slice \
                 counts twice, for its address and its length, and a view of N dimensions 1 + 2 N times"
            ),
        );
    }
    arguments
}

/// Reports `grid_stride` and `partial` on a kernel that writes nothing. An argument of a rejected type counts as one that the
/// kernel writes, since the user may mean a `&mut` slice.
fn reject_coverage_of_nothing(options: &Options, arguments: &[Argument], errors: &mut Errors) {
    let Some((_, word)) = &options.coverage else { return };
    let may_write = |argument: &Argument| {
        matches!(
            argument.kind,
            ArgumentKind::SliceMut(_) | ArgumentKind::ViewMut(..) | ArgumentKind::Wrong(_)
        )
    };
    if !arguments.iter().any(may_write) {
        errors.at(
            word,
            format!(
                "`{word}` is about the elements that a kernel writes, and this one has no `&mut` slice; leave \
                 `{word}` out"
            ),
        );
    }
}

/// Reports `#[cfg]` on an argument: the CUDA body has the argument's name too, and the attribute has no effect there.
fn reject_cfg(attr: &Attribute, errors: &mut Errors) {
    if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
        errors.at(attr, "a kernel's argument cannot depend on `cfg`; put it on the whole function");
    }
}

fn argument_name(pattern: &Pat, errors: &mut Errors) -> Option<Ident> {
    let name = match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => &name.ident,
        other => {
            errors.at(
                other,
                "an argument of a kernel needs a name, which its CUDA body uses; take the pattern \
                 apart in the function's body",
            );
            return None;
        }
    };
    if let Some(problem) = name_problem(name) {
        errors.at(name, format!("an argument cannot be named `{name}`: {problem}"));
    }
    Some(name.clone())
}

/// Returns the reason why a name can't be used in CUDA C++, or `None` if it can.
pub(super) fn name_problem(name: &Ident) -> Option<&'static str> {
    let name = name.unraw().to_string();
    if RESERVED.contains(&name.as_str()) {
        return Some("CUDA C++ has another meaning for it; choose another name");
    }
    if name.contains("__") || name.starts_with("streamflow_") {
        return Some("names with `__` or `streamflow_` are reserved; choose another name");
    }
    letters_problem(&name)
}

/// Returns the reason why the letters of a name can't be those of a name in CUDA C++.
pub(crate) fn letters_problem(name: &str) -> Option<&'static str> {
    (!name.is_ascii()).then_some("CUDA C++ allows only ASCII letters; choose another name")
}

/// Reports an argument `a_len` in a kernel with a slice `a`: in the CUDA body, `a_len` is the length of that slice.
fn reject_length_names(arguments: &[Argument], errors: &mut Errors) {
    for argument in arguments {
        let name = argument.ident.unraw().to_string();
        let Some(slice) = name.strip_suffix("_len") else { continue };
        let taken =
            arguments.iter().any(|other| other.kind.params() == 2 && other.ident.unraw() == slice);
        if taken {
            errors.at(
                &argument.ident,
                format!(
                    "`{name}` is the length of `{slice}` in CUDA, and is passed automatically; remove \
                     this argument or rename it"
                ),
            );
        }
    }
}
