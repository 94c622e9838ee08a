//! Writes the type that stands for a kernel, and its implementation of `Kernel`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, GenericParam, Lit, Type, parse_quote};

use super::image;
use super::model::{Argument, ArgumentKind, Coverage, Expandable, Kernel, instance_types};
use crate::expression::{evaluate, first_and_last, written};

/// Writes the whole expansion of a kernel. `sound` says that the macro found no mistake.
pub(super) fn kernel(kernel: &Kernel, sound: bool) -> TokenStream {
    let implementation = match kernel.expandable {
        Expandable::Nothing => return TokenStream::new(),
        Expandable::Type => TokenStream::new(),
        Expandable::Kernel => implementation(kernel, sound),
    };
    let definition = definition(kernel);
    let registration =
        (sound && kernel.expandable == Expandable::Kernel).then(|| registration(kernel));
    quote!(#definition #implementation #registration)
}

/// Writes the kernel's part of the program's list of kernels: one entry, or one for each instance that `instances(…)` names.
fn registration(kernel: &Kernel) -> TokenStream {
    let Kernel { name, cfgs, generics, options, .. } = kernel;
    let of = |ty: TokenStream| {
        quote!(::streamflow::__private::Registered::of(
            <#ty as ::streamflow::__private::Kernel>::INFO
        ))
    };
    let entries = match (&options.instances, generics.type_params().next()) {
        (_, None) => vec![of(name.to_token_stream())],
        (Some((instances, _)), Some(_)) => {
            instances.iter().map(|instance| of(instance_of(name, instance))).collect()
        }
        (None, Some(_)) => {
            let (text, (file, line)) = (name.unraw().to_string(), location(options.cuda.as_ref()));
            vec![quote!(::streamflow::__private::Registered::generic(#text, #file, #line))]
        }
    };
    quote! {
        #cfgs
        const _: () = {
            #[::streamflow::__private::linkme::distributed_slice(::streamflow::__private::KERNELS)]
            #[linkme(crate = ::streamflow::__private::linkme)]
            static __KERNEL: &[::streamflow::__private::Registered] = &[#(#entries),*];
        };
    }
}

/// Returns the type of an instance of a generic kernel. Its tokens have the spans of the user's types, so that rustc underlines a
/// mistake there.
fn instance_of(name: &Ident, instance: &Type) -> TokenStream {
    let types = instance_types(instance);
    let (first, last) = first_and_last(instance);
    let mut name = name.clone();
    name.set_span(first);
    let end = quote_spanned!(last=> >);
    quote!(#name<#(#types),* #end)
}

/// Writes the struct with the kernel's name. A private field keeps users from making a value of this type.
fn definition(kernel: &Kernel) -> TokenStream {
    let Kernel { name, visibility, cfgs, generics, .. } = kernel;
    let (generic_params, _, where_clause) = generics.split_for_impl();
    let params = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_token_stream()),
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Const(_) => None,
    });
    quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, unnameable_types)]
        #visibility struct #name #generic_params #where_clause {
            _private: ::core::marker::PhantomData<fn() -> (#(#params,)*)>,
        }
    }
}

fn implementation(kernel: &Kernel, sound: bool) -> TokenStream {
    let Kernel { name, cfgs, generics, arguments, .. } = kernel;
    let (generic_params, generic_names, where_clause) = generics.split_for_impl();
    let types = arguments.iter().map(launch_type);
    let info = info(kernel);
    // The kernel's arguments have the user's names, so the names of these variables are hygienic.
    let [args, to] = ["__args", "__to"].map(|name| Ident::new(name, Span::mixed_site()));
    let (pass, host) = if sound {
        (pass(kernel, &args, &to), host(kernel, &args))
    } else {
        // These bodies never run: the kernel has a mistake, so the program does not compile.
        (quote!(let _ = (#args, #to); ::core::result::Result::Ok(())), quote!(let _ = #args;))
    };
    quote! {
        #cfgs
        const _: () = {
            // SAFETY: `pass` and `INFO` are made from one signature. The author vouches for the CUDA body with
            // `unsafe cuda`.
            unsafe impl #generic_params ::streamflow::__private::Kernel for #name #generic_names
            #where_clause
            {
                type Args<'streamflow> = (#(#types,)*);
                const INFO: &'static ::streamflow::__private::KernelInfo = &#info;
                #[allow(clippy::all)]
                #[inline]
                fn pass<'streamflow>(
                    #args: Self::Args<'streamflow>,
                    #to: &mut ::streamflow::__private::Passing<'streamflow>,
                ) -> ::core::result::Result<(), ::streamflow::__private::Error> {
                    #pass
                }
            }

            unsafe fn __streamflow_host #generic_params (
                #args: ::streamflow::__private::HostArgs<'_>
            ) #where_clause {
                #host
            }
        };
    }
}

