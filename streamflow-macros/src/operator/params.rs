//! Writes the handle of an operator's parameters, as `CfarParams`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Generics, Ident, Type};

use super::generics::keep_needed_params;
use super::model::{Operator, Param, Range};
use super::structs::write_params;
use crate::expression::evaluate;

/// Returns the name of the handle: `CfarParams` for an operator `Cfar`.
fn handle_name(operator: &Operator) -> Ident {
    format_ident!("{}Params", operator.ident.unraw(), span = operator.ident.span())
}

/// Returns the operator's type parameters that the types of its parameters mention. The handle has only these.
fn handle_generics(operator: &Operator) -> Generics {
    let types = operator.params.iter().map(|param| &param.ty);
    keep_needed_params(&operator.generics, &quote!(#(#types,)*))
}

/// Returns the type `Operator::Params`: the handle, or `NoParams` for an operator without parameters.
pub(super) fn handle_type(operator: &Operator) -> TokenStream {
    if operator.params.is_empty() {
        return quote!(::streamflow::__private::NoParams);
    }
    let (name, generics) = (handle_name(operator), handle_generics(operator));
    let (_, type_generics, _) = generics.split_for_impl();
    quote!(#name #type_generics)
}

/// Writes the handle with its methods. Writes nothing for an operator without parameters.
pub(super) fn expand_handle(operator: &Operator) -> TokenStream {
    if operator.params.is_empty() {
        return TokenStream::new();
    }
    let Operator { ident, visibility, cfgs, .. } = operator;
    let (name, generics) = (handle_name(operator), handle_generics(operator));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let params = write_params(&generics);
    let fields = operator.params.iter().map(|param| {
        let Param { ident, ty, cfgs, .. } = param;
        quote!(#(#cfgs)* #ident: ::streamflow::__private::ParamCell<#ty>,)
    });
    let clones = operator.params.iter().map(|param| {
        let Param { ident, cfgs, .. } = param;
        quote!(#(#cfgs)* #ident: ::core::clone::Clone::clone(&self.#ident),)
    });
    let debugs = operator.params.iter().map(|param| {
        let Param { ident, cfgs, .. } = param;
        let text = ident.unraw().to_string();
        quote!(#(#cfgs)* ::core::fmt::DebugStruct::field(&mut __f, #text, &self.#ident);)
    });
    let methods = operator.params.iter().map(expand_methods);
    let params_impl = expand_params_impl(operator, &name, &generics);
    let text = format!("The parameters of [`{ident}`], for any thread: reads and sets them.");
    let debug_name = name.unraw().to_string();
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(dead_code)]
        #visibility struct #name #params #where_clause { #(#fields)* }

        #cfgs
        #[allow(dead_code)]
        impl #impl_generics #name #type_generics #where_clause { #(#methods)* }

        #cfgs
        const _: () = {
            impl #impl_generics ::core::clone::Clone for #name #type_generics #where_clause {
                fn clone(&self) -> Self {
                    Self { #(#clones)* }
                }
            }

            impl #impl_generics ::core::fmt::Debug for #name #type_generics #where_clause {
                fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut __f = ::core::fmt::Formatter::debug_struct(__f, #debug_name);
                    #(#debugs)*
                    ::core::fmt::DebugStruct::finish(&mut __f)
                }
            }

            #params_impl
        };
    }
}

/// Writes the two methods of a parameter, as `threshold` and `set_threshold`.
fn expand_methods(param: &Param) -> TokenStream {
    let Param { ident, ty, docs, cfgs, range } = param;
    let name = ident.unraw();
    let setter = setter_name(param);
    let get_text =
        format!("The value of `{name}` that was set last; before, that of the operator's field.");
    let set_text = format!("Sets `{name}`. The operator has the value from its next tick on.");
    let of_range = range.as_ref().map(|range| {
        let text = format!("The range is `{}`.", range.text());
        quote!(#[doc = ""] #[doc = #text])
    });
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    quote! {
        #(#cfgs)*
        #[doc = #get_text]
        #blank
        #(#docs)*
        #of_range
        #[must_use]
        pub fn #ident(&self) -> #ty {
            ::streamflow::__private::ParamCell::get(&self.#ident)
        }

        #(#cfgs)*
        #[doc = #set_text]
        #blank
        #(#docs)*
        #of_range
        ///
        /// # Errors
        /// `Error::ParamOutOfRange`; `Error::ParamOfDroppedGraph`. The value then stays as it is.
        pub fn #setter(
            &self,
            value: #ty,
        ) -> ::core::result::Result<(), ::streamflow::__private::Error> {
            ::streamflow::__private::ParamCell::set(&self.#ident, value)
        }
    }
}

/// Returns the name of a parameter's setter, as `set_threshold`.
pub(super) fn setter_name(param: &Param) -> Ident {
    format_ident!("set_{}", param.ident.unraw(), span = param.ident.span())
}

/// Writes the implementation that makes the handle for a node, as `impl OperatorParams<Cfar> for CfarParams`.
fn expand_params_impl(operator: &Operator, name: &Ident, generics: &Generics) -> TokenStream {
    let ident = &operator.ident;
    let (_, handle_type_generics, _) = generics.split_for_impl();
    let (impl_generics, type_generics, where_clause) = operator.generics.split_for_impl();
    // These two variables are hygienic: the ends of a range are the user's expressions, and can't name them.
    let [operator_name, maker] =
        ["__operator", "__maker"].map(|name| Ident::new(name, Span::mixed_site()));
    let made = operator.params.iter().map(|param| {
        let Param { ident, ty, cfgs, range, .. } = param;
        let text = ident.unraw().to_string();
        // The call has the span of the parameter's type: rustc reports at this span that the type can't be a parameter.
        let make = quote_spanned!(ty.span()=> #maker.make::<#ty>);
        let limits = match range {
            Some(range) => expand_limits(range, ty),
            None => quote!(::core::option::Option::None),
        };
        quote!(#(#cfgs)* #ident: #make(#text, &#operator_name.#ident, #limits)?,)
    });
    let exchanged = operator.params.iter().map(|param| {
        let Param { ident, cfgs, .. } = param;
        quote!(#(#cfgs)* __exchange.param(&self.#ident, &mut __operator.#ident);)
    });
    quote! {
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::streamflow::__private::OperatorParams<#ident #type_generics>
            for #name #handle_type_generics #where_clause
        {
            fn of_operator(
                #operator_name: &#ident #type_generics,
                #maker: &mut ::streamflow::__private::ParamMaker,
            ) -> ::core::result::Result<Self, ::streamflow::__private::Error> {
                ::core::result::Result::Ok(Self { #(#made)* })
            }

            fn each(
                &self,
                __operator: &mut #ident #type_generics,
                __exchange: &mut ::streamflow::__private::Exchange<'_>,
            ) {
                #(#exchanged)*
            }
        }
    }
}

/// Writes the range as `Some(Limits::new(…))`. Each end is first bound to a variable of the parameter's type, so that rustc
/// reports an end of another type at the user's expression.
fn expand_limits(range: &Range, ty: &Type) -> TokenStream {
    let side = |name: &str, side: &Option<Box<Expr>>| {
        let name = Ident::new(name, Span::mixed_site());
        match side {
            Some(value) => (
                {
                    let value = evaluate(value, ty);
                    quote!(let #name = #value;)
                },
                quote!(::core::option::Option::Some(#name)),
            ),
            None => (TokenStream::new(), quote!(::core::option::Option::None)),
        }
    };
    let (let_begin, begin) = side("__begin", &range.begin);
    let (let_end, end) = side("__end", &range.end);
    let with_end = range.with_end;
    let new = quote_spanned!(ty.span()=> ::streamflow::__private::Limits::<#ty>::new);
    quote! {
        {
            #let_begin
            #let_end
            ::core::option::Option::Some(#new(#begin, #end, #with_end))
        }
    }
}

impl Range {
    /// Returns the range as the user wrote it, for documentation.
    pub(super) fn text(&self) -> String {
        let side = |side: &Option<Box<Expr>>| side.to_token_stream().to_string().replace("- ", "-");
        let dots = if self.with_end { "..=" } else { ".." };
        format!("{}{dots}{}", side(&self.begin), side(&self.end))
    }
}
