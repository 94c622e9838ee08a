//! Writes the generated structs of an operator: `Blur_Ports`, `BlurIo`, `BlurFlushIo`, and `BlurStreams` with the names of its
//! streams.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Generics, Ident, Lifetime, Type};

use super::docs;
use super::generics::{
    find_unused_params, keep_needed_params, list_param_names, phantom_type,
    with_bounds_left_to_rustc,
};
use super::model::{Direction, Form, Operator, Port, Size};
use super::sending::{Initial, initial_state};
use crate::tokens::{is_message, mentions};

/// The names of the generated types, and the generic parameters of each.
pub(super) struct Names {
    pub(super) ports: Ident,
    pub(super) io: Ident,
    /// The name of the Io of `flush`, as `BlurFlushIo`.
    pub(super) flush_io: Ident,
    pub(super) streams: Ident,
    /// The name of the struct with the branches, as `RouteBranch`.
    pub(super) branch: Ident,
    /// The parameters of the Io without the tick's lifetime: those that the ports' types mention.
    pub(super) io_generics: Generics,
    /// The lifetime of a tick: `'t`, or `'streamflow` if the user's code has a `'t` already.
    pub(super) tick: Lifetime,
    /// The type parameters in `io_generics` that no field of the Io mentions. A phantom field mentions them.
    io_unused: Vec<Ident>,
}

