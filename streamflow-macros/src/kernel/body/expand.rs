//! The generated items of kernels with one body, and of the functions that they call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, ReturnType};

use super::cuda::{self, cuda_names, params};
use super::host::{host_function, host_linear, host_strided};
use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, argument_name};

/// The constants of `MapKernel` with the descriptions of its codes.
pub(super) const VARIANTS: [&str; 3] = ["LINEAR", "FLAT", "STRIDED"];

/// The expansion of `#[kernel(map)]`.
pub(super) fn kernel(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let (cfgs, host) = (cfgs(function), host_function(function, body));
    let (definition, implementation) =
        (definition(function), implementation(function, signature, body));
    quote! {
        #host
        #definition
        #cfgs
        const _: () = { #implementation };
    }
}

/// The attributes `#[cfg]` of a function, for the items beside it.
pub(super) fn cfgs(function: &ItemFn) -> TokenStream {
    let all = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    all.map(ToTokens::to_token_stream).collect()
}

/// The type that stands for the function.
pub(super) fn definition(function: &ItemFn) -> TokenStream {
    let (name, visibility, cfgs) = (&function.sig.ident, &function.vis, cfgs(function));
    quote_spanned! {name.span()=>
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, unnameable_types)]
        #visibility struct #name {
            _private: ::core::marker::PhantomData<()>,
        }
    }
}

