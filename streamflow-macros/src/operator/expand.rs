//! Writes the trait implementations of an operator and of its ports.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Generics;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::branches::{expand_branches, make_outputs};
use super::checked::Checks;
use super::constructor::expand_definition;
use super::generics::{
    find_unused_params, list_param_names, message_bounds_left_to_rustc, phantom_type,
    with_bounds_left_to_rustc,
};
use super::implements::expand_implements;
use super::map::expand_map;
use super::model::{Direction, Operator, Port, Size};
use super::params::{expand_handle, handle_type};
use super::structs::{
    Names, expand_structs, form_name, may_be_alias_of_shared, name_types, port_struct_name,
    type_in_tick, write_params,
};
use crate::tokens::{braced, spelled};

/// Writes the whole expansion of an operator that may be expanded: `Expandable::Operator`.
pub(super) fn expand_operator(operator: &Operator, checks: &Checks) -> TokenStream {
    let definition = expand_definition(operator);
    let names = name_types(operator);
    let structs = expand_structs(operator, &names);
    let branches = expand_branches(operator, &names);
    let port_types = operator.ports.iter().map(|port| expand_port_type(operator, port));
    let port_impls = operator.ports.iter().map(|port| expand_port_impl(operator, port, &names));
    let handle = expand_handle(operator);
    let operator_impl = expand_operator_impl(operator, &names);
    let ports_impl = expand_ports_impl(operator, &names);
    let map = expand_map(operator, &names.tick);
    let implements = expand_implements(operator);
    let cfgs = &operator.cfgs;
    let Checks { of_fields, others } = checks;
    quote! {
        #of_fields
        #definition
        #structs
        #branches
        #(#port_types)*
        #handle
        #cfgs
        #[allow(trivial_bounds, non_camel_case_types, unexpected_cfgs)]
        const _: () = {
            #others
            #operator_impl
            #ports_impl
            #(#port_impls)*
        };
        #implements
        #map
    }
}

/// Writes the port's own type, a struct without fields. rustc's messages show this type's name.
pub(super) fn expand_port_type(operator: &Operator, port: &Port) -> TokenStream {
    let Operator { visibility, cfgs, generics, .. } = operator;
    let name = &port.port_type_name;
    let (_, _, where_clause) = generics.split_for_impl();
    let params = write_params(generics);
    let all = phantom_type(&find_unused_params(generics, &TokenStream::new()));
    // `struct` has the span of the port's name: where rustc shows the port's own type, it shows the user's port.
    let keyword = quote_spanned!(port.ident.span()=> struct);
    let end = quote_spanned!(port.ident.span()=> ;);
    quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(
            dead_code, missing_copy_implementations, missing_debug_implementations,
            non_camel_case_types
        )]
        #visibility #keyword #name #params (#all) #where_clause #end
    }
}

