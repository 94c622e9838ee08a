//! The expansions of kernels and functions that have a mistake: the rest of the program finds their names, so that rustc reports
//! no second error.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{FnArg, ItemFn};

use super::expand::{VARIANTS, called, cfgs, common, definition, info};
use super::signature::Signature;

/// The function with its signature, and without its body.
fn function_alone(
    function: &ItemFn,
    parameters: TokenStream,
    signature: &Signature,
) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    (sig.constness, sig.asyncness, sig.abi) = (None, None, None);
    for param in sig.generics.type_params_mut() {
        param.default = None;
    }
    let inputs = sig.inputs.into_iter().filter_map(|input| match input {
        FnArg::Typed(mut input) => {
            input.attrs.clear();
            *input.pat = syn::parse_quote!(_);
            Some(FnArg::Typed(input))
        }
        FnArg::Receiver(_) => None,
    });
    sig.inputs = inputs.collect();
    let definition = definition(function, parameters, signature);
    quote! {
        #(#attrs)*
        #[allow(unused, clippy::all)]
        #vis #sig {
            loop {}
        }
        #definition
    }
}

/// A kernel that can be launched with arguments of any type.
pub(super) fn kernel(function: &ItemFn, signature: &Signature) -> TokenStream {
    let (name, cfgs, generics) = (&function.sig.ident, cfgs(function), &signature.generics);
    let alone = function_alone(function, generics.unbounded(), signature);
    let static_types = generics.types.iter().map(|ty| quote!(#ty: 'static,));
    let bounds = quote!(where #(#static_types)*);
    let (names, unbounded, list) =
        (generics.names(), generics.unbounded(), generics.unbounded_list());
    let passed = signature.arguments.iter().filter(|argument| !argument.kind.is_position());
    let types: Vec<_> = passed
        .enumerate()
        .map(|(number, _)| format_ident!("__A{number}", span = Span::mixed_site()))
        .collect();
    let parts = quote! {
        cuda: ::streamflow::__private::CudaBody::Text(""),
        params: &[],
        generics: &[],
        threads: ::core::option::Option::None,
        reports: false,
        host: __streamflow_nothing,
    };
    let infos = VARIANTS.map(|constant| info(constant, "", &parts));
    quote! {
        #alone
        #cfgs
        const _: () = {
            unsafe fn __streamflow_nothing(_: ::streamflow::__private::HostArgs<'_>) {}
            // SAFETY: the program does not compile, so nothing launches this.
            unsafe impl #unbounded ::streamflow::__private::MapKernel for #name #names #bounds {
                const COORDINATES: usize = 0;
                const PER_THREAD: usize = 1;
                const TILES: ::core::option::Option<::streamflow::__private::Tiles> = ::core::option::Option::None;
                #(#infos)*
            }
            // SAFETY: as above.
            unsafe impl<'streamflow, #list #(#types,)*> ::streamflow::__private::MapArgs<'streamflow, #name #names> for (#(#types,)*) #bounds {
                fn pass(self, _: &mut ::streamflow::__private::Operands<'streamflow>) {}
            }
        };
    }
}

/// A function that kernels can call.
pub(super) fn function(function: &ItemFn, signature: &Signature) -> TokenStream {
    let (name, cfgs, generics) = (&function.sig.ident, cfgs(function), &signature.generics);
    let alone = function_alone(function, generics.unbounded(), signature);
    // A `where` or a lifetime, which are mistakes, would be needed here, too.
    let sig = &function.sig.generics;
    let is_plain = sig.where_clause.is_none() && sig.lifetimes().next().is_none();
    let common = common(name, signature, &quote!(false), &quote!(true));
    let called = is_plain.then(|| called(function, signature));
    let (names, unbounded) = (generics.names(), generics.unbounded());
    let static_types = generics.types.iter().map(|ty| quote!(#ty: 'static,));
    let bounds = quote!(where #(#static_types)*);
    quote! {
        #alone
        #cfgs
        const _: () = {
            #called
            #common
            impl #unbounded ::streamflow::__private::body::KernelFn for #name #names #bounds {
                fn cuda(
                    _: ::core::primitive::usize,
                    _: &mut ::streamflow::__private::body::Types,
                ) -> ::std::string::String {
                    ::std::string::String::new()
                }
            }
        };
    }
}
