//! Reductions and scans: `#[kernel(reduce(identity = 0.0))]` and `#[kernel(scan(identity = 0.0))]`, functions of two values that become
//! the trees of `streamflow::kernel`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, ItemFn, Path, ReturnType, Type};

use super::options;
use super::signature::{Argument, Signature};
use super::{expand, stub, translated};
use crate::diagnostic::Errors;

/// The two forms. Values of a reduction may be combined in any order, so it is a scan, too.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Reduce,
    Scan,
}

impl Form {
    /// The form that an option of `#[kernel]` names.
    pub(super) fn of(word: &Ident) -> Option<Self> {
        match &*word.to_string() {
            "reduce" => Some(Self::Reduce),
            "scan" => Some(Self::Scan),
            _ => None,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Reduce => "a reduction",
            Self::Scan => "a scan",
        }
    }

    /// The way out of most mistakes.
    fn written(self) -> &'static str {
        match self {
            Self::Reduce => "write `#[kernel(reduce(identity = 0.0))]`",
            Self::Scan => "write `#[kernel(scan(identity = 0.0))]`",
        }
    }
}

/// The options of a reduction or a scan.
#[derive(Default)]
struct Options {
    identity: Option<Expr>,
    map: Option<Path>,
}

/// Expands one use of `#[kernel(reduce(…))]` or `#[kernel(scan(…))]`.
pub(super) fn kernel(
    form: Form,
    options: TokenStream,
    function: &ItemFn,
    errors: &mut Errors,
) -> TokenStream {
    let options = self::options(form, options, errors);
    if !function.sig.generics.params.is_empty() {
        let text = format!("{} has no type parameters: name the types", form.noun());
        errors.at(&function.sig.generics, text);
        let signature = Signature::of_function(function, &mut Errors::default());
        return stub::function(function, &signature);
    }
    let (signature, body) = translated(function, errors);
    let Some(ty) = check_types(form, function, &signature, errors) else {
        return stub(form, function, &signature);
    };
    match options.identity {
        Some(identity) if errors.is_empty() => {
            let name = &function.sig.ident;
            let items = implementation(form, name, &ty, &identity, options.map.as_ref());
            expanded(function, expand::function(function, &signature, &body), &items)
        }
        _ => stub(form, function, &signature),
    }
}

/// `reduce(identity = 0.0, map = square)`
fn options(form: Form, tokens: TokenStream, errors: &mut Errors) -> Options {
    let list =
        options::Form { name: form.noun(), options: &["identity", "map"], way: form.written() };
    let before = errors.len();
    let Some(read) = options::Options::read(tokens, &list, errors) else {
        return Options::default();
    };
    let mut map = None;
    match read.value("map") {
        Some(Expr::Path(path)) => map = Some(path.path.clone()),
        Some(value) => {
            let text = "`map` is the name of a function with `#[kernel_fn]`: write `map = square`";
            errors.at(value, text);
        }
        None => {}
    }
    let identity = read.value("identity").cloned();
    if identity.is_none() && errors.len() == before {
        let text = format!(
            "{} needs its value without elements: {}, with the value that changes no other",
            form.noun(),
            form.written()
        );
        errors.at(&read.word, text);
    }
    Options { identity, map }
}

/// The type of both arguments and of the result.
fn check_types(
    form: Form,
    function: &ItemFn,
    signature: &Signature,
    errors: &mut Errors,
) -> Option<Type> {
    let (name, noun) = (&function.sig.ident, form.noun());
    let [Argument { ident: first, ty, .. }, Argument { ident: second, ty: other, .. }] =
        &signature.arguments[..]
    else {
        if function.sig.inputs.iter().all(|input| matches!(input, FnArg::Typed(_))) {
            let count = match signature.arguments.len() {
                1 => "1 argument".to_owned(),
                count => format!("{count} arguments"),
            };
            let text = format!(
                "{noun} combines two values, and this has {count}: write `fn {name}(a: f32, b: f32) -> f32`"
            );
            errors.at(name, text);
        }
        return None;
    };
    let written = ty.to_token_stream().to_string();
    if written != other.to_token_stream().to_string() {
        let text = format!(
            "{noun} has one type, and `{first}` is `{written}`: write `{second}: {written}`; `map = …` makes the values of \
             elements of another type"
        );
        errors.at(other, text);
        return None;
    }
    if written == "bool" {
        let text =
            format!("the values of {noun} are in memory, which has no `bool`: write `{first}: u8`");
        errors.at(ty, text);
        return None;
    }
    if let ReturnType::Type(_, result) = &function.sig.output
        && result.to_token_stream().to_string() != written
    {
        let text = format!(
            "{noun}'s result is combined again, so it has the type of `{first}`: write `-> {written}`"
        );
        errors.at(result, text);
        return None;
    }
    Some(ty.clone())
}