/// One of the two descriptions of a kernel, with what differs between the two and between sound kernels and others.
pub(super) fn info(constant: &str, name: &str, parts: &TokenStream) -> TokenStream {
    let (constant, entry) = (format_ident!("{constant}"), format!("{name}_kernel"));
    quote! {
        const #constant: &'static ::streamflow::__private::KernelInfo = &::streamflow::__private::KernelInfo {
            name: #name,
            entry: #entry,
            file: ::core::file!(),
            line: ::core::line!(),
            generics: &[],
            threads: ::core::option::Option::None,
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
    let names = cuda_names(signature, body, &quote!(()), &quote!(__to.finish(__body)));
    let code = [
        (cuda::linear(body, signature), quote!(__streamflow_linear)),
        (cuda::flat(body, signature), quote!(__streamflow_flat)),
        (cuda::strided(body, signature), quote!(__streamflow_strided)),
    ];
    let infos = VARIANTS.into_iter().zip(code).map(|(constant, (cuda, host))| {
        let params = params(signature, constant == "LINEAR");
        let parts = quote! {
            cuda: ::streamflow::__private::CudaBody::Made({
                fn __made() -> ::std::string::String {
                    let per_thread = <#name as ::streamflow::__private::MapKernel>::PER_THREAD;
                    ::streamflow::__private::body::per_thread(per_thread) + &__streamflow_cuda(#cuda, 0)
                }
                __made
            }),
            params: &[#params],
            reports: #reports,
            host: #host,
        };
        info(constant, &text, &parts)
    });
    let registrations = VARIANTS.map(|constant| {
        let constant = Ident::new(constant, Span::call_site());
        quote! {
            const _: () = {
                #[::streamflow::__private::linkme::distributed_slice(::streamflow::__private::KERNELS)]
                #[linkme(crate = ::streamflow::__private::linkme)]
                static __KERNEL: ::streamflow::__private::Registered = ::streamflow::__private::Registered::of(
                    <#name as ::streamflow::__private::MapKernel>::#constant
                );
            };
        }
    });
    let may_report = body.reports || !body.functions.is_empty();
    let hosts = [
        host_linear(name, signature, may_report),
        host_strided(name, signature, "FLAT", may_report),
        host_strided(name, signature, "STRIDED", may_report),
    ];
    let is_short = is_short(body);
    let arguments = arguments(name, signature);
    quote! {
        // SAFETY: the macro writes both bodies from one, and each thread has the elements at its own place.
        unsafe impl ::streamflow::__private::MapKernel for #name {
            const COORDINATES: usize = #coordinates;
            const PER_THREAD: usize = if #is_short { 4 } else { 1 };
            #(#infos)*
        }
        #arguments
        #names
        #(#hosts)*
        #(#registrations)*
    }
}

/// Whether the body, or a function that it calls, may divide by 0: a constant expression.
fn reports(body: &Body) -> TokenStream {
    let (own, functions) = (body.reports, &body.functions);
    quote!(#own #(|| <#functions as ::streamflow::__private::body::KernelFn>::REPORTS)*)
}

/// Whether the body, with the functions that it calls, is so short that a thread has it for several elements: a constant expression.
fn is_short(body: &Body) -> TokenStream {
    const MOST_LINES: usize = 32;
    let own = body.loops == 0 && body.cuda.lines().count() <= MOST_LINES;
    let functions = &body.functions;
    quote!(#own #(&& <#functions as ::streamflow::__private::body::KernelFn>::IS_SHORT)*)
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
            _ => {
                types.push(ty.to_token_stream());
                calls.push(quote_spanned!(name.span()=> __to.scalar(#ident);));
            }
        }
    }
    // With the user's token as the place: rustc names the macro as the origin of an error otherwise.
    quote_spanned! {name.span()=>
        impl<'streamflow, #(#bounds,)*> ::streamflow::__private::MapArgs<'streamflow, #name> for (#(#types,)*) {
            fn pass(self, __to: &mut ::streamflow::__private::Operands<'streamflow>) {
                let (#(#idents,)*) = self;
                #(#calls)*
            }
        }
    }
}

/// The expansion of `#[kernel_fn]`.
pub(super) fn function(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let (name, cfgs, definition) = (&function.sig.ident, cfgs(function), definition(function));
    let host = host_function(function, body);
    let (reports, is_short) = (reports(body), is_short(body));
    let parameters = signature.arguments.iter().map(|Argument { ident, ty, .. }| {
        let name = argument_name(ident);
        quote!((<#ty as ::streamflow::__private::body::Value>::CUDA, #name))
    });
    let result = match &function.sig.output {
        ReturnType::Type(_, ty) => ty.to_token_stream(),
        ReturnType::Default => quote!(()),
    };
    let called = called(function);
    let finish = quote! {
        __to.finish_function::<#result>(
            __number,
            <#name as ::streamflow::__private::body::KernelFn>::REPORTS,
            &[#(#parameters),*],
            __body,
        )
    };
    let names = cuda_names(signature, body, &result, &finish);
    let cuda = &body.cuda;
    quote! {
        #[track_caller]
        #host
        #definition
        #cfgs
        const _: () = {
            #called
            impl ::streamflow::__private::body::KernelFn for #name {
                const REPORTS: bool = #reports;
                const IS_SHORT: bool = #is_short;

                fn cuda(number: ::core::primitive::usize) -> ::std::string::String {
                    __streamflow_cuda(#cuda, number)
                }
            }
            #names
        };
    }
}

/// The function as one of its type. A kernel calls it so, and not by the function's own name: both platforms then find one function,
/// also where the type and the function of a name come from two modules.
pub(super) fn called(function: &ItemFn) -> TokenStream {
    let (name, signature) = (&function.sig.ident, &function.sig);
    let (output, span) = (&signature.output, name.span());
    let arguments = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(&input.ty),
        FnArg::Receiver(_) => None,
    });
    let (numbers, types): (Vec<Ident>, Vec<_>) = arguments
        .enumerate()
        .map(|(number, ty)| (format_ident!("__a{number}", span = span), ty))
        .unzip();
    quote_spanned! {span=>
        impl #name {
            #[doc(hidden)]
            #[inline(always)]
            #[track_caller]
            #[allow(unreachable_pub, private_interfaces)]
            pub fn __call(#(#numbers: #types),*) #output {
                #name(#(#numbers),*)
            }
        }
    }
}
