//! The generated type of a kernel with one body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ItemFn;
use syn::ext::IdentExt;

use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, argument_name, witness_name};
use super::value::Witness;

/// The whole expansion.
pub(super) fn kernel(
    function: &ItemFn,
    signature: &Signature,
    body: &Body,
    is_sound: bool,
) -> TokenStream {
    let cfgs: TokenStream = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .map(ToTokens::to_token_stream)
        .collect();
    let definition = definition(function, &cfgs);
    if !is_sound {
        let stub = stub(function, signature, &cfgs);
        return quote!(#definition #stub);
    }
    let host = host_function(function, body);
    let implementation = implementation(function, signature, body, &cfgs);
    quote!(#host #definition #implementation)
}

fn definition(function: &ItemFn, cfgs: &TokenStream) -> TokenStream {
    let (name, visibility) = (&function.sig.ident, &function.vis);
    quote_spanned! {name.span()=>
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, unnameable_types)]
        #visibility struct #name {
            _private: ::core::marker::PhantomData<()>,
        }
    }
}

/// The witnesses, as variables of one pattern: rustc nests a scope for each `let`, and a body may have hundreds of witnesses.
fn witnesses(body: &Body) -> TokenStream {
    let all = body.witnesses.iter().enumerate();
    let declared = all.filter(|(_, witness)| !matches!(witness, Witness::Pattern { .. }));
    let names: Vec<Ident> = declared.map(|(number, _)| witness_name(number)).collect();
    let values = names.iter().map(|_| quote!(::streamflow::__private::body::Witness::new()));
    quote!(let (#(#names,)*) = (#(#values,)*);)
}

/// The user's function, with the operators of kernels.
fn host_function(function: &ItemFn, body: &Body) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    for input in &mut sig.inputs {
        if let syn::FnArg::Typed(input) = input {
            input.attrs.clear();
        }
    }
    let (witnesses, host) = (witnesses(body), &body.host);
    quote! {
        #(#attrs)*
        #[allow(unused_braces, unused_parens, clippy::all)]
        #vis #sig {
            #witnesses
            #host
        }
    }
}

/// The expansion of a `#[kernel(map)]` that has a mistake: the function with its signature, and a kernel that can be launched with
/// arguments of any type. The rest of the program finds its names, so that rustc reports no second error.
fn stub(function: &ItemFn, signature: &Signature, cfgs: &TokenStream) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    (sig.constness, sig.asyncness, sig.abi) = (None, None, None);
    let inputs = sig.inputs.into_iter().filter_map(|input| match input {
        syn::FnArg::Typed(mut input) => {
            input.attrs.clear();
            *input.pat = syn::parse_quote!(_);
            Some(syn::FnArg::Typed(input))
        }
        syn::FnArg::Receiver(_) => None,
    });
    sig.inputs = inputs.collect();
    let name = &function.sig.ident;
    let passed =
        signature.arguments.iter().filter(|argument| !argument.kind.is_position()).enumerate();
    let types: Vec<Ident> =
        passed.map(|(number, _)| Ident::new(&format!("__A{number}"), Span::mixed_site())).collect();
    let infos = ["LINEAR", "STRIDED"].map(|constant| {
        let constant = Ident::new(constant, Span::call_site());
        quote! {
            const #constant: &'static ::streamflow::__private::KernelInfo = &::streamflow::__private::KernelInfo {
                name: "",
                entry: "",
                file: "",
                line: 0,
                cuda: ::streamflow::__private::CudaBody::Text(""),
                params: &[],
                generics: &[],
                threads: ::core::option::Option::None,
                coverage: ::streamflow::__private::Coverage::GridStride,
                axes: ::streamflow::__private::Axes::UNKNOWN,
                reports: false,
                host: __streamflow_nothing,
            };
        }
    });
    quote! {
        #(#attrs)*
        #[allow(unused, clippy::all)]
        #vis #sig {
            loop {}
        }
        #cfgs
        const _: () = {
            unsafe fn __streamflow_nothing(_: ::streamflow::__private::HostArgs<'_>) {}
            // SAFETY: the program does not compile, so nothing launches this.
            unsafe impl ::streamflow::__private::MapKernel for #name {
                const COORDINATES: usize = 0;
                #(#infos)*
            }
            impl<'streamflow, #(#types,)*> ::streamflow::__private::MapArgs<'streamflow, #name> for (#(#types,)*) {
                fn pass(self, _: &mut ::streamflow::__private::Operands<'streamflow>) {}
            }
        };
    }
}