/// Returns the type of an argument in the tuple that a launch passes.
fn launch_type(argument: &Argument) -> TokenStream {
    match &argument.kind {
        ArgumentKind::Slice(ty) => quote!(&'streamflow ::streamflow::__private::DeviceSlice<#ty>),
        ArgumentKind::SliceMut(ty) => {
            quote!(&'streamflow mut ::streamflow::__private::DeviceSlice<#ty>)
        }
        ArgumentKind::View(ty, _) => {
            quote!(::streamflow::__private::TensorView<'streamflow, #ty>)
        }
        ArgumentKind::ViewMut(ty, _) => {
            quote!(::streamflow::__private::TensorViewMut<'streamflow, #ty>)
        }
        ArgumentKind::Scalar(ty) => ty.to_token_stream(),
        ArgumentKind::Wrong(ty) => ty.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty)),
    }
}

fn info(kernel: &Kernel) -> TokenStream {
    let name = kernel.name.unraw().to_string();
    let Kernel { options, arguments, has_host_body, .. } = kernel;
    let image = image::body(&options.image, &kernel.name, arguments, *has_host_body);
    let (cuda, entry) = image.unwrap_or_else(|| {
        let cuda = options.cuda.as_ref().map_or_else(|| quote!(""), written);
        let text = quote!({
            const __TEXT: &'static ::core::primitive::str = #cuda;
            ::streamflow::__private::CudaBody::Text(__TEXT)
        });
        (text, format!("{name}_kernel").to_token_stream())
    });
    let (file, line) = location(options.cuda.as_ref());
    let params = kernel.arguments.iter().filter_map(|argument| {
        let name = argument.ident.unraw().to_string();
        let (kind, ty) = match &argument.kind {
            ArgumentKind::Slice(ty) => (quote!(Slice), element(ty)),
            ArgumentKind::SliceMut(ty) => (quote!(SliceMut), element(ty)),
            ArgumentKind::View(ty, rank) => (quote!(View(#rank)), element(ty)),
            ArgumentKind::ViewMut(ty, rank) => (quote!(ViewMut(#rank)), element(ty)),
            ArgumentKind::Scalar(ty) => (quote!(Scalar), scalar(ty)),
            ArgumentKind::Wrong(_) => return None,
        };
        Some(quote! {
            ::streamflow::__private::ParamInfo {
                name: #name,
                cuda: #ty,
                kind: ::streamflow::__private::ParamKind::#kind,
            }
        })
    });
    let threads = match kernel.options.threads {
        Some([x, y, z]) => quote!(::core::option::Option::Some([#x, #y, #z])),
        None => quote!(::core::option::Option::None),
    };
    let coverage = match kernel.options.coverage {
        None => quote!(Elementwise),
        Some((Coverage::GridStride, _)) => quote!(GridStride),
        Some((Coverage::Partial, _)) => quote!(Partial),
    };
    let type_params: Vec<&Ident> =
        kernel.generics.type_params().map(|param| &param.ident).collect();
    let names = type_params.iter().map(|ident| ident.unraw().to_string());
    let (_, generic_names, _) = kernel.generics.split_for_impl();
    let turbofish = generic_names.as_turbofish();
    quote! {
        ::streamflow::__private::KernelInfo {
            name: #name,
            entry: #entry,
            file: #file,
            line: #line,
            cuda: #cuda,
            params: &[#(#params,)*],
            generics: &[#((#names, <#type_params as ::streamflow::__private::Scalar>::CUDA),)*],
            threads: #threads,
            coverage: ::streamflow::__private::Coverage::#coverage,
            axes: ::streamflow::__private::Axes::UNKNOWN,
            reports: false,
            host: __streamflow_host #turbofish,
        }
        .for_body()
    }
}

/// Returns an expression for the CUDA name of an element type. If the type is not an element, rustc reports that at the type. The
/// name is a constant of a trait: if it were the result of a function with a bound, rustc's error would mention that function, in
/// a module that users don't know.
fn element(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Element>::ELEMENT_CUDA)
}

/// Returns an expression for the CUDA name of a type that is passed by value. The trait is `Scalar`; else as in [`element`].
fn scalar(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Scalar>::CUDA)
}

/// Returns the file and the line at which the CUDA body begins: those of its string literal, or the first line of the included
/// file.
fn location(cuda: Option<&Expr>) -> (TokenStream, TokenStream) {
    if let Some(Expr::Macro(call)) = cuda
        && call.mac.path.segments.last().is_some_and(|last| last.ident == "include_str")
        && let Ok(Lit::Str(path)) = syn::parse2(call.mac.tokens.clone())
    {
        return (quote!(#path), quote!(1));
    }
    // `file!()` and `line!()` return the location of their own tokens, so these tokens have the literal's span.
    let span = cuda.map_or_else(Span::call_site, Spanned::span);
    (quote_spanned!(span=> ::core::file!()), quote_spanned!(span=> ::core::line!()))
}

/// Writes the body of `Kernel::pass`. It checks the requirements, and then passes each argument to the launch.
fn pass(kernel: &Kernel, args: &Ident, to: &Ident) -> TokenStream {
    let idents: Vec<&Ident> = kernel.arguments.iter().map(|argument| &argument.ident).collect();
    let values = kernel.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        let name = ident.unraw();
        match argument.kind {
            ArgumentKind::Slice(_) | ArgumentKind::SliceMut(_) => {
                let text = format!("{name}.len()");
                quote!((#text, &#ident.len()))
            }
            ArgumentKind::View(..) | ArgumentKind::ViewMut(..) => {
                let text = format!("{name}.shape()");
                quote!((#text, &::streamflow::__private::Shown(#ident.shape())))
            }
            _ => {
                let text = name.to_string();
                quote!((#text, &#ident))
            }
        }
    });
    let values = quote!(&[#(#values,)*]);
    let ranks = kernel.arguments.iter().filter_map(|argument| match argument.kind {
        ArgumentKind::View(_, rank) | ArgumentKind::ViewMut(_, rank) => {
            let (ident, rank) = (&argument.ident, Literal::usize_unsuffixed(rank));
            Some(parse_quote!(#ident.shape().len() == #rank))
        }
        _ => None,
    });
    let ranks: Vec<Expr> = ranks.collect();
    let passes = kernel.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        let name = ident.unraw().to_string();
        match &argument.kind {
            ArgumentKind::Slice(_) => quote!(#to.read(#name, #ident);),
            ArgumentKind::SliceMut(_) => quote!(#to.write(#name, #ident);),
            ArgumentKind::View(..) => quote!(#to.read_view(#name, #ident);),
            ArgumentKind::ViewMut(..) => quote!(#to.write_view(#name, #ident);),
            ArgumentKind::Scalar(_) | ArgumentKind::Wrong(_) => quote!(#to.scalar(#ident);),
        }
    });
    let passes = match kernel.options.image.has_pointers() {
        true => image::pass_pointers(&kernel.arguments, to),
        false => quote!(#(#passes)*),
    };
    let refused = Ident::new("__refused", Span::mixed_site());
    let requires = ranks.iter().chain(&kernel.options.requires).map(|condition| {
        let holds = evaluate(condition, quote_spanned!(condition.span()=> ::core::primitive::bool));
        quote! {
            if !#holds {
                let #refused = ::streamflow::__private::requirement(
                    <Self as ::streamflow::__private::Kernel>::INFO,
                    ::core::stringify!(#condition),
                    #values,
                );
                // The arguments are passed before the error returns, since they are the data that the kernel was to write.
                #passes
                return ::core::result::Result::Err(#refused);
            }
        }
    });
    quote! {
        let (#(#idents,)*) = #args;
        #(#requires)*
        #passes
        ::core::result::Result::Ok(())
    }
}

/// Writes the body of the host function, which calls the user's function: each of its arguments is read from the launch's
/// parameters.
fn host(kernel: &Kernel, args: &Ident) -> TokenStream {
    if !kernel.has_host_body {
        return quote!(let _ = #args;);
    }
    let name = &kernel.name;
    let (_, generic_names, _) = kernel.generics.split_for_impl();
    let turbofish = generic_names.as_turbofish();
    let mut index = 0_usize;
    let arguments = kernel.arguments.iter().map(|argument| {
        let at = index;
        index += argument.kind.params();
        match &argument.kind {
            ArgumentKind::Slice(_) => quote!(::streamflow::__private::slice(&#args, #at)),
            ArgumentKind::SliceMut(_) => quote!(::streamflow::__private::slice_mut(&#args, #at)),
            // A reference to a temporary value, which lives until the call of the user's function returns.
            ArgumentKind::View(ty, rank) => {
                quote!(&::streamflow::__private::strided::<#ty, #rank>(&#args, #at))
            }
            ArgumentKind::ViewMut(ty, rank) => {
                quote!(&mut ::streamflow::__private::strided::<#ty, #rank>(&#args, #at))
            }
            _ => quote!(::streamflow::__private::scalar(&#args, #at)),
        }
    });
    let arguments = match kernel.options.image.has_pointers() {
        true => image::host_arguments(&kernel.arguments, args),
        false => arguments.collect(),
    };
    quote! {
        // SAFETY: the parameters are those that `pass` made from the same signature, and the caller
        // vouches for the memory.
        #[allow(unused_unsafe)]
        unsafe {
            #name #turbofish(#(#arguments,)*)
        }
    }
}
