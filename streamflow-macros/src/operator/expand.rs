//! What an operator and its ports implement.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics};

use super::constructor::definition;
use super::generics::{assuming_messages, doubts, phantom, unused};
use super::model::{Direction, Expandable, Operator, Port, Size};
use super::structs::{Names, angled, argument, end, form, may_share, names, structs};
use crate::tokens::{braced, spelled};

/// All that is made from an operator.
pub(super) fn operator(operator: &Operator) -> TokenStream {
    let definition = definition(operator);
    if operator.expandable == Expandable::Type {
        return definition;
    }
    let names = names(operator);
    let structs = structs(operator, &names);
    let markers = operator.ports.iter().map(|port| marker(operator, port));
    let ends = operator.ports.iter().map(|port| end_of_edge(operator, port, &names));
    let operator_impl = operator_impl(operator, &names);
    let ports_impl = ports_impl(operator, &names);
    let cfgs = &operator.cfgs;
    quote! {
        #definition
        #structs
        #(#markers)*
        #cfgs
        #[allow(trivial_bounds)]
        const _: () = {
            #operator_impl
            #ports_impl
            #(#ends)*
        };
    }
}

/// The port's own type, whose name stands in the messages of rustc.
fn marker(operator: &Operator, port: &Port) -> TokenStream {
    let Operator { visibility, cfgs, generics, .. } = operator;
    let marker = &port.marker;
    let (_, _, where_clause) = generics.split_for_impl();
    let params = angled(generics);
    let all = phantom(&unused(generics, &TokenStream::new()));
    // With the port's place, which rustc shows where it shows the port.
    let keyword = quote_spanned!(port.ident.span()=> struct);
    let end = quote_spanned!(port.ident.span()=> ;);
    quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(
            dead_code, missing_copy_implementations, missing_debug_implementations,
            non_camel_case_types
        )]
        #visibility #keyword #marker #params (#all) #where_clause #end
    }
}