fn implementation(
    function: &ItemFn,
    signature: &Signature,
    body: &Body,
    cfgs: &TokenStream,
) -> TokenStream {
    let name = &function.sig.ident;
    let text = name.unraw().to_string();
    let entry = format!("{text}_kernel");
    let linear = linear(body, signature);
    let strided = strided(body, signature);
    let names = cuda_names(signature, body, &quote!(()), &quote!(__to.finish(__body)));
    let coordinates = signature.coordinates().unwrap_or(0);
    let reports = reports(body);
    let may_report = body.reports || !body.functions.is_empty();
    let variants = [
        ("LINEAR", linear, params(signature, false), quote!(__streamflow_linear)),
        ("STRIDED", strided, params(signature, true), quote!(__streamflow_strided)),
    ];
    let infos = variants.map(|(constant, cuda, params, host)| {
        let constant = Ident::new(constant, Span::call_site());
        quote! {
            const #constant: &'static ::streamflow::__private::KernelInfo = &::streamflow::__private::KernelInfo {
                name: #text,
                entry: #entry,
                file: ::core::file!(),
                line: ::core::line!(),
                cuda: ::streamflow::__private::CudaBody::Made({
                    fn __made() -> ::std::string::String {
                        __streamflow_cuda(#cuda, 0)
                    }
                    __made
                }),
                params: &[#params],
                generics: &[],
                threads: ::core::option::Option::None,
                coverage: ::streamflow::__private::Coverage::GridStride,
                axes: ::streamflow::__private::Axes::UNKNOWN,
                reports: #reports,
                host: #host,
            };
        }
    });
    let registrations = ["LINEAR", "STRIDED"].map(|constant| {
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
    let host_linear = host_linear(name, signature, may_report);
    let host_strided = host_strided(name, signature, may_report);
    let arguments = arguments(name, signature);
    quote! {
        #cfgs
        const _: () = {
            // SAFETY: the macro writes both bodies from one, and each thread has the elements at its own place.
            unsafe impl ::streamflow::__private::MapKernel for #name {
                const COORDINATES: usize = #coordinates;
                #(#infos)*
            }
            #arguments
            #names
            #host_linear
            #host_strided
            #(#registrations)*
        };
    }
}

/// Whether the body, or a function that it calls, may divide by 0: a constant expression.
fn reports(body: &Body) -> TokenStream {
    let (own, functions) = (body.reports, &body.functions);
    quote!(#own #(|| <#functions as ::streamflow::__private::body::KernelFn>::REPORTS)*)
}

/// The expansion of `#[kernel_fn]`.
pub(super) fn function(function: &ItemFn, signature: &Signature, body: &Body) -> TokenStream {
    let cfgs: TokenStream = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .map(ToTokens::to_token_stream)
        .collect();
    let (name, definition) = (&function.sig.ident, definition(function, &cfgs));
    let host = host_function(function, body);
    let reports = reports(body);
    let parameters = signature.arguments.iter().map(|Argument { ident, ty, .. }| {
        let name = argument_name(ident);
        quote!((<#ty as ::streamflow::__private::body::Value>::CUDA, #name))
    });
    let result = match &function.sig.output {
        syn::ReturnType::Type(_, ty) => ty.to_token_stream(),
        syn::ReturnType::Default => quote!(()),
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
fn called(function: &ItemFn) -> TokenStream {
    let (name, signature) = (&function.sig.ident, &function.sig);
    let (output, span) = (&signature.output, name.span());
    let arguments = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(input) => Some(&input.ty),
        syn::FnArg::Receiver(_) => None,
    });
    let (numbers, types): (Vec<Ident>, Vec<_>) = arguments
        .enumerate()
        .map(|(number, ty)| (Ident::new(&format!("__a{number}"), span), ty))
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

/// The expansion of a `#[kernel_fn]` that has a mistake: the rest of the program finds its names, so that rustc reports no second
/// error.
pub(super) fn function_stub(function: &ItemFn) -> TokenStream {
    let (name, definition) = (&function.sig.ident, definition(function, &TokenStream::new()));
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    (sig.constness, sig.asyncness, sig.abi) = (None, None, None);
    let called = called(function);
    let called = sig.generics.params.is_empty().then_some(called);
    quote! {
        #(#attrs)*
        #[allow(unused, clippy::all)]
        #vis #sig {
            loop {}
        }
        #definition
        const _: () = {
            #called
            impl ::streamflow::__private::body::KernelFn for #name {
                const REPORTS: bool = false;

                fn cuda(_: ::core::primitive::usize) -> ::std::string::String {
                    ::std::string::String::new()
                }
            }
        };
    }
}

/// `fn __streamflow_cuda(body) -> String`: the functions, types and constants of the body in CUDA, before it.
fn cuda_names(
    signature: &Signature,
    body: &Body,
    result: &TokenStream,
    finish: &TokenStream,
) -> TokenStream {
    let bindings = signature.arguments.iter().map(|Argument { ident, ty, kind }| match kind {
        Kind::Output => quote!(let #ident: &mut #ty = ::streamflow::__private::body::any();),
        Kind::Input => quote!(let #ident: &#ty = ::streamflow::__private::body::any();),
        Kind::Scalar | Kind::Number => quote!(let mut #ident: #ty = ::streamflow::__private::body::any();),
        Kind::Coordinates(idents) => {
            quote!(#(let mut #idents: ::core::primitive::usize = ::streamflow::__private::body::any();)*)
        }
    });
    let entries = body.witnesses.iter().enumerate().map(|(number, witness)| {
        let name = witness_name(number);
        match witness {
            Witness::Type => quote!(__to.ty(#number, &#name);),
            Witness::Constant(value) => quote!(__to.constant(#number, &#name, #value);),
            Witness::Pattern { of, value } => {
                let of = witness_name(*of);
                quote!(__to.pattern(#number, &#of, #value);)
            }
        }
    });
    let (witnesses, host) = (witnesses(body), &body.host);
    let functions = body.functions.iter().enumerate();
    let functions = functions.map(|(number, path)| quote!(__to.function::<#path>(#number);));
    quote! {
        #[allow(unused, clippy::all)]
        fn __streamflow_cuda(__body: &str, __number: ::core::primitive::usize) -> ::std::string::String {
            let mut __to = ::streamflow::__private::body::CudaText::new();
            #witnesses
            if false {
                #(#bindings)*
                let _: #result = #host;
            }
            #(#functions)*
            #(#entries)*
            #finish
        }
    }
}

/// The variables of the body in CUDA: references to the elements, and values.
fn bindings(
    signature: &Signature,
    element: impl Fn(&str) -> String,
    number: &str,
    at: [&str; 4],
) -> String {
    let mut text = String::new();
    for argument in &signature.arguments {
        let (name, own) = (argument.ident.unraw().to_string(), argument_name(&argument.ident));
        text += &match &argument.kind {
            Kind::Output => format!("auto& {own} = {};\n", element(&name)),
            Kind::Input => format!("const auto {own} = {};\n", element(&name)),
            Kind::Scalar => format!("auto {own} = {name};\n"),
            Kind::Number => format!("unsigned long long {own} = {number};\n"),
            Kind::Coordinates(idents) => {
                let skipped = 4 - idents.len();
                let each = idents.iter().zip(&at[skipped..]);
                each.map(|(ident, at)| {
                    format!("unsigned long long {} = {at};\n", argument_name(ident))
                })
                .collect()
            }
        };
    }
    text
}

/// The body for arguments whose elements follow each other: the elements with one number.
fn linear(body: &Body, signature: &Signature) -> String {
    let length = signature.arguments.iter().find(|argument| matches!(argument.kind, Kind::Output));
    let length = length.map_or_else(String::new, |first| format!("{}_len", first.ident.unraw()));
    let i = "streamflow_i";
    let bindings =
        bindings(signature, |name| format!("{name}[{i}]"), i, ["0ull", "0ull", "0ull", i]);
    let body = &body.cuda;
    format!(
        "for (unsigned long long {i} = thread_index(); {i} < {length}; {i} += thread_count()) {{\n{bindings}{body}\n}}"
    )
}

/// The body for any strides: a thread has the elements at one place of a shape of four dimensions.
fn strided(body: &Body, signature: &Signature) -> String {
    let at = ["streamflow_at0", "streamflow_at1", "streamflow_at2", "streamflow_at3"];
    let element = |name: &str| {
        let terms: Vec<_> = (0..4)
            .map(|dim| format!("streamflow_at{dim} * streamflow_{name}_stride{dim}"))
            .collect();
        format!("{name}[{}]", terms.join(" + "))
    };
    let number = "((streamflow_at0 * streamflow_shape1 + streamflow_at1) * streamflow_shape2 + streamflow_at2) * \
                  streamflow_shape3 + streamflow_at3";
    let bindings = bindings(signature, element, number, at);
    let body = &body.cuda;
    format!(
        "for (unsigned long long streamflow_z = thread_index_z(); streamflow_z < streamflow_shape0 * streamflow_shape1; \
         streamflow_z += (unsigned long long)gridDim.z * blockDim.z) {{\n\
         const unsigned long long streamflow_at0 = streamflow_z / streamflow_shape1, streamflow_at1 = streamflow_z % streamflow_shape1;\n\
         for (unsigned long long streamflow_at2 = thread_index_y(); streamflow_at2 < streamflow_shape2; \
         streamflow_at2 += (unsigned long long)gridDim.y * blockDim.y) {{\n\
         for (unsigned long long streamflow_at3 = thread_index(); streamflow_at3 < streamflow_shape3; streamflow_at3 += thread_count()) {{\n\
         {bindings}{body}\n}}}}}}"
    )
}

/// The parameters, as `Operands` passes them.
fn params(signature: &Signature, is_strided: bool) -> TokenStream {
    let shape = is_strided.then(|| {
        quote! {
            ::streamflow::__private::ParamInfo {
                name: "streamflow_shape",
                cuda: "unsigned long long",
                kind: ::streamflow::__private::ParamKind::Shape,
            },
        }
    });
    let each = signature.arguments.iter().filter_map(|Argument { ident, ty, kind }| {
        let name = ident.unraw().to_string();
        let span = syn::spanned::Spanned::span(ty);
        let element =
            quote_spanned!(span=> <#ty as ::streamflow::__private::Element>::ELEMENT_CUDA);
        let (kind, cuda) = match (kind, is_strided) {
            (Kind::Output, false) => (quote!(SliceMut), element),
            (Kind::Input, false) => (quote!(Slice), element),
            (Kind::Output, true) => (quote!(ElementsMut), element),
            (Kind::Input, true) => (quote!(Elements), element),
            (Kind::Scalar, _) => (
                quote!(Scalar),
                quote_spanned!(span=> <#ty as ::streamflow::__private::Scalar>::CUDA),
            ),
            (Kind::Number | Kind::Coordinates(_), _) => return None,
        };
        Some(quote! {
            ::streamflow::__private::ParamInfo {
                name: #name,
                cuda: #cuda,
                kind: ::streamflow::__private::ParamKind::#kind,
            },
        })
    });
    quote!(#shape #(#each)*)
}

/// The implementation of `MapArgs` for the tuple of a launch.
fn arguments(name: &Ident, signature: &Signature) -> TokenStream {
    let passed: Vec<&Argument> =
        signature.arguments.iter().filter(|argument| !argument.kind.is_position()).collect();
    let idents: Vec<&Ident> = passed.iter().map(|argument| &argument.ident).collect();
    let generic = |number: usize| Ident::new(&format!("__A{number}"), name.span());
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

/// The call of the user's function for one element.
fn call(
    name: &Ident,
    signature: &Signature,
    element: impl Fn(&Argument) -> TokenStream,
    number: &TokenStream,
    at: &[TokenStream; 4],
) -> TokenStream {
    let arguments = signature.arguments.iter().map(|argument| match &argument.kind {
        Kind::Output | Kind::Input => element(argument),
        Kind::Scalar => argument.ident.to_token_stream(),
        Kind::Number => number.clone(),
        Kind::Coordinates(idents) => {
            let at = &at[4 - idents.len()..];
            quote!([#(#at),*])
        }
    });
    quote!(#name(#(#arguments),*))
}

fn host_linear(name: &Ident, signature: &Signature, reports: bool) -> TokenStream {
    let mut index = 0_usize;
    let mut bindings = TokenStream::new();
    let mut length = None;
    for Argument { ident, ty, kind } in &signature.arguments {
        let at = index;
        match kind {
            Kind::Output => {
                index += 2;
                bindings.extend(quote!(let #ident: &mut [#ty] = ::streamflow::__private::slice_mut(&__args, #at);));
                length.get_or_insert(ident);
            }
            Kind::Input => {
                index += 2;
                bindings.extend(
                    quote!(let #ident: &[#ty] = ::streamflow::__private::slice(&__args, #at);),
                );
            }
            Kind::Scalar => {
                index += 1;
                bindings.extend(
                    quote!(let #ident: #ty = ::streamflow::__private::scalar(&__args, #at);),
                );
            }
            Kind::Number | Kind::Coordinates(_) => {}
        }
    }
    let zero = quote!(0);
    let number = quote!(__i);
    let at = [zero.clone(), zero.clone(), zero, number.clone()];
    let element = |Argument { ident, kind, .. }: &Argument| match kind {
        Kind::Output => quote!(&mut #ident[__i]),
        _ => quote!(&#ident[__i]),
    };
    let call = call(name, signature, element, &number, &at);
    let faults = faults(name, reports, index, "LINEAR");
    quote! {
        #[allow(unused, clippy::all)]
        unsafe fn __streamflow_linear(__args: ::streamflow::__private::HostArgs<'_>) {
            // SAFETY: the parameters are those of `LINEAR`, and the caller vouches for the memory.
            unsafe {
                #faults
                #bindings
                for __i in 0..#length.len() {
                    #call;
                }
            }
        }
    }
}

fn host_strided(name: &Ident, signature: &Signature, reports: bool) -> TokenStream {
    // The shape is first.
    let mut index = 4_usize;
    let mut bindings = TokenStream::new();
    for Argument { ident, ty, kind } in &signature.arguments {
        let at = index;
        match kind {
            Kind::Output | Kind::Input => {
                index += 5;
                bindings.extend(quote!(let #ident = ::streamflow::__private::body::Elements::<#ty>::of(&__args, #at);));
            }
            Kind::Scalar => {
                index += 1;
                bindings.extend(
                    quote!(let #ident: #ty = ::streamflow::__private::scalar(&__args, #at);),
                );
            }
            Kind::Number | Kind::Coordinates(_) => {}
        }
    }
    let at: [TokenStream; 4] = std::array::from_fn(|dim| quote!(__at[#dim]));
    let element = |Argument { ident, kind, .. }: &Argument| match kind {
        Kind::Output => quote!(&mut *#ident.at(__at)),
        _ => quote!(&*#ident.at(__at)),
    };
    let call = call(name, signature, element, &quote!(__number), &at);
    let faults = faults(name, reports, index, "STRIDED");
    quote! {
        #[allow(unused, clippy::all)]
        unsafe fn __streamflow_strided(__args: ::streamflow::__private::HostArgs<'_>) {
            // SAFETY: the parameters are those of `STRIDED`, and the caller vouches for the memory.
            unsafe {
                #faults
                #bindings
                for (__number, __at) in ::streamflow::__private::body::places(&__args).enumerate() {
                    #call;
                }
            }
        }
    }
}

/// The report of the launch, for the operators of the body on this thread. It is parameter `index`.
fn faults(name: &Ident, reports: bool, index: usize, constant: &str) -> Option<TokenStream> {
    let constant = Ident::new(constant, Span::call_site());
    reports.then(|| {
        quote! {
            let __faults = ::streamflow::__private::body::Faults::of(
                &__args,
                #index,
                <#name as ::streamflow::__private::MapKernel>::#constant,
            );
        }
    })
}
