//! `#[operator(map = scale)]`: an operator whose `compute` the macro writes. It launches one kernel of `#[kernel(map)]`.
//!
//! The macro does not see the kernel's function, so the kernel's arguments are matched by their order: the outputs, the inputs
//! that are read, and the other fields of the struct. rustc compares their types with those of the kernel.
//!
//! An input that takes its tensor, as `#[input] image: Tensor<f32>`, is the memory of an output: the kernel changes it in place.
//! The first such input is sent by the first output, the second by the second output. Each other output is allocated.

use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Field, Lifetime, Path, Token, Type};

use super::fields::StateAttribute;
use super::model::{Body, Direction, Form, Map, Operator, Options, Port, Size};
use super::port_type::type_argument;
use crate::diagnostic::Errors;
use crate::expression::first_and_last;
use crate::tokens::{Place, braced, mentions, place, spelled, ungrouped};

const FORM: &str = "name a kernel of `#[kernel(map)]`: `map = scale`";
const COMPUTE: &str = "or write `compute` without `map`";

/// Reads the kernel after the word `map`: `= scale`.
pub(super) fn read_map(name: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Map> {
    let kernel = (|| {
        input.parse::<Token![=]>()?;
        let kernel = input.parse::<Path>()?;
        if input.is_empty() { Ok(kernel) } else { Err(input.error("a path alone")) }
    })();
    match kernel {
        Ok(kernel) => Some(Map { kernel, is_sound: true }),
        Err(_) => {
            let mut all = name.to_token_stream();
            all.extend(input.parse::<TokenStream>().unwrap_or_default());
            errors.at(all, format!("`map` is followed by a kernel; {FORM}"));
            None
        }
    }
}

/// Reports ports and fields that no kernel of `#[kernel(map)]` can have.
pub(super) fn check_map(
    options: &mut Options,
    ident: &Ident,
    (ports, state, made): (&[Port], &[Field], &[StateAttribute]),
    errors: &mut Errors,
) {
    let Some(map) = &mut options.map else { return };
    let before = errors.len();
    let outputs: Vec<&Port> = ports.iter().filter(|port| is_output(port)).collect();
    let mut taken = 0;
    for port in ports {
        if !check_port(port, errors) || !is_taken(port) {
            continue;
        }
        let is_tensor = |port: &Port| tensor_element(&port.shown).is_some();
        match outputs.get(taken) {
            Some(output) if spelled(&output.shown) == spelled(&port.shown) => {}
            // rustc resolves an alias.
            Some(output) if !is_tensor(output) || !is_tensor(port) => {}
            Some(output) => errors.at(
                &port.shown,
                format!(
                    "the kernel changes `{}` in place, and `{}` sends it as `{}`: read it by `&{}`, and the output is \
                     allocated",
                    port.ident,
                    output.ident,
                    spelled(&output.shown),
                    spelled(&port.shown)
                ),
            ),
            None => errors.at(
                &port.shown,
                format!(
                    "the kernel changes `{}` in place, and no output is left that sends it: read it by `&{}`",
                    port.ident,
                    spelled(&port.shown)
                ),
            ),
        }
        taken += 1;
    }
    let missing = match () {
        () if ports.is_empty() => None,
        () if outputs.is_empty() => Some("output, as `#[output] out: Tensor<f32>`"),
        () if outputs.len() == ports.len() => Some("input, as `#[input] image: &Tensor<f32>`"),
        () => None,
    };
    if let Some(missing) = missing {
        errors.at(ident, format!("an operator with `map` has an {missing}; add one, {COMPUTE}"));
    }
    if let Some(stream) = options.streams.first() {
        let text = "an operator with `map` works on the stream of its inputs, and allocates none; remove `streams(…)`";
        errors.at(stream, format!("{text}, {COMPUTE}"));
    }
    for attribute in made {
        let text = "each field of an operator with `map` is an argument of the kernel";
        errors.at(&attribute.written, format!("{text}; remove `#[state]`, {COMPUTE}"));
    }
    if let Some(Port { ident, .. }) = ports.iter().find(|port| port.is_branch) {
        let text = "an operator with `map` sends on each of its outputs, and chooses no branch";
        errors.at(ident, format!("{text}; write `#[output]`, {COMPUTE}"));
    }
    for cfg in state.iter().filter_map(cfg) {
        let text = "an argument of the kernel cannot depend on `cfg`; put it on the whole operator";
        errors.at(cfg, format!("{text}, {COMPUTE}"));
    }
    map.is_sound = errors.len() == before;
}

fn cfg(field: &Field) -> Option<&Attribute> {
    field.attrs.iter().find(|attr| attr.path().is_ident("cfg"))
}

fn is_output(port: &Port) -> bool {
    port.direction == Direction::Output
}

fn is_taken(port: &Port) -> bool {
    matches!(port.direction, Direction::Input { form: Form::Takes, .. })
}

/// Reports a port that is no single tensor, and returns whether it may be right.
fn check_port(port: &Port, errors: &mut Errors) -> bool {
    let name = &port.ident;
    let is_optional = matches!(port.direction, Direction::Input { optional: true, .. });
    if is_optional || !matches!(port.size, Size::One) {
        let text = "the kernel has one tensor from each input in each tick";
        errors.at(name, format!("`{name}`: {text}; remove the option of `#[input]`, {COMPUTE}"));
        return false;
    }
    let message = message(port);
    // Another name without arguments may be an alias, which rustc resolves.
    let may_be_alias = match ungrouped(message) {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.arguments.is_none()),
        _ => false,
    };
    if tensor_element(message).is_some() || (may_be_alias && place(message) != Some(Place::Host)) {
        return true;
    }
    let way = match (is_output(port), place(message)) {
        (true, _) => "write `Tensor<f32>`".to_owned(),
        (false, Some(Place::Host)) => {
            format!(
                "write `&Tensor<f32>`, or make it a parameter: `#[param] {name}: {}`",
                spelled(message)
            )
        }
        (false, _) => "write `&Tensor<f32>`".to_owned(),
    };
    let text = format!("`{name}`: a kernel of `map` has tensors, and not `{}`", spelled(message));
    errors.at(&port.shown, format!("{text}; {way}, {COMPUTE}"));
    false
}

