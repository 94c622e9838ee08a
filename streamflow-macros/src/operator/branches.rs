//! Branches, the outputs with `#[output(branch)]`. A tick sends on at most one of them.
//!
//! The Io has one field for all of them, `branch`, a struct with a method for each. The method takes the struct and returns the
//! output, so rustc reports a tick that chooses twice. On the edges of a graph, branches are outputs as any others: each has a
//! consumer, or is discarded.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse_quote;

use super::docs;
use super::generics::{phantom_type, with_bounds_left_to_rustc};
use super::model::{Operator, Options, Port};
use super::structs::{Names, output_in_tick};
use crate::diagnostic::Errors;

/// Reports a branch without another one, and ports and streams with the name of the field that has the branches. Returns whether
/// the Io can have that field.
pub(super) fn check_branches(
    operator: &Ident,
    ports: &[Port],
    options: &mut Options,
    errors: &mut Errors,
) -> bool {
    let operator = operator.unraw();
    let mut branches = ports.iter().filter(|port| port.is_branch);
    let Some(first) = branches.next() else { return true };
    if branches.next().is_none() {
        let name = &first.ident;
        let text = format!(
            "a tick of `{operator}` sends on one of its branches, and `{name}` is the only one; mark another output \
             `#[output(branch)]`, or write `#[output]`: without a call of `emit` an output sends nothing"
        );
        errors.at(name, text);
    }
    let is_field = |name: &Ident| name.unraw() == "branch";
    let mut refuse = |name: &Ident, kind| {
        let text = format!(
            "`branch` is the field of `{operator}Io` with the branches; give the {kind} another name"
        );
        errors.at(name, text);
    };
    options.streams.retain(|stream| {
        if is_field(stream) {
            refuse(stream, "stream");
        }
        !is_field(stream)
    });
    let port = ports.iter().find(|port| is_field(&port.ident));
    if let Some(port) = port {
        refuse(&port.ident, "port");
    }
    port.is_none()
}

/// Writes the struct with the branches of a tick, as `RouteBranch`, and a method for each of them.
pub(super) fn expand_branches(operator: &Operator, names: &Names) -> TokenStream {
    if operator.branches().next().is_none() {
        return TokenStream::new();
    }
    let Operator { visibility, cfgs, .. } = operator;
    let Names { branch, tick, io_generics, .. } = names;
    let text = format!(
        "The branches of [`{}`] in one tick, which sends on at most one of them.",
        operator.ident
    );
    let params = &io_generics.params;
    let where_clause = with_bounds_left_to_rustc(io_generics, &operator.ports).where_clause;
    // The parameters of an `impl` have no defaults.
    let mut generics = io_generics.clone();
    generics.params.insert(0, parse_quote!(#tick));
    let (impl_generics, type_generics, _) = generics.split_for_impl();
    let fields = operator.branches().map(|port| {
        let (field, (ty, _)) = (field_name(port), output_in_tick(operator, port, tick));
        quote!(#field: #ty,)
    });
    let methods = operator.branches().map(|port| {
        let (name, field, docs) = (&port.ident, field_name(port), docs::write_port_docs(port));
        // rustc shows this token where a tick chooses twice.
        let this = Ident::new("self", name.span());
        let method = |ty: TokenStream| {
            quote! {
                #docs
                #[must_use = "a branch sends when `emit` is called"]
                #visibility fn #name(#this) -> #ty {
                    #this.#field
                }
            }
        };
        let (ty, shown) = output_in_tick(operator, port, tick);
        let in_tick = method(ty);
        match shown.map(method) {
            Some(shown) => quote!(#[cfg(doc)] #shown #[cfg(not(doc))] #in_tick),
            None => in_tick,
        }
    });
    let all =
        phantom_type(&io_generics.type_params().map(|param| &param.ident).collect::<Vec<_>>());
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(missing_debug_implementations, non_snake_case, trivial_bounds)]
        #visibility struct #branch<#tick, #params> #where_clause {
            #(#fields)*
            __tick: (::core::marker::PhantomData<&#tick ()>, #all),
        }

        #cfgs
        #[allow(non_snake_case, trivial_bounds)]
        impl #impl_generics #branch #type_generics #where_clause {
            #(#methods)*
        }
    }
}

/// Writes the fields of an Io value that are outputs, made for a tick.
pub(super) fn make_outputs(operator: &Operator, names: &Names) -> TokenStream {
    let make = |port: &Port| {
        let name = &port.ident;
        quote!(::streamflow::__private::Output::io(&mut __streamflow_ports.#name, __cx))
    };
    let outputs = operator.outputs().filter(|port| !port.is_branch).map(|port| {
        let (name, output) = (&port.ident, make(port));
        quote!(#name: #output,)
    });
    let branches = operator.branches().next().map(|_| {
        let branch = &names.branch;
        let fields = operator.branches().map(|port| {
            let (field, output) = (field_name(port), make(port));
            quote!(#field: #output,)
        });
        let phantom = quote!(__tick: (::core::marker::PhantomData, ::core::marker::PhantomData),);
        quote!(branch: #branch { #(#fields)* #phantom },)
    });
    quote!(#(#outputs)* #branches)
}

/// Returns the name of the field with a branch. rustc lets code move two fields out of a struct, so users call the methods: each
/// consumes the struct, and a second call does not compile.
fn field_name(port: &Port) -> Ident {
    format_ident!("__branch_{}", port.ident.unraw(), span = Span::call_site())
}
