//! The types beside an operator: its ports, what a tick has of them, and the names of its streams.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Generics, Ident, Lifetime, Type};

use super::docs;
use super::generics::{assuming_messages, needed, phantom, unused};
use super::model::{Direction, Form, Operator, Port, Size};
use crate::tokens::{is_message, mentions};

/// The names of the generated types, and the parameters of each.
pub(super) struct Names {
    pub(super) ports: Ident,
    pub(super) io: Ident,
    pub(super) streams: Ident,
    /// The parameters that the ports' types need, without the tick's lifetime.
    pub(super) io_generics: Generics,
    /// The lifetime of a tick: `'t`, or another name where the user has a `'t`.
    pub(super) tick: Lifetime,
    /// Those among them that no field of the Io uses by itself.
    io_unused: Vec<Ident>,
}

pub(super) fn names(operator: &Operator) -> Names {
    let name = operator.ident.unraw();
    let span = operator.ident.span();
    let types = operator.ports.iter().map(|port| &port.written);
    // A const parameter may say how many messages there are.
    let sizes = operator.ports.iter().filter_map(|port| match &port.size {
        Size::Exactly(size) => Some(size),
        Size::One | Size::Many => None,
    });
    let types = quote!(#(#types,)* #(#sizes,)*);
    let io_generics = needed(&operator.generics, &types);
    let params = &operator.generics.params;
    let where_clause = &operator.generics.where_clause;
    let taken = mentions(quote!(#params #where_clause #types), &format_ident!("t"));
    let tick = if taken { "'streamflow" } else { "'t" };
    let io_unused = unused(&io_generics, &types).into_iter().cloned().collect();
    Names {
        ports: format_ident!("{name}Ports", span = span),
        io: format_ident!("{name}Io", span = span),
        streams: format_ident!("{name}Streams", span = span),
        io_generics,
        tick: Lifetime::new(tick, Span::call_site()),
        io_unused,
    }
}

impl Names {
    /// Whether the Io has a field that holds nothing, so that all of its parameters are used.
    pub(super) fn io_is_marked(&self, operator: &Operator) -> bool {
        let empty = operator.ports.is_empty() && operator.options.streams.is_empty();
        empty || !self.io_unused.is_empty()
    }
}

/// The three types. Names that a user reads have the spans of what they were made from.
pub(super) fn structs(operator: &Operator, names: &Names) -> TokenStream {
    let ports = ports(operator, names);
    let io = io(operator, names);
    let streams = streams(operator, names);
    quote!(#ports #io #streams)
}

fn ports(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { visibility, cfgs, generics, .. } = operator;
    let ident = &names.ports;
    let text = format!("The ports of [`{}`]; an edge of a graph connects two.", operator.ident);
    let (_, type_generics, _) = generics.split_for_impl();
    let where_clause = assuming_messages(generics, &operator.ports).where_clause;
    let params = angled(generics);
    let fields = operator.ports.iter().map(|port| {
        let (name, marker) = (&port.ident, &port.marker);
        let docs = docs::of_port(port);
        let end = end(port);
        quote!(#docs pub #name: ::streamflow::__private::#end<#marker #type_generics>,)
    });
    let unused =
        if operator.ports.is_empty() { unused(generics, &TokenStream::new()) } else { Vec::new() };
    let marker = (!unused.is_empty()).then(|| {
        let ty = phantom(&unused);
        quote!(#[doc(hidden)] __ports: #ty,)
    });
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(
            dead_code, missing_copy_implementations, missing_debug_implementations, trivial_bounds
        )]
        #visibility struct #ident #params #where_clause { #(#fields)* #marker }
    }
}

fn io(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { visibility, cfgs, .. } = operator;
    let ident = &names.io;
    let text = format!(
        "What one tick of [`{}`] has: its inputs, its outputs and the names of its streams.",
        operator.ident
    );
    let tick = &names.tick;
    let params = &names.io_generics.params;
    let where_clause = assuming_messages(&names.io_generics, &operator.ports).where_clause;
    let source = operator.inputs().next().is_none();
    let fields = operator.ports.iter().map(|port| {
        let name = &port.ident;
        let docs = docs::of_port(port);
        let argument = argument(operator, port, tick);
        match port.direction {
            Direction::Input { .. } if may_share(operator, port) => {
                let documented = documented(port, tick);
                quote! {
                    #[cfg(doc)]
                    #docs
                    pub #name: ::streamflow::__private::In<#tick, #documented>,
                    #[cfg(not(doc))]
                    #docs
                    pub #name: ::streamflow::__private::In<#tick, #argument>,
                }
            }
            Direction::Input { .. } => {
                quote!(#docs pub #name: ::streamflow::__private::In<#tick, #argument>,)
            }
            // Without an input there is no stream that an emitted message could be on by itself.
            Direction::Output if source => quote! {
                #docs
                pub #name:
                    ::streamflow::__private::Out<#tick, #argument, ::streamflow::__private::Unset>,
            },
            Direction::Output => {
                quote!(#docs pub #name: ::streamflow::__private::Out<#tick, #argument>,)
            }
        }
    });
    let stream_fields = stream_fields(operator, tick);
    let unused: Vec<&Ident> = names.io_unused.iter().collect();
    let marker = names.io_is_marked(operator).then(|| {
        let ty = phantom(&unused);
        quote!(#[doc(hidden)] __tick: (::core::marker::PhantomData<&#tick ()>, #ty),)
    });
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(missing_debug_implementations, trivial_bounds)]
        #visibility struct #ident<#tick, #params> #where_clause {
            #(#fields)*
            #stream_fields
            #marker
        }
    }
}

fn streams(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { visibility, cfgs, .. } = operator;
    let (ident, tick) = (&names.streams, &names.tick);
    let text = format!("The names of the streams of [`{}`].", operator.ident);
    let fields = stream_fields(operator, tick);
    let marker = operator
        .options
        .streams
        .is_empty()
        .then(|| quote!(#[doc(hidden)] __tick: ::core::marker::PhantomData<&#tick ()>,));
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(
            dead_code, missing_copy_implementations, missing_debug_implementations, trivial_bounds
        )]
        #visibility struct #ident<#tick> { #fields #marker }
    }
}

fn stream_fields(operator: &Operator, tick: &Lifetime) -> TokenStream {
    let fields = operator.options.streams.iter().map(|stream| {
        let text = format!("The name of the stream `{stream}`, for `allocate_cuda_stream`.");
        quote!(#[doc = #text] pub #stream: ::streamflow::__private::StreamName<#tick>,)
    });
    quote!(#(#fields)*)
}

/// The type that a tick has of a port: the one that the user wrote, with the tick's lifetime.
pub(super) fn argument(operator: &Operator, port: &Port, tick: &Lifetime) -> TokenStream {
    let written = &port.written;
    if may_share(operator, port) {
        let own =
            quote_spanned!(written.span()=> <#written as ::streamflow::__private::Message>::__Own);
        return wrapped(port, tick, own);
    }
    documented(port, tick)
}

/// The same in the user's words.
fn documented(port: &Port, tick: &Lifetime) -> TokenStream {
    let written = match &port.written {
        Type::Reference(reference) => {
            let mut reference = reference.clone();
            reference.lifetime = Some(tick.clone());
            quote!(#reference)
        }
        other => quote!(#other),
    };
    wrapped(port, tick, written)
}

/// Of an input that may be empty, or has several producers.
fn wrapped(port: &Port, tick: &Lifetime, written: TokenStream) -> TokenStream {
    let span = port.written.span();
    match (port.direction, &port.size) {
        // What is optional about several is that they may be none.
        (_, Size::Many) => quote_spanned!(span=> ::streamflow::__private::Many<#tick, #written>),
        (_, Size::Exactly(size)) => quote_spanned!(span=> [#written; #size]),
        (Direction::Input { optional: true, .. }, Size::One) => {
            quote_spanned!(span=> ::core::option::Option<#written>)
        }
        _ => written,
    }
}

/// Whether an input's type is a name that may stand for a `Shared<T>`: then rustc finds out. Of a type
/// parameter it knows too little, so there the tokens decide.
pub(super) fn may_share(operator: &Operator, port: &Port) -> bool {
    let takes = matches!(port.direction, Direction::Input { form: Form::Takes, .. });
    let message = port.message.to_token_stream();
    takes
        && !is_message(&port.message)
        && !operator.generics.type_params().any(|param| mentions(message.clone(), &param.ident))
}

/// `Input` or `Output`
pub(super) fn end(port: &Port) -> TokenStream {
    match port.direction {
        Direction::Input { .. } => quote!(Input),
        Direction::Output => quote!(Output),
    }
}

/// `Reads`, `Shares` or `Takes`
pub(super) fn form(form: Form) -> TokenStream {
    match form {
        Form::Reads => quote!(Reads),
        Form::Shares => quote!(Shares),
        Form::Takes => quote!(Takes),
    }
}

/// Parameters with their bounds and defaults.
pub(super) fn angled(generics: &Generics) -> Option<TokenStream> {
    let params = &generics.params;
    (!params.is_empty()).then(|| quote!(<#params>))
}