/// Returns the `T` of `Tensor<T>`.
fn tensor_element(ty: &Type) -> Option<&Type> {
    match ungrouped(ty) {
        Type::Path(path) => type_argument(&path.path, "Tensor"),
        _ => None,
    }
}

/// The message of a port, as the user wrote it.
fn message(port: &Port) -> &Type {
    match (ungrouped(&port.shown), port.direction) {
        (Type::Reference(reference), _) => &reference.elem,
        (Type::Path(path), Direction::Input { form: Form::Shares, .. }) => {
            type_argument(&path.path, "Shared").unwrap_or(&port.shown)
        }
        _ => &port.shown,
    }
}

/// Writes `impl Compute` for an operator with `map`, with the lifetime `tick`.
///
/// All tokens have spans of the user's tokens: rustc names the macro as the origin of an error otherwise. The names of the
/// variables begin with `__`, as no name of a port does.
pub(super) fn expand_map(operator: &Operator, tick: &Lifetime) -> Option<TokenStream> {
    let map = operator.options.map.as_ref()?;
    let (mut ident, cfgs) = (operator.ident.clone(), &operator.cfgs);
    let (impl_generics, type_generics, where_clause) = operator.generics.split_for_impl();
    // rustc says at the kernel's name that this implementation conflicts with one that the user has written.
    let (span, _) = first_and_last(&map.kernel);
    ident.set_span(span);
    let body = match map.is_sound {
        true => body(operator, map),
        false => quote_spanned!(span=> let _ = (__io, __cx); ::core::result::Result::Ok(())),
    };
    let header = quote_spanned! {span=>
        impl #impl_generics ::streamflow::__private::Compute for #ident #type_generics #where_clause
    };
    let compute = quote_spanned! {span=>
        fn compute<#tick>(
            &mut self,
            __io: <Self as ::streamflow::__private::Operator>::Io<#tick>,
            __cx: &#tick ::streamflow::__private::ExecutionContext,
        ) -> ::streamflow::__private::Result<()> {
            #body
        }
    };
    let items = braced(span, compute);
    Some(quote! {
        #cfgs
        #[allow(clippy::all, clippy::pedantic)]
        #header #items
    })
}

/// A port and the variable of its tensor.
struct Variable<'a> {
    name: Ident,
    port: &'a Port,
}

