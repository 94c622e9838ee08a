//! The generated items of kernels with one body, and of the functions that they call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, ReturnType};

use super::cuda::{self, cuda_names, params};
use super::host::{host_function, host_linear, host_places};
use super::signature::{Argument, Kind, Signature};
use super::tiles;
use super::translate::Body;
use super::value::argument_name;
use crate::tokens::braced;

/// The constants of `MapKernel` with the descriptions of its codes.
pub(super) const VARIANTS: [&str; 3] = ["LINEAR", "FLAT", "STRIDED"];

/// The expansion of `#[kernel(map)]` and `#[kernel(stencil(…))]`.
pub(super) fn kernel(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let (cfgs, host) = (cfgs(function), host_function(function, body));
    let (definition, implementation) = (
        definition(function, signature.generics.unbounded(), signature),
        implementation(function, signature, body),
    );
    quote! {
        #host
        #definition
        #cfgs
        #[allow(clippy::multiple_bound_locations)]
        const _: () = { #implementation };
    }
}

/// The attributes `#[cfg]` of a function, for the items beside it.
pub(super) fn cfgs(function: &ItemFn) -> TokenStream {
    let all = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    all.map(ToTokens::to_token_stream).collect()
}

/// The type that stands for the function, with its parameters.
pub(super) fn definition(
    function: &ItemFn,
    parameters: TokenStream,
    signature: &Signature,
) -> TokenStream {
    let (name, visibility, cfgs) = (&function.sig.ident, &function.vis, cfgs(function));
    let marker = signature.generics.marker();
    quote_spanned! {name.span()=>
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, unnameable_types)]
        #visibility struct #name #parameters {
            _private: #marker,
        }
    }
}

/// A description of a kernel: `parts` differs between its codes, and between sound kernels and others.
pub(super) fn info(constant: &str, name: &str, parts: &TokenStream) -> TokenStream {
    let (constant, entry) = (format_ident!("{constant}"), format!("{name}_kernel"));
    quote! {
        const #constant: &'static ::streamflow::__private::KernelInfo = &::streamflow::__private::KernelInfo {
            name: #name,
            entry: #entry,
            file: ::core::file!(),
            line: ::core::line!(),
            coverage: ::streamflow::__private::Coverage::GridStride,
            axes: ::streamflow::__private::Axes::UNKNOWN,
            #parts
        };
    }
}

