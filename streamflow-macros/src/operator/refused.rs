//! Writes the expansion of an operator with a mistake in its generic parameters: a lifetime, or a type parameter without its
//! bounds.
//!
//! The user's `impl Compute` will be right once that mistake is removed, so rustc should report nothing in it. The `impl` needs
//! an implementation of `Operator`. The types in that implementation depend on a constant whose value is the `compile_error!` for
//! the mistake, so rustc can't evaluate it, does not know these types, and reports nothing about their values.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::GenericParam;
use syn::ext::IdentExt;

use super::constructor::expand_definition;
use super::map::expand_map;
use super::model::Operator;
use super::structs::name_types;

/// Expands an operator with a mistake in its generics. `mistake` is the `compile_error!` that reports it.
pub(super) fn expand_refused(operator: &Operator, mistake: TokenStream) -> TokenStream {
    let definition = expand_definition(operator);
    let (ident, visibility, cfgs) = (&operator.ident, &operator.visibility, &operator.cfgs);
    let names = name_types(operator);
    let (io, tick) = (&names.io, &names.tick);
    let mistaken = format_ident!("__{}_mistaken", ident.unraw());
    // The parameters have defaults, since the user may have written `BlurIo` without its parameters.
    let params = names.io_generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
    });
    let params: Vec<_> = params.collect();
    let (impl_generics, type_generics, where_clause) = operator.generics.split_for_impl();
    let name = ident.unraw().to_string();
    let map = expand_map(operator, tick);
    let ios = [io, &names.flush_io].map(|io| {
        quote! {
            #cfgs
            #[doc(hidden)]
            #visibility type #io<#tick, #(#params = (),)*> = <::streamflow::__private::Fits<{ #mistaken }>
                as ::streamflow::__private::Checked<(&#tick (), #(#params,)*)>>::Type;
        }
    });
    quote! {
        #definition

        #cfgs
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        const #mistaken: bool = #mistake;

        #(#ios)*

        #cfgs
        const _: () = {
            type Unknown = <::streamflow::__private::Fits<{ #mistaken }>
                as ::streamflow::__private::Checked<()>>::Type;

            impl #impl_generics ::streamflow::__private::Operator for #ident #type_generics #where_clause {
                const NAME: &'static ::core::primitive::str = #name;
                const INPUTS: &'static [::streamflow::__private::PortInfo] = &[];
                const OUTPUTS: &'static [::streamflow::__private::PortInfo] = &[];
                const STREAM_NAMES: &'static [&'static ::core::primitive::str] = &[];
                const STREAMS: ::core::primitive::usize = 0;
                type Ports = Unknown;
                type Io<#tick> = Unknown;
                type FlushIo<#tick> = Unknown;
                type StreamNames<#tick> = Unknown;
                type Params = Unknown;
                type __Checked = Unknown;
                type __Node = Unknown;

                fn __streamflow_ports() -> Unknown {
                    ::core::unreachable!()
                }

                fn __streamflow_io<#tick>(
                    _: &#tick mut Unknown,
                    _: &#tick ::streamflow::__private::ExecutionContext,
                ) -> Unknown {
                    ::core::unreachable!()
                }

                fn __streamflow_stream_names(_: &::streamflow::__private::ExecutionContext) -> Unknown {
                    ::core::unreachable!()
                }
            }

        };
        #map
    }
}