/// The implementation of `ScanKernel`, for a reduction that of `ReduceKernel`, and the kernel's entry in the program's list.
fn implementation(
    form: Form,
    name: &Ident,
    ty: &Type,
    identity: &Expr,
    map: Option<&Path>,
) -> TokenStream {
    let text = name.unraw().to_string();
    let entry = format!("{text}_kernel");
    let private = quote!(::streamflow::__private);
    let span = name.span();
    let (is_reduction, described) = described(form, name);
    // With the function's token as their place: it is that of a report.
    let combine = quote_spanned!(span=> <#name>::__call(__a, __b).tell(&::streamflow::__private::body::Witness::new()));
    let place = quote_spanned!(span=> (::core::file!(), ::core::line!()));
    let (input, of, map_reports, map_text) = match map {
        None => (
            ty.to_token_stream(),
            quote!(__element),
            quote!(),
            quote!(::core::option::Option::None),
        ),
        Some(map) => {
            let at = map.span();
            (
                quote_spanned!(at=> <#map as #private::body::Unary>::Input),
                quote_spanned!(at=> <#map as #private::body::Unary>::call(__element)),
                quote_spanned!(at=> || #map::__REPORTS),
                quote_spanned!(at=> ::core::option::Option::Some((
                    <#map as #private::body::KernelFn>::cuda as fn(_, &mut _) -> _,
                    ::core::line!(),
                ))),
            )
        }
    };
    quote! {
        const __IDENTITY: #ty = #identity;
        #is_reduction
        // SAFETY: the macro writes both bodies from one, and the state is a number.
        unsafe impl #private::ScanKernel for #name {
            type Input = #input;
            type State = #ty;
            type Output = #ty;
            const NAME: &'static ::core::primitive::str = #text;
            const ENTRY: &'static ::core::primitive::str = #entry;
            const PLACE: (&'static ::core::primitive::str, ::core::primitive::u32) = #place;
            const REPORTS: ::core::primitive::bool = <#name>::__REPORTS #map_reports;

            #[inline(always)]
            fn identity() -> #ty {
                __IDENTITY
            }
            #[inline(always)]
            fn of(__element: Self::Input, _: ::core::primitive::u64) -> #ty {
                #of
            }
            #[inline(always)]
            fn combine(__a: #ty, __b: #ty) -> #ty {
                #combine
            }
            #[inline(always)]
            fn finish(__state: #ty, _: ::core::primitive::u64) -> #ty {
                __state
            }
            fn cuda() -> ::std::string::String {
                #private::body::reduction::<#name, #ty>(
                    <Self::Input as #private::Element>::ELEMENT_CUDA,
                    __IDENTITY,
                    #map_text,
                    Self::PLACE.1,
                )
            }
        }
        #[#private::linkme::distributed_slice(#private::KERNELS)]
        #[linkme(crate = #private::linkme)]
        static __KERNEL: &[#private::Registered] = &[#private::Registered::of(<#described>::INFO)];
    }
}

/// That a kernel is a reduction, if it is, and the type that describes it.
fn described(form: Form, name: &Ident) -> (TokenStream, TokenStream) {
    let private = quote!(::streamflow::__private);
    match form {
        Form::Reduce => (
            quote!(impl #private::ReduceKernel for #name { type Function = Self; }),
            quote!(#private::Described<#name>),
        ),
        Form::Scan => (TokenStream::new(), quote!(#private::Scanned<#name>)),
    }
}

fn expanded(function: &ItemFn, items: TokenStream, kernel: &TokenStream) -> TokenStream {
    let cfgs = expand::cfgs(function);
    quote! {
        #items
        #cfgs
        const _: () = { #kernel };
    }
}

/// A kernel that has a mistake: the rest of the program finds its name and its types.
fn stub(form: Form, function: &ItemFn, signature: &Signature) -> TokenStream {
    let name = &function.sig.ident;
    let (is_reduction, _) = described(form, name);
    // A type that may be in memory, so that rustc reports no second mistake.
    let is_generic = !function.sig.generics.params.is_empty();
    let first = signature.arguments.first().map(|first| first.ty.to_token_stream());
    let ty = first.filter(|ty| !is_generic && ty.to_string() != "bool");
    let ty = ty.unwrap_or_else(|| quote!(::core::primitive::f32));
    let nothing = quote! {
        #is_reduction
        // SAFETY: the program does not compile, so nothing launches this.
        unsafe impl ::streamflow::__private::ScanKernel for #name {
            type Input = #ty;
            type State = #ty;
            type Output = #ty;
            const NAME: &'static ::core::primitive::str = "";
            const ENTRY: &'static ::core::primitive::str = "";
            const PLACE: (&'static ::core::primitive::str, ::core::primitive::u32) = ("", 0);
            const REPORTS: ::core::primitive::bool = false;
            fn identity() -> #ty {
                loop {}
            }
            fn of(_: #ty, _: ::core::primitive::u64) -> #ty {
                loop {}
            }
            fn combine(_: #ty, _: #ty) -> #ty {
                loop {}
            }
            fn finish(_: #ty, _: ::core::primitive::u64) -> #ty {
                loop {}
            }
            fn cuda() -> ::std::string::String {
                ::std::string::String::new()
            }
        }
    };
    expanded(function, stub::function(function, signature), &nothing)
}