fn expand_operator_impl(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { ident, generics, .. } = operator;
    let (impl_generics, type_generics, _) = generics.split_for_impl();
    let where_clause = with_bounds_left_to_rustc(generics, &operator.ports).where_clause;
    let io_params = list_param_names(&names.io_generics);
    let Names { ports, io, streams, tick, .. } = names;
    let name = ident.unraw().to_string();
    let inputs = operator.inputs().map(|port| expand_port_info(operator, port));
    let outputs = operator.outputs().map(|port| expand_port_info(operator, port));
    let stream_names: Vec<&Ident> = operator.options.streams.iter().collect();
    let stream_texts: Vec<String> =
        stream_names.iter().map(|stream| stream.unraw().to_string()).collect();
    let devices = operator.inputs().map(|port| expand_is_device(operator, port));
    let internal = quote!((false #(|| #devices)*));
    let named = stream_names.len();
    let port_names: Vec<&Ident> = operator.ports.iter().map(|port| &port.ident).collect();
    let input_names: Vec<&Ident> = operator.inputs().map(|port| &port.ident).collect();
    let made_outputs = make_outputs(operator, names);
    let port_structs: Vec<TokenStream> = operator.ports.iter().map(port_struct_name).collect();
    let makes: Vec<TokenStream> = (0..named)
        .map(|index| quote!(::streamflow::__private::StreamName::new(__cx, #index)))
        .collect();
    let ports_phantom_field = (operator.ports.is_empty()
        && generics.type_params().next().is_some())
    .then(|| quote!(__streamflow_ports: ::core::marker::PhantomData,));
    let io_phantom_field = names
        .io_needs_phantom_field(operator)
        .then(|| quote!(__tick: (::core::marker::PhantomData, ::core::marker::PhantomData),));
    let streams_phantom_field =
        stream_names.is_empty().then(|| quote!(__tick: ::core::marker::PhantomData,));
    let do_not_recommend = match operator.options.unlisted {
        true => Some(quote!(#[diagnostic::do_not_recommend])),
        false => do_not_recommend(generics, &operator.ports),
    };
    let stays = operator.options.stays.then(|| {
        quote!(
            const STAYS: ::core::primitive::bool = true;
        )
    });
    let flush = operator.options.flush.then(|| expand_flush(operator, names));
    let flush_io = match (operator.options.flush, &names.flush_io) {
        (true, flush_io) => quote!(#flush_io<#tick, #(#io_params,)*>),
        (false, _) => quote!(()),
    };
    let params = handle_type(operator);
    let state_checks = &operator.state_checks;
    let node = quote!(::std::boxed::Box<::streamflow::__private::Node<Self>>);
    let checked_once = |ty: TokenStream| match &state_checks[..] {
        [] => ty,
        _ => quote!(<::streamflow::__private::Fits<{ true #(& #state_checks)* }>
            as ::streamflow::__private::Checked<#ty>>::Type),
    };
    let (checked, node) = (checked_once(quote!(Self)), checked_once(node));
    let items = quote! {
        const NAME: &'static ::core::primitive::str = #name;
        const INPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#inputs,)*];
        const OUTPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#outputs,)*];
        const STREAM_NAMES: &'static [&'static ::core::primitive::str] = &[#(#stream_texts,)*];
        const STREAMS: ::core::primitive::usize = #named + #internal as ::core::primitive::usize;
        #stays
        type Ports = #ports #type_generics;
        type Io<#tick> = #io<#tick, #(#io_params,)*>;
        type FlushIo<#tick> = #flush_io;
        type StreamNames<#tick> = #streams<#tick>;
        type Params = #params;
        type __Checked = #checked;
        type __Node = #node;

        fn __streamflow_ports() -> #ports #type_generics {
            #ports { #(#port_names: ::streamflow::__private::#port_structs::new(),)* #ports_phantom_field }
        }

        #[allow(unused_variables)]
        fn __streamflow_io<#tick>(
            __streamflow_ports: &#tick mut #ports #type_generics,
            __cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> #io<#tick, #(#io_params,)*> {
            #io {
                #(#input_names: ::streamflow::__private::Input::io(&mut __streamflow_ports.#input_names, __cx),)*
                #made_outputs
                #(#stream_names: #makes,)*
                #io_phantom_field
            }
        }

        #[allow(unused_variables)]
        fn __streamflow_stream_names<#tick>(
            __cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> #streams<#tick> {
            #streams { #(#stream_names: #makes,)* #streams_phantom_field }
        }

        #flush
    };
    // The implementation has the span of the struct's name, since rustc reports mistakes in the state there.
    let span = ident.span();
    let begin = quote_spanned!(span=> impl);
    let operator_for = quote_spanned!(span=> ::streamflow::__private::Operator for);
    let items = braced(span, items);
    quote! {
        #do_not_recommend
        #begin #impl_generics #operator_for #ident #type_generics #where_clause #items
    }
}

/// Writes the items of `impl Operator` that only an operator with `flush` has.
fn expand_flush(operator: &Operator, names: &Names) -> TokenStream {
    let (ports, flush_io, tick) = (&names.ports, &names.flush_io, &names.tick);
    let (_, type_generics, _) = operator.generics.split_for_impl();
    let inputs = operator.inputs().map(|port| &port.ident);
    let outputs = make_outputs(operator, names);
    let streams = operator.options.streams.iter().enumerate().map(
        |(index, stream)| quote!(#stream: ::streamflow::__private::StreamName::new(__cx, #index),),
    );
    let phantom_field = names
        .io_needs_phantom_field(operator)
        .then(|| quote!(__tick: (::core::marker::PhantomData, ::core::marker::PhantomData),));
    // The call has the span of the struct's name, since rustc reports a missing `impl Flush` there.
    let span = operator.ident.span();
    let call = quote_spanned!(span=> <Self as ::streamflow::__private::Flush>::flush);
    quote! {
        const FLUSHES: ::core::primitive::bool = true;

        #[allow(unused_variables)]
        fn __streamflow_flush<#tick>(
            &mut self,
            __streamflow_ports: &#tick mut #ports #type_generics,
            __is_first: ::core::primitive::bool,
            __cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> ::streamflow::__private::Result<::streamflow::__private::Flushed> {
            let __streamflow_io = #flush_io {
                #(#inputs: ::streamflow::__private::Input::flush_io(&mut __streamflow_ports.#inputs, __is_first, __cx),)*
                #outputs
                #(#streams)*
                #phantom_field
            };
            #call(self, __streamflow_io, __cx)
        }
    }
}

/// Returns `#[diagnostic::do_not_recommend]`, which keeps rustc from listing this implementation as an alternative in its errors.
/// Returns `None` if the where clause has bounds that only rustc can check: without the attribute, rustc reports the bound that
/// does not hold.
fn do_not_recommend(generics: &Generics, ports: &[Port]) -> Option<TokenStream> {
    let certain = message_bounds_left_to_rustc(generics, ports).is_empty();
    certain.then(|| quote!(#[diagnostic::do_not_recommend]))
}

/// Returns an expression for whether a port carries device data. The expression names the port's own type and not the message, so
/// that rustc reports a mistake in the message once.
fn expand_is_device(operator: &Operator, port: &Port) -> TokenStream {
    let (_, type_generics, _) = operator.generics.split_for_impl();
    let name = &port.port_type_name;
    let message = match port.direction {
        Direction::Input { .. } => quote!(InputPort > ::Message),
        Direction::Output => quote!(OutputPort > ::Item),
    };
    quote! {
        <<<#name #type_generics as ::streamflow::__private::#message
            as ::streamflow::__private::Message>::Place
            as ::streamflow::__private::Place>::IS_DEVICE
    }
}

/// Returns an expression for whether the messages of a port may have downloads.
fn expand_has_downloads(operator: &Operator, port: &Port) -> TokenStream {
    let (_, type_generics, _) = operator.generics.split_for_impl();
    let name = &port.port_type_name;
    let message = match port.direction {
        Direction::Input { .. } => quote!(InputPort > ::Message),
        Direction::Output => quote!(OutputPort > ::Item),
    };
    quote! {
        <<#name #type_generics as ::streamflow::__private::#message
            as ::streamflow::__private::Message>::__STREAMFLOW_HAS_DOWNLOADS
    }
}

/// Writes the `PortInfo` that describes a port.
pub(super) fn expand_port_info(operator: &Operator, port: &Port) -> TokenStream {
    let name = port.ident.unraw().to_string();
    let ty = spelled(&port.shown);
    let doc = &port.doc;
    let optional = matches!(port.direction, Direction::Input { optional: true, .. });
    let device = expand_is_device(operator, port);
    let downloads = expand_has_downloads(operator, port);
    let size = match &port.size {
        Size::One => quote!(One),
        Size::Many => quote!(Many),
        Size::Exactly(size) => quote!(Exactly(#size)),
    };
    quote! {
        ::streamflow::__private::PortInfo {
            name: #name,
            optional: #optional,
            size: ::streamflow::__private::PortSize::#size,
            length: ::core::option::Option::None,
            device: #device,
            downloads: #downloads,
            ty: #ty,
            doc: #doc,
        }
    }
}

fn expand_ports_impl(operator: &Operator, names: &Names) -> TokenStream {
    let ident = &names.ports;
    let (impl_generics, type_generics, _) = operator.generics.split_for_impl();
    let where_clause = with_bounds_left_to_rustc(&operator.generics, &operator.ports).where_clause;
    let inputs = operator.inputs().map(|port| &port.ident);
    let outputs = operator.outputs().map(|port| &port.ident);
    quote! {
        #[diagnostic::do_not_recommend]
        #[allow(unused_variables)]
        impl #impl_generics ::streamflow::__private::Ports for #ident #type_generics #where_clause {
            fn inputs(
                &mut self,
                __visit: &mut dyn ::core::ops::FnMut(&mut dyn ::streamflow::__private::ReceivingEnd),
            ) {
                #(__visit(&mut self.#inputs);)*
            }
            fn outputs(
                &mut self,
                __visit: &mut dyn ::core::ops::FnMut(&mut dyn ::streamflow::__private::SendingEnd),
            ) {
                #(__visit(&mut self.#outputs);)*
            }
        }
    }
}

/// Writes the implementation of `InputPort` or `OutputPort` for the port's own type.
pub(super) fn expand_port_impl(operator: &Operator, port: &Port, names: &Names) -> TokenStream {
    let (impl_generics, type_generics, _) = operator.generics.split_for_impl();
    let only = std::slice::from_ref(port);
    let do_not_recommend = do_not_recommend(&operator.generics, only);
    let where_clause = with_bounds_left_to_rustc(&operator.generics, only).where_clause;
    let Port { port_type_name, message, .. } = port;
    let tick = &names.tick;
    let name = port.ident.unraw().to_string();
    let owner = operator.ident.unraw().to_string();
    let constants = quote! {
        const NAME: &'static ::core::primitive::str = #name;
        const OPERATOR: &'static ::core::primitive::str = #owner;
    };
    let (name, items) = match port.direction {
        Direction::Input { form, optional } => {
            let in_tick = type_in_tick(operator, port, tick);
            let (message, form) = if may_be_alias_of_shared(operator, port) {
                // The tokens have the span of the type: rustc reports at this span that the type is not a message.
                let as_message = quote_spanned!(message.span()=>
                    <#message as ::streamflow::__private::Message>);
                (
                    quote!(#as_message::Item),
                    quote!(<#as_message::Owners as ::streamflow::__private::Owned>::Form),
                )
            } else {
                let form = form_name(form);
                (quote!(#message), quote!(::streamflow::__private::#form))
            };
            // This line has the span of the type: rustc reports at this span that the type is private.
            let message = quote_spanned!(port.shown.span()=> type Message = #message;);
            let items = quote! {
                #constants
                const OPTIONAL: ::core::primitive::bool = #optional;
                #message
                type Arg<#tick> = #in_tick;
                type Form = #form;
            };
            ("InputPort", items)
        }
        Direction::Output => {
            let item = quote_spanned!(port.shown.span()=> type Item = #message;);
            let is_branch = port.is_branch.then(|| {
                quote!(
                    const IS_BRANCH: ::core::primitive::bool = true;
                )
            });
            ("OutputPort", quote!(#constants #is_branch #item))
        }
    };
    // The implementation has the span of the port's name: rustc reports at this span that the port's type is not a message.
    let span = port.ident.span();
    let begin = quote_spanned!(span=> impl);
    let name = Ident::new(name, span);
    let port_for = quote_spanned!(span=> ::streamflow::__private::#name for);
    let items = braced(span, items);
    quote!(#do_not_recommend #begin #impl_generics #port_for #port_type_name #type_generics #where_clause #items)
}