fn implementation(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let name = &function.sig.ident;
    let coordinates = signature.coordinates().unwrap_or(0);
    let (reports, text) = (reports(body), name.unraw().to_string());
    let generics = &signature.generics;
    let (declared, names_of, turbofish) =
        (generics.declared(), generics.names(), generics.turbofish());
    let (bounds, types) = (signature.element_bounds(), &generics.types);
    let type_names = types.iter().map(|ident| ident.unraw().to_string());
    let instance = quote! {
        &[#((#type_names, <#types as ::streamflow::__private::body::KernelArg>::PARAM),)*]
    };
    let (threads, tiles) = (tiles::threads(signature), tiles::tiles(signature));
    let Code { finish, texts } = code(signature, body, &reports);
    let names = cuda_names(signature, body, &quote!(()), &finish);
    let (list, declared_list) = (generics.name_list(), generics.declared_list());
    let made = |code: usize| quote!(cuda: ::streamflow::__private::CudaBody::Made(__streamflow_made::<#code, #list>),);
    let (params, places) = (params(signature), quote!(__streamflow_places));
    let in_places = |params: TokenStream| {
        let count = signature.arguments.iter().filter(|one| !one.kind.is_position()).count() + 1;
        quote!(params: &::streamflow::__private::in_places::<#count>(#params),)
    };
    let first = |params, host| {
        let made = made(0);
        let parts = quote! {
            #made
            #params
            generics: #instance,
            threads: #threads,
            reports: #reports,
            host: #host,
        };
        info("LINEAR", &text, &parts)
    };
    let is_stencil = signature.stencil.is_some();
    let infos = if is_stencil {
        let first = first(in_places(quote!(&[#params])), quote!(#places::<false, #list>));
        let strided = derived("STRIDED", "LINEAR", &made(1));
        let flat = quote!(
            const FLAT: &'static ::streamflow::__private::KernelInfo = Self::STRIDED;
        );
        quote!(#first #strided #flat)
    } else {
        let first = first(quote!(params: &[#params],), quote!(__streamflow_linear #turbofish));
        let (made_flat, in_places) = (made(1), in_places(quote!(Self::LINEAR.params)));
        let flat = quote!(#made_flat #in_places host: #places::<true, #list>,);
        let (made_strided, host) = (made(2), quote!(host: #places::<false, #list>,));
        let strided = derived("STRIDED", "FLAT", &quote!(#made_strided #host));
        let flat = derived("FLAT", "LINEAR", &flat);
        quote!(#first #flat #strided)
    };
    let registrations = registrations(name, signature);
    let may_report = body.reports || !body.functions.is_empty();
    let linear = (!is_stencil).then(|| host_linear(name, signature, may_report));
    let places = host_places(name, signature, may_report);
    let is_short = is_short(body);
    let arguments = arguments(name, signature);
    let constants = braced(
        name.span(),
        quote! {
            const COORDINATES: usize = #coordinates;
            const PER_THREAD: usize = ::streamflow::__private::body::elements_at_a_time(#is_short);
            const TILES: ::core::option::Option<::streamflow::__private::Tiles> = #tiles;
            #infos
        },
    );
    // At the user's token: rustc names the macro as the origin of an error otherwise.
    let implementation = quote_spanned! {name.span()=>
        // SAFETY: the macro writes both bodies from one, and each thread has the elements at its own place.
        unsafe impl #declared ::streamflow::__private::MapKernel for #name #names_of #bounds #constants
    };
    quote! {
        #implementation
        #arguments
        #names
        fn __streamflow_made<const __CODE: ::core::primitive::usize, #declared_list>() -> ::std::string::String #bounds {
            let per_thread = <#name #names_of as ::streamflow::__private::MapKernel>::PER_THREAD;
            ::streamflow::__private::body::per_thread(per_thread) + &::streamflow::__private::body::Types::with(
                |__types| __streamflow_cuda #turbofish([#(#texts),*][__CODE], 0, __types)
            )
        }
        #linear
        #places
        #registrations
    }
}

/// A description that differs from another constant of `MapKernel` in these parts.
fn derived(constant: &str, from: &str, parts: &TokenStream) -> TokenStream {
    let (constant, from) = (format_ident!("{constant}"), format_ident!("{from}"));
    quote! {
        const #constant: &'static ::streamflow::__private::KernelInfo =
            &::streamflow::__private::KernelInfo { #parts ..*Self::#from };
    }
}

/// The codes of a kernel.
struct Code {
    /// The end of the function that makes the text in CUDA, from a part that each code has of its own.
    finish: TokenStream,
    /// The parts of the codes.
    texts: Vec<String>,
}

fn code(signature: &Signature, body: &Body, reports: &TokenStream) -> Code {
    let Some(stencil) = &signature.stencil else {
        let texts = vec![
            cuda::linear(body, signature),
            cuda::flat(body, signature),
            cuda::strided(body, signature),
        ];
        return Code { finish: quote!(__to.finish(__body)), texts };
    };
    let types = tiles::types(signature);
    let [inner, outer] = tiles::parameters(signature, stencil);
    let text = &body.cuda;
    let finish = quote!(__to.finish_stencil(#reports, #types, [#inner, #outer], #text, __body));
    let texts = [true, false].map(|is_dense| tiles::loops(signature, stencil, is_dense));
    Code { finish, texts: texts.into() }
}

/// The entries in the program's list of kernels. A generic kernel has one, and its instances are those that the program launches.
fn registrations(name: &Ident, signature: &Signature) -> TokenStream {
    let entries = if signature.generics.is_empty() {
        let of = |constant: &str| {
            let constant = Ident::new(constant, Span::call_site());
            quote!(of(<#name as ::streamflow::__private::MapKernel>::#constant))
        };
        // A stencil has no code of its own for `FLAT`.
        let all = VARIANTS.into_iter().filter(|one| signature.stencil.is_none() || *one != "FLAT");
        all.map(of).collect()
    } else {
        let text = name.unraw().to_string();
        vec![quote!(generic(#text, ::core::file!(), ::core::line!()))]
    };
    quote! {
        #[::streamflow::__private::linkme::distributed_slice(::streamflow::__private::KERNELS)]
        #[linkme(crate = ::streamflow::__private::linkme)]
        static __KERNEL: &[::streamflow::__private::Registered] = &[#(::streamflow::__private::Registered::#entries),*];
    }
}

/// Whether the body, or a function that it calls, may report a mistake: a constant expression.
pub(super) fn reports(body: &Body) -> TokenStream {
    let (own, functions) = (body.reports, &body.functions);
    quote!(#own #(|| #functions::__REPORTS)*)
}

/// Whether the body, with the functions that it calls, is so short that a thread has it for several elements: a constant expression.
pub(super) fn is_short(body: &Body) -> TokenStream {
    const MOST_LINES: usize = 32;
    let own = body.loops == 0 && body.cuda.lines().count() <= MOST_LINES;
    let functions = &body.functions;
    quote!(#own #(&& #functions::__IS_SHORT)*)
}

/// The implementation of `MapArgs` for the tuple of a launch.
fn arguments(name: &Ident, signature: &Signature) -> TokenStream {
    let passed: Vec<&Argument> =
        signature.arguments.iter().filter(|argument| !argument.kind.is_position()).collect();
    let idents: Vec<&Ident> = passed.iter().map(|argument| &argument.ident).collect();
    let generic = |number: usize| format_ident!("__A{number}", span = name.span());
    let mut bounds = Vec::new();
    let mut types = Vec::new();
    let mut calls = Vec::new();
    for (number, Argument { ident, ty, kind }) in passed.iter().enumerate() {
        let (generic, text) = (generic(number), ident.unraw().to_string());
        match kind {
            Kind::Output => {
                bounds.push(quote!(#generic: ::streamflow::__private::MapOutput<'streamflow, #ty>));
                types.push(generic.to_token_stream());
                calls.push(quote_spanned!(name.span()=> __to.output(#text, ::streamflow::__private::MapOutput::map_output(#ident));));
            }
            Kind::Input => {
                bounds.push(quote!(#generic: ::streamflow::__private::MapInput<'streamflow, #ty>));
                types.push(generic.to_token_stream());
                calls.push(quote_spanned!(name.span()=> __to.input(#text, ::streamflow::__private::MapInput::map_input(#ident));));
            }
            Kind::Table => {
                bounds.push(quote!(#generic: ::streamflow::__private::MapTable<'streamflow, #ty>));
                types.push(generic.to_token_stream());
                calls.push(quote_spanned!(name.span()=> __to.table(#text, ::streamflow::__private::MapTable::map_table(#ident));));
            }
            Kind::Window => {
                bounds.push(quote!(#generic: ::streamflow::__private::MapInput<'streamflow, #ty>));
                types.push(generic.to_token_stream());
                calls.push(quote_spanned!(name.span()=> __to.window(#text, ::streamflow::__private::MapInput::map_input(#ident));));
            }
            _ => {
                types.push(ty.to_token_stream());
                calls.push(quote_spanned!(name.span()=> <#ty as ::streamflow::__private::body::KernelArg>::pass(#ident, |param| __to.param(param));));
            }
        }
    }
    let room = room(name, &passed);
    let (list, names) = (signature.generics.arguments(), signature.generics.names());
    // With the user's token as the place: rustc names the macro as the origin of an error otherwise.
    quote_spanned! {name.span()=>
        // SAFETY: the arguments are those of the function from which the macro writes the kernel's parameters, in this order.
        unsafe impl<'streamflow, #list #(#bounds,)*> ::streamflow::__private::MapArgs<'streamflow, #name #names> for (#(#types,)*) {
            fn pass(self, __to: &mut ::streamflow::__private::Operands<'streamflow>) {
                #room
                let (#(#idents,)*) = self;
                #(#calls)*
            }
        }
    }
}

/// Checks that the parameters of a launch are not too many, with those of arrays and structs.
fn room(name: &Ident, passed: &[&Argument]) -> TokenStream {
    let counts = passed.iter().map(|Argument { ty, kind, .. }| match kind {
        kind if kind.is_in_memory() => quote!(5),
        Kind::Table => quote!(2),
        _ => quote!(<#ty as ::streamflow::__private::body::KernelArg>::PARAMS),
    });
    let text = format!(
        "the values of kernel `{name}` are too large for one launch: pass arrays as tables, `&[T]`, or fewer values"
    );
    quote_spanned!(name.span()=> const { ::core::assert!(5 #(+ #counts)* <= 32, #text) };)
}

/// The expansion of `#[kernel_fn]`.
pub(super) fn function(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let (name, cfgs) = (&function.sig.ident, cfgs(function));
    let generics = &signature.generics;
    let definition = definition(function, generics.unbounded(), signature);
    let host = host_function(function, body);
    let (reports, is_short) = (reports(body), is_short(body));
    let parameters = signature.arguments.iter().map(|Argument { ident, ty, .. }| {
        let name = argument_name(ident);
        quote!((#name, <#ty as ::streamflow::__private::body::KernelArg>::cuda))
    });
    let result = result(function);
    let called = called(function, signature);
    let common = common(name, signature, &reports, &is_short);
    let (declared, names_of, turbofish) =
        (generics.declared(), generics.names(), generics.turbofish());
    let finish = quote! {
        __to.finish_function::<#result>(
            __number,
            #name::__REPORTS,
            &[#(#parameters),*],
            __body,
        )
    };
    let names = cuda_names(signature, body, &result, &finish);
    let (cuda, unary) = (&body.cuda, unary(name, signature, &result));
    quote! {
        #[track_caller]
        #host
        #definition
        #cfgs
        const _: () = {
            #called
            #unary
            #common
            impl #declared ::streamflow::__private::body::KernelFn for #name #names_of {
                fn cuda(
                    number: ::core::primitive::usize,
                    types: &mut ::streamflow::__private::body::Types,
                ) -> ::std::string::String {
                    __streamflow_cuda #turbofish(#cuda, number, types)
                }
            }
            #names
        };
    }
}

/// The types of a function of one value, for the options of other kernels that name such a function.
fn unary(name: &Ident, signature: &Signature, result: &TokenStream) -> Option<TokenStream> {
    let [Argument { ty, .. }] = &signature.arguments[..] else { return None };
    let (declared, names) = (signature.generics.declared(), signature.generics.names());
    Some(quote! {
        impl #declared ::streamflow::__private::body::Unary for #name #names {
            type Input = #ty;
            type Output = #result;

            #[inline(always)]
            #[track_caller]
            fn call(__value: #ty) -> #result {
                Self::__call(__value).tell(&::streamflow::__private::body::Witness::new())
            }
        }
    })
}

/// The constants that all instances of a function have in common, as items of the instance without types.
pub(super) fn common(
    name: &Ident,
    signature: &Signature,
    reports: &TokenStream,
    is_short: &TokenStream,
) -> TokenStream {
    let nothing = signature.generics.nothing();
    quote! {
        impl #name #nothing {
            /// Whether the body may report a mistake.
            #[doc(hidden)]
            #[allow(unreachable_pub)]
            pub const __REPORTS: ::core::primitive::bool = #reports;
            /// Whether it has no loops and few statements.
            #[doc(hidden)]
            #[allow(unreachable_pub)]
            pub const __IS_SHORT: ::core::primitive::bool = #is_short;
        }
    }
}

/// The type of a function's result.
fn result(function: &ItemFn) -> TokenStream {
    match &function.sig.output {
        ReturnType::Type(_, ty) => ty.to_token_stream(),
        ReturnType::Default => quote!(()),
    }
}

/// The function as one of its type. A kernel calls it so, and not by the function's own name: both platforms then find one function,
/// also where the type and the function of a name come from two modules.
///
/// The type of what it returns tells the text in CUDA the instance.
pub(super) fn called(function: &ItemFn, signature: &Signature) -> TokenStream {
    let (name, generics) = (&function.sig.ident, &signature.generics);
    let (result, span) = (result(function), name.span());
    let (declared, names, turbofish) =
        (generics.declared(), generics.names(), generics.turbofish());
    let arguments = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(&input.ty),
        FnArg::Receiver(_) => None,
    });
    let (numbers, types): (Vec<Ident>, Vec<_>) = arguments
        .enumerate()
        .map(|(number, ty)| (format_ident!("__a{number}", span = span), ty))
        .unzip();
    quote_spanned! {span=>
        impl #declared #name #names {
            #[doc(hidden)]
            #[inline(always)]
            #[track_caller]
            #[allow(unreachable_pub, private_interfaces)]
            pub fn __call(#(#numbers: #types),*) -> ::streamflow::__private::body::Called<Self, #result> {
                ::streamflow::__private::body::Called::of(#name #turbofish(#(#numbers),*))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Errors;

    /// A window has as many parameters as an element's memory: an address, and four strides.
    #[test]
    fn each_argument_in_memory_takes_five_parameters() {
        let function: ItemFn = syn::parse_quote! {
            fn blur(out: &mut f32, image: Window<u8>, offset: &f32, table: &[f32]) {}
        };
        let signature = Signature::of(&function, None, &mut Errors::default());
        let passed: Vec<&Argument> = signature.arguments.iter().collect();
        let text = room(&function.sig.ident, &passed).to_string();
        assert!(text.contains("5 + 5 + 5 + 5 + 2 <= 32"), "{text}");
    }
}