fn operator_impl(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { ident, generics, .. } = operator;
    let (impl_generics, type_generics, _) = generics.split_for_impl();
    let where_clause = assuming_messages(generics, &operator.ports).where_clause;
    let io_params = params_of(&names.io_generics);
    let Names { ports, io, streams, tick, .. } = names;
    let name = ident.unraw().to_string();
    let inputs = operator.inputs().map(|port| info(operator, port));
    let outputs = operator.outputs().map(|port| info(operator, port));
    let stream_names: Vec<&Ident> = operator.options.streams.iter().collect();
    let stream_texts: Vec<String> =
        stream_names.iter().map(|stream| stream.unraw().to_string()).collect();
    let devices = operator.inputs().map(|port| is_device(operator, port));
    let internal = quote!((false #(|| #devices)*));
    let named = stream_names.len();
    let port_names: Vec<&Ident> = operator.ports.iter().map(|port| &port.ident).collect();
    let ends = operator.ports.iter().map(end);
    let makes: Vec<TokenStream> = (0..named)
        .map(|index| quote!(::streamflow::__private::StreamName::new(cx, #index)))
        .collect();
    let ports_marker = (operator.ports.is_empty() && generics.type_params().next().is_some())
        .then(|| quote!(__ports: ::core::marker::PhantomData,));
    let io_marker = names
        .io_is_marked(operator)
        .then(|| quote!(__tick: (::core::marker::PhantomData, ::core::marker::PhantomData),));
    let streams_marker =
        stream_names.is_empty().then(|| quote!(__tick: ::core::marker::PhantomData,));
    let hidden = hidden(generics, &operator.ports);
    let items = quote! {
        const NAME: &'static str = #name;
        const INPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#inputs,)*];
        const OUTPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#outputs,)*];
        const STREAM_NAMES: &'static [&'static str] = &[#(#stream_texts,)*];
        const STREAMS: usize = #named + #internal as usize;
        type Ports = #ports #type_generics;
        type Io<#tick> = #io<#tick, #(#io_params,)*>;
        type StreamNames<#tick> = #streams<#tick>;
        type __Node = ::std::boxed::Box<::streamflow::__private::Node<Self>>;

        fn __ports() -> #ports #type_generics {
            #ports { #(#port_names: ::streamflow::__private::#ends::new(),)* #ports_marker }
        }

        #[allow(unused_variables)]
        fn __io<#tick>(
            ports: &#tick mut #ports #type_generics,
            cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> #io<#tick, #(#io_params,)*> {
            #io {
                #(#port_names: ports.#port_names.io(cx),)*
                #(#stream_names: #makes,)*
                #io_marker
            }
        }

        #[allow(unused_variables)]
        fn __stream_names<#tick>(
            cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> #streams<#tick> {
            #streams { #(#stream_names: #makes,)* #streams_marker }
        }
    };
    // With the struct's place, where rustc tells what is wrong with the state.
    let place = ident.span();
    let begin = quote_spanned!(place=> impl);
    let of = quote_spanned!(place=> ::streamflow::__private::Operator for);
    let items = braced(place, items);
    quote! {
        #hidden
        #begin #impl_generics #of #ident #type_generics #where_clause #items
    }
}

/// Keeps rustc from listing what else implements a trait, where a type does not; but where this one's
/// clause may not hold, rustc shall say so.
fn hidden(generics: &Generics, ports: &[Port]) -> Option<TokenStream> {
    let sure = doubts(generics, ports).is_empty();
    sure.then(|| quote!(#[diagnostic::do_not_recommend]))
}

/// Whether a port carries device data, by way of the port's own type: what is wrong with the message
/// is told once.
fn is_device(operator: &Operator, port: &Port) -> TokenStream {
    let (_, type_generics, _) = operator.generics.split_for_impl();
    let marker = &port.marker;
    let message = match port.direction {
        Direction::Input { .. } => quote!(InputPort > ::Message),
        Direction::Output => quote!(OutputPort > ::Item),
    };
    quote! {
        <<<#marker #type_generics as ::streamflow::__private::#message
            as ::streamflow::__private::Message>::Place
            as ::streamflow::__private::Place>::IS_DEVICE
    }
}

/// What is known of a port.
fn info(operator: &Operator, port: &Port) -> TokenStream {
    let name = port.ident.unraw().to_string();
    let ty = spelled(&port.written);
    let doc = &port.doc;
    let optional = matches!(port.direction, Direction::Input { optional: true, .. });
    let device = is_device(operator, port);
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
            device: #device,
            ty: #ty,
            doc: #doc,
        }
    }
}

fn ports_impl(operator: &Operator, names: &Names) -> TokenStream {
    let ident = &names.ports;
    let (impl_generics, type_generics, _) = operator.generics.split_for_impl();
    let where_clause = assuming_messages(&operator.generics, &operator.ports).where_clause;
    let inputs = operator.inputs().map(|port| &port.ident);
    let outputs = operator.outputs().map(|port| &port.ident);
    quote! {
        #[diagnostic::do_not_recommend]
        #[allow(unused_variables)]
        impl #impl_generics ::streamflow::__private::Ports for #ident #type_generics #where_clause {
            fn inputs(
                &mut self,
                visit: &mut dyn ::core::ops::FnMut(&mut dyn ::streamflow::__private::ReceivingEnd),
            ) {
                #(visit(&mut self.#inputs);)*
            }
            fn outputs(
                &mut self,
                visit: &mut dyn ::core::ops::FnMut(&mut dyn ::streamflow::__private::SendingEnd),
            ) {
                #(visit(&mut self.#outputs);)*
            }
        }
    }
}

/// What the port's own type implements.
fn end_of_edge(operator: &Operator, port: &Port, names: &Names) -> TokenStream {
    let (impl_generics, type_generics, _) = operator.generics.split_for_impl();
    let only = std::slice::from_ref(port);
    let hidden = hidden(&operator.generics, only);
    let where_clause = assuming_messages(&operator.generics, only).where_clause;
    let Port { marker, message, .. } = port;
    let tick = &names.tick;
    let name = port.ident.unraw().to_string();
    let owner = operator.ident.unraw().to_string();
    let constants = quote! {
        const NAME: &'static str = #name;
        const OPERATOR: &'static str = #owner;
    };
    let (of, items) = match port.direction {
        Direction::Input { form: of, optional } => {
            let argument = argument(operator, port, tick);
            let (message, form) = if may_share(operator, port) {
                // With the type's place, where rustc tells that it is no message.
                let of = quote_spanned!(message.span()=>
                    <#message as ::streamflow::__private::Message>);
                (quote!(#of::Item), quote!(<#of::Owners as ::streamflow::__private::Owned>::Form))
            } else {
                let form = form(of);
                (quote!(#message), quote!(::streamflow::__private::#form))
            };
            let items = quote! {
                #constants
                const OPTIONAL: bool = #optional;
                type Message = #message;
                type Arg<#tick> = #argument;
                type Form = #form;
            };
            ("InputPort", items)
        }
        Direction::Output => ("OutputPort", quote!(#constants type Item = #message;)),
    };
    // With the port's place, where rustc tells that its message is none.
    let place = port.ident.span();
    let begin = quote_spanned!(place=> impl);
    let of = Ident::new(of, place);
    let of = quote_spanned!(place=> ::streamflow::__private::#of for);
    let items = braced(place, items);
    quote!(#hidden #begin #impl_generics #of #marker #type_generics #where_clause #items)
}

/// The names alone.
fn params_of(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}
