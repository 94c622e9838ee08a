//! The expansions of kernels and functions that have a mistake: the rest of the program finds their names, so that rustc reports
//! no second error.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{FnArg, ItemFn};

use super::expand::{VARIANTS, called, cfgs, definition, info};
use super::signature::Signature;

/// The function with its signature, and without its body.
fn function_alone(function: &ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    (sig.constness, sig.asyncness, sig.abi) = (None, None, None);
    let inputs = sig.inputs.into_iter().filter_map(|input| match input {
        FnArg::Typed(mut input) => {
            input.attrs.clear();
            *input.pat = syn::parse_quote!(_);
            Some(FnArg::Typed(input))
        }
        FnArg::Receiver(_) => None,
    });
    sig.inputs = inputs.collect();
    let definition = definition(function);
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
    let (name, cfgs, alone) = (&function.sig.ident, cfgs(function), function_alone(function));
    let passed = signature.arguments.iter().filter(|argument| !argument.kind.is_position());
    let types: Vec<_> = passed
        .enumerate()
        .map(|(number, _)| format_ident!("__A{number}", span = Span::mixed_site()))
        .collect();
    let parts = quote! {
        cuda: ::streamflow::__private::CudaBody::Text(""),
        params: &[],
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
            unsafe impl ::streamflow::__private::MapKernel for #name {
                const COORDINATES: usize = 0;
                const PER_THREAD: usize = 1;
                #(#infos)*
            }
            impl<'streamflow, #(#types,)*> ::streamflow::__private::MapArgs<'streamflow, #name> for (#(#types,)*) {
                fn pass(self, _: &mut ::streamflow::__private::Operands<'streamflow>) {}
            }
        };
    }
}

/// A function that kernels can call.
pub(super) fn function(function: &ItemFn) -> TokenStream {
    let (name, cfgs, alone) = (&function.sig.ident, cfgs(function), function_alone(function));
    let called = function.sig.generics.params.is_empty().then(|| called(function));
    quote! {
        #alone
        #cfgs
        const _: () = {
            #called
            impl ::streamflow::__private::body::KernelFn for #name {
                const REPORTS: bool = false;
                const IS_SHORT: bool = true;

                fn cuda(_: ::core::primitive::usize) -> ::std::string::String {
                    ::std::string::String::new()
                }
            }
        };
    }
}