pub(super) fn name_types(operator: &Operator) -> Names {
    let name = operator.ident.unraw();
    let span = operator.ident.span();
    let types = operator.ports.iter().map(|port| &port.written);
    // The sizes of inputs count as types here, since `#[input(size = N)]` may name a const parameter.
    let sizes = operator.ports.iter().filter_map(|port| match &port.size {
        Size::Exactly(size) => Some(size),
        Size::One | Size::Many => None,
    });
    let types = quote!(#(#types,)* #(#sizes,)*);
    let io_generics = keep_needed_params(&operator.generics, &types);
    let params = &operator.generics.params;
    let where_clause = &operator.generics.where_clause;
    let taken = mentions(quote!(#params #where_clause #types), &format_ident!("t"));
    let tick = if taken { "'streamflow" } else { "'t" };
    let io_unused = find_unused_params(&io_generics, &types).into_iter().cloned().collect();
    Names {
        // The underscore makes a collision with a user's type unlikely, as in the ports' own types. Other generated code names
        // this type as `<Count as Operator>::Ports`.
        ports: format_ident!("{name}_Ports", span = span),
        io: format_ident!("{name}Io", span = span),
        flush_io: format_ident!("{name}FlushIo", span = span),
        streams: format_ident!("{name}Streams", span = span),
        branch: format_ident!("{name}Branch", span = span),
        io_generics,
        tick: Lifetime::new(tick, Span::call_site()),
        io_unused,
    }
}

impl Names {
    /// Whether the Io needs a phantom field, to mention the generic parameters that no other field mentions.
    pub(super) fn io_needs_phantom_field(&self, operator: &Operator) -> bool {
        let empty = operator.ports.is_empty() && operator.options.streams.is_empty();
        empty || !self.io_unused.is_empty()
    }
}

/// Writes the three structs, and the Io of `flush`. Names that a user reads have the spans of the user's tokens.
pub(super) fn expand_structs(operator: &Operator, names: &Names) -> TokenStream {
    let ports = expand_ports(operator, names);
    let io = expand_io(operator, names);
    let flush_io = match operator.options.flush {
        true => expand_flush_io(operator, names),
        false => expand_no_flush_io(operator, names),
    };
    let streams = expand_stream_names(operator, names);
    quote!(#ports #io #flush_io #streams)
}

fn expand_ports(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { visibility, cfgs, generics, .. } = operator;
    let ident = &names.ports;
    let text = format!("The ports of [`{}`]; an edge of a graph connects two.", operator.ident);
    let (_, type_generics, _) = generics.split_for_impl();
    let where_clause = with_bounds_left_to_rustc(generics, &operator.ports).where_clause;
    let params = write_params(generics);
    let fields = operator.ports.iter().map(|port| {
        let (name, port_type) = (&port.ident, &port.port_type_name);
        let docs = docs::write_port_docs(port);
        let port_struct = port_struct_name(port);
        quote!(#docs pub #name: ::streamflow::__private::#port_struct<#port_type #type_generics>,)
    });
    let unused = if operator.ports.is_empty() {
        find_unused_params(generics, &TokenStream::new())
    } else {
        Vec::new()
    };
    let phantom_field = (!unused.is_empty()).then(|| {
        let ty = phantom_type(&unused);
        quote!(#[doc(hidden)] __streamflow_ports: #ty,)
    });
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(
            dead_code, missing_copy_implementations, missing_debug_implementations,
            non_camel_case_types, trivial_bounds
        )]
        #visibility struct #ident #params #where_clause { #(#fields)* #phantom_field }
    }
}

fn expand_io(operator: &Operator, names: &Names) -> TokenStream {
    let text =
        format!("The inputs, outputs and stream names of [`{}`] in one tick.", operator.ident);
    let tick = &names.tick;
    let input = |port: &Port| {
        let in_tick = if port.is_checked {
            checked_type_in_tick(port, tick)
        } else {
            type_in_tick(operator, port, tick)
        };
        let as_written = (port.is_checked || may_be_alias_of_shared(operator, port))
            .then(|| written_type_in_tick(port, &port.shown, tick));
        (in_tick, as_written)
    };
    expand_io_struct(operator, names, &names.io, &text, input)
}

/// Writes the Io of `flush`. Each of its inputs has all messages that are left in the queues of that input.
fn expand_flush_io(operator: &Operator, names: &Names) -> TokenStream {
    let text = format!(
        "What is left at the inputs of [`{}`], its outputs and stream names, in one tick of its `flush`.",
        operator.ident
    );
    let tick = &names.tick;
    let many = |each: TokenStream, span| quote_spanned!(span=> ::streamflow::__private::Many<#tick, #each>);
    let input = |port: &Port| {
        let span = port.written.span();
        let ty = many(each_type_in_flush(port, tick), span);
        let as_written = (port.is_checked || may_be_alias_of_shared(operator, port))
            .then(|| many(with_tick(&port.shown, tick), span));
        (ty, as_written)
    };
    expand_io_struct(operator, names, &names.flush_io, &text, input)
}

/// Writes an alias with the name of the Io of `flush`, for an operator that is not declared with `flush`. The alias stands for no
/// type: where `impl Flush` uses it, rustc reports this text, and no further error about values of that type.
fn expand_no_flush_io(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { ident, visibility, cfgs, .. } = operator;
    let Names { flush_io, streams, tick, .. } = names;
    let name = ident.unraw();
    let text = format!(
        "`{name}` is not declared to be flushed, so its `flush` would never be called; write `#[operator(flush)]` on its definition"
    );
    // The type parameters of the `…Io` struct have defaults, since the user may write the struct's name without them.
    let params: Vec<_> = names.io_generics.type_params().map(|param| &param.ident).collect();
    let panic = quote_spanned!(ident.span()=> ::core::panic!(#text));
    quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(dead_code)]
        #visibility type #flush_io<#tick, #(#params = (),)*> = <::streamflow::__private::Fits<{ <#streams<'static>>::IS_FLUSHED }>
            as ::streamflow::__private::Checked<(&#tick (), #(#params,)*)>>::Type;

        #cfgs
        #[allow(dead_code)]
        impl #streams<'_> {
            const IS_FLUSHED: ::core::primitive::bool = #panic;
        }
    }
}

/// Writes an Io struct. `input` returns the type of an input's field, and the type that documentation shows if that is another
/// one.
fn expand_io_struct(
    operator: &Operator,
    names: &Names,
    ident: &Ident,
    text: &str,
    input: impl Fn(&Port) -> (TokenStream, Option<TokenStream>),
) -> TokenStream {
    let Operator { visibility, cfgs, .. } = operator;
    let tick = &names.tick;
    let params = &names.io_generics.params;
    let where_clause = with_bounds_left_to_rustc(&names.io_generics, &operator.ports).where_clause;
    let fields = operator.ports.iter().filter(|port| !port.is_branch).map(|port| {
        let name = &port.ident;
        let docs = docs::write_port_docs(port);
        match port.direction {
            Direction::Input { .. } => {
                let field = |ty| quote!(pub #name: ::streamflow::__private::In<#tick, #ty>,);
                let (in_tick, as_written) = input(port);
                let field_in_tick = field(in_tick);
                match as_written.map(field) {
                    Some(shown) => {
                        quote!(#[cfg(doc)] #docs #shown #[cfg(not(doc))] #docs #field_in_tick)
                    }
                    None => quote!(#docs #field_in_tick),
                }
            }
            Direction::Output => {
                let (in_tick, shown) = output_in_tick(operator, port, tick);
                match shown {
                    Some(shown) => quote! {
                        #[cfg(doc)] #docs pub #name: #shown,
                        #[cfg(not(doc))] #docs pub #name: #in_tick,
                    },
                    None => quote!(#docs pub #name: #in_tick,),
                }
            }
        }
    });
    let branch_field = expand_branch_field(operator, names);
    let stream_fields = expand_stream_fields(operator, tick);
    let unused: Vec<&Ident> = names.io_unused.iter().collect();
    let phantom_field = names.io_needs_phantom_field(operator).then(|| {
        let ty = phantom_type(&unused);
        quote!(#[doc(hidden)] __tick: (::core::marker::PhantomData<&#tick ()>, #ty),)
    });
    quote! {
        #cfgs
        #[doc = #text]
        #[allow(missing_debug_implementations, trivial_bounds)]
        #visibility struct #ident<#tick, #params> #where_clause {
            #(#fields)*
            #branch_field
            #stream_fields
            #phantom_field
        }
    }
}

/// Writes the field of the Io with the branches, or nothing if there are none.
fn expand_branch_field(operator: &Operator, names: &Names) -> Option<TokenStream> {
    operator.branches().next()?;
    let Names { branch, tick, io_generics, .. } = names;
    let arguments = list_param_names(io_generics);
    let text = "The branches. A tick sends on at most one of them.";
    Some(quote!(#[doc = #text] pub branch: #branch<#tick, #(#arguments,)*>,))
}

/// Returns the type of an output in one tick, and the type that documentation shows if that is another one.
pub(super) fn output_in_tick(
    operator: &Operator,
    port: &Port,
    tick: &Lifetime,
) -> (TokenStream, Option<TokenStream>) {
    let in_tick = if port.is_checked {
        checked_type_in_tick(port, tick)
    } else {
        type_in_tick(operator, port, tick)
    };
    let state = initial_state(operator, port);
    let left_to_rustc = matches!(state, Initial::LeftToRustc(_));
    let out = |ty: TokenStream, state: Option<TokenStream>| quote!(::streamflow::__private::Out<#tick, #ty #state>);
    let shown_state = if left_to_rustc { None } else { state.argument() };
    let shown =
        (port.is_checked || left_to_rustc).then(|| out(port.shown.to_token_stream(), shown_state));
    (out(in_tick, state.argument()), shown)
}

fn expand_stream_names(operator: &Operator, names: &Names) -> TokenStream {
    let Operator { visibility, cfgs, .. } = operator;
    let (ident, tick) = (&names.streams, &names.tick);
    let text = format!("The names of the streams of [`{}`].", operator.ident);
    let fields = expand_stream_fields(operator, tick);
    let phantom_field = operator
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
        #visibility struct #ident<#tick> { #fields #phantom_field }
    }
}

fn expand_stream_fields(operator: &Operator, tick: &Lifetime) -> TokenStream {
    let fields = operator.options.streams.iter().map(|stream| {
        let text = format!("The name of the stream `{stream}`, for `allocate_cuda_stream`.");
        quote!(#[doc = #text] pub #stream: ::streamflow::__private::StreamName<#tick>,)
    });
    quote!(#(#fields)*)
}

/// Returns a port's type in one tick: the user's type with the tick's lifetime. If the user's type may be an alias of
/// `Shared<T>`, the result is an associated type, so that rustc resolves the alias.
pub(super) fn type_in_tick(operator: &Operator, port: &Port, tick: &Lifetime) -> TokenStream {
    let written = &port.written;
    if may_be_alias_of_shared(operator, port) {
        let own =
            quote_spanned!(written.span()=> <#written as ::streamflow::__private::Message>::__Own);
        return wrap_type(port, tick, own);
    }
    written_type_in_tick(port, written, tick)
}

/// Returns a port's type in one tick, as an associated type of the port's own type. Only the trait implementations use this form.
fn checked_type_in_tick(port: &Port, tick: &Lifetime) -> TokenStream {
    let (name, span) = (&port.port_type_name, port.shown.span());
    match port.direction {
        Direction::Input { .. } => {
            quote_spanned!(span=> <#name as ::streamflow::__private::InputPort>::Arg<#tick>)
        }
        Direction::Output => {
            quote_spanned!(span=> <#name as ::streamflow::__private::OutputPort>::Item)
        }
    }
}

/// Returns a port's type in one tick, spelled as the user wrote it.
fn written_type_in_tick(port: &Port, written: &Type, tick: &Lifetime) -> TokenStream {
    wrap_type(port, tick, with_tick(written, tick))
}

/// Returns the type. If it is a reference, its lifetime is that of the tick.
fn with_tick(written: &Type, tick: &Lifetime) -> TokenStream {
    match written {
        Type::Reference(reference) => {
            let mut reference = reference.clone();
            reference.lifetime = Some(tick.clone());
            quote!(#reference)
        }
        other => quote!(#other),
    }
}

/// Returns the type that `flush` has for each message that is left at an input.
fn each_type_in_flush(port: &Port, tick: &Lifetime) -> TokenStream {
    let Direction::Input { form, .. } = port.direction else { return TokenStream::new() };
    let span = port.written.span();
    let (name, written, message) = (&port.port_type_name, &port.written, &port.message);
    let own =
        |ty: TokenStream| quote_spanned!(span=> <#ty as ::streamflow::__private::Message>::__Own);
    if !port.is_checked {
        // For a type parameter, the messages of an input with several are only available as `__Own`.
        let is_known = is_message(message) || form != Form::Takes;
        return if is_known { with_tick(written, tick) } else { own(quote!(#written)) };
    }
    let message = quote!(<#name as ::streamflow::__private::InputPort>::Message);
    match form {
        Form::Reads => quote_spanned!(span=> &#tick #message),
        Form::Shares => quote_spanned!(span=> ::streamflow::__private::Shared<#message>),
        Form::Takes => own(message),
    }
}

/// Returns the type of an input in a tick, from `written`, the type of one message: an `Option` if the input may be empty, and a
/// `Many` or an array if several edges lead to it.
fn wrap_type(port: &Port, tick: &Lifetime, written: TokenStream) -> TokenStream {
    let span = port.written.span();
    match (port.direction, &port.size) {
        // An optional `Many` has the same type as a required one, since a `Many` may be empty.
        (_, Size::Many) => quote_spanned!(span=> ::streamflow::__private::Many<#tick, #written>),
        (_, Size::Exactly(size)) => quote_spanned!(span=> [#written; #size]),
        (Direction::Input { optional: true, .. }, Size::One) => {
            quote_spanned!(span=> ::core::option::Option<#written>)
        }
        _ => written,
    }
}

/// Whether an input's type may be an alias of `Shared<T>`, which only rustc can resolve. rustc can't resolve a type that mentions
/// a type parameter, so such a type counts as what its tokens say.
pub(super) fn may_be_alias_of_shared(operator: &Operator, port: &Port) -> bool {
    let takes = matches!(port.direction, Direction::Input { form: Form::Takes, .. });
    let message = port.message.to_token_stream();
    takes
        && !is_message(&port.message)
        && !operator.generics.type_params().any(|param| mentions(message.clone(), &param.ident))
}

/// Returns the name of the struct that holds a port of a node: `Input` or `Output`.
pub(super) fn port_struct_name(port: &Port) -> TokenStream {
    match port.direction {
        Direction::Input { .. } => quote!(Input),
        Direction::Output => quote!(Output),
    }
}

/// Returns the name of the type that stands for a form: `Reads`, `Shares` or `Takes`.
pub(super) fn form_name(form: Form) -> TokenStream {
    match form {
        Form::Reads => quote!(Reads),
        Form::Shares => quote!(Shares),
        Form::Takes => quote!(Takes),
    }
}

/// Writes generic parameters with their bounds and defaults, in angle brackets. Returns `None` if there are none.
pub(super) fn write_params(generics: &Generics) -> Option<TokenStream> {
    let params = &generics.params;
    (!params.is_empty()).then(|| quote!(<#params>))
}