/// Writes the body of `compute`.
fn body(operator: &Operator, Map { kernel, .. }: &Map) -> TokenStream {
    let (first, last) = first_and_last(kernel);
    let numbered = operator.ports.iter().enumerate().map(|(number, port)| Variable {
        name: format_ident!("__port{number}", span = port.ident.span()),
        port,
    });
    let (outputs, inputs): (Vec<Variable<'_>>, Vec<Variable<'_>>) =
        numbered.partition(|variable| is_output(variable.port));
    let receives = inputs.iter().enumerate().map(|(number, input)| receive(input, number == 0));
    let shapes = inputs.iter().map(|Variable { name, port }| {
        let text = port.ident.unraw().to_string();
        quote_spanned!(name.span()=> (#text, #name.shape()))
    });
    let text = kernel.segments.last().map(|last| last.ident.unraw().to_string());
    let make_shape = quote_spanned! {first=>
        let __shape = ::streamflow::__private::broadcast(#text, &[#(#shapes),*])?;
    };
    let mut taken = inputs.iter().filter(|input| is_taken(input.port));
    let (_, type_generics, _) = operator.generics.split_for_impl();
    let (mut written, mut allocations, mut emits) = (Vec::new(), Vec::new(), Vec::new());
    for Variable { name, port } in &outputs {
        let (span, emit, of_port) = (name.span(), &port.ident, &port.port_type_name);
        let memory = taken.next().map_or(name, |taken| &taken.name);
        if memory == name {
            allocations.push(quote_spanned! {span=>
                let mut #name: <#of_port #type_generics as ::streamflow::__private::OutputPort>::Item =
                    __cx.tensor(__shape, &__stream)?;
            });
        }
        written.push(quote_spanned!(span=> &mut #memory));
        emits.push(quote_spanned!(span=> __io.#emit.emit(#memory)?;));
    }
    let make_shape = (!allocations.is_empty()).then_some(make_shape);
    let read = inputs.iter().filter(|input| !is_taken(input.port)).map(|input| &input.name);
    let fields: &[Field] = match &operator.body {
        Body::State(fields) => fields,
        Body::AsWritten(_) => &[],
    };
    let fields = fields.iter().filter_map(|field| field.ident.as_ref());
    let values = fields.map(|name| {
        let this = Ident::new("self", first);
        quote_spanned!(name.span()=> #this.#name)
    });
    let mut arguments = Group::new(
        Delimiter::Parenthesis,
        quote_spanned!(last=> #(#written,)* #(#read,)* #(#values,)*),
    );
    arguments.set_span(last);
    let (check, checked) = checked(operator, kernel);
    quote_spanned! {first=>
        #(#receives)*
        #make_shape
        #(#allocations)*
        #check
        __stream.map::<#checked>(#arguments)?;
        #(#emits)*
        ::core::result::Result::Ok(())
    }
}

/// The kernel's type, and the constant that checks it. Of a type that is no kernel, rustc reports the constant, and nothing about the
/// arguments: see `checked.rs`. A constant can't mention a parameter of the operator, so a kernel that does stays as it is.
fn checked(operator: &Operator, kernel: &Path) -> (TokenStream, TokenStream) {
    let types = operator.generics.type_params().map(|param| &param.ident);
    let mut params = types.chain(operator.generics.const_params().map(|param| &param.ident));
    if params.any(|param| mentions(kernel.to_token_stream(), param)) {
        return (TokenStream::new(), kernel.to_token_stream());
    }
    let (span, _) = first_and_last(kernel);
    let check = quote_spanned! {span=>
        type __Kernel = #kernel;
        const __IS: ::core::primitive::bool = <__Kernel as ::streamflow::__private::MapKernel>::IS;
    };
    let checked = quote_spanned! {span=>
        <::streamflow::__private::Fits<{ __IS }> as ::streamflow::__private::Checked<__Kernel>>::Type
    };
    (check, checked)
}

/// Receives an input as a tensor, or as a reference to one. The type is written, so that rustc reports another message once.
fn receive(Variable { name, port }: &Variable<'_>, is_first: bool) -> TokenStream {
    let (span, input) = (name.span(), &port.ident);
    let stream = if is_first { quote_spanned!(span=> __stream) } else { quote_spanned!(span=> _) };
    let received = quote_spanned! {span=>
        let (#name, #stream) = __io.#input.receive().receive_cuda_stream(__cx)?;
    };
    let tensor = quote_spanned!(span=> ::streamflow::__private::Tensor<_>);
    let named = match port.direction {
        Direction::Input { form: Form::Takes, .. } => {
            quote_spanned!(span=> let mut #name: #tensor = #name;)
        }
        Direction::Input { form: Form::Shares, .. } => {
            quote_spanned!(span=> let #name: &#tensor = &#name;)
        }
        _ => quote_spanned!(span=> let #name: &#tensor = #name;),
    };
    quote_spanned!(span=> #received #named)
}
