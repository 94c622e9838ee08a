//! Finds the stream that an output sends on by default, and writes it as a state in the output's type.
//!
//! An operator gets its internal stream with device data. So an operator without inputs, or with host data only, has no internal
//! stream. The outputs of such operators have the state `Unset`, with which `emit` of device data without `set_cuda_stream` is a
//! type error.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

use super::model::{Direction, Form, Operator, Port};
use crate::tokens::{Place, mentions, place, ungrouped};

/// The state of an output at the beginning of a tick, as an argument of the type `Out`.
pub(super) enum Initial {
    /// The default, which is not written in the type: the output sends on the internal stream, or sends host data without a
    /// stream.
    Usual,
    /// The operator has no internal stream, so the output has no stream until `set_cuda_stream`.
    Unset,
    /// Only rustc can find out whether the messages are host or device data. The tokens are a type that computes the state.
    LeftToRustc(TokenStream),
}

impl Initial {
    /// Returns the state as the last argument of `Out<…>`, with the comma before it. Returns `None` for the default state.
    pub(super) fn argument(&self) -> Option<TokenStream> {
        match self {
            Self::Usual => None,
            Self::Unset => Some(quote!(, ::streamflow::__private::Unset)),
            Self::LeftToRustc(place) => Some(quote!(, ::streamflow::__private::Unset<#place>)),
        }
    }
}

/// Returns the state that an output of the operator has at the beginning of a tick.
pub(super) fn initial_state(operator: &Operator, output: &Port) -> Initial {
    let mut inputs = operator.inputs().map(|input| (input, place(message(input)))).peekable();
    if inputs.peek().is_none() {
        return Initial::Unset;
    }
    let sent = place(message(output));
    if sent == Some(Place::Host) {
        return Initial::Usual;
    }
    let mut unknown = Vec::new();
    for (input, place) in inputs {
        match place {
            Some(Place::Device) => return Initial::Usual,
            Some(Place::Host) => {}
            None => unknown.push(input),
        }
    }
    // Inputs with types that depend on no parameter come first: as soon as rustc knows one place as `Device`, it knows the place
    // of all.
    unknown.sort_by_key(|input| depends_on_parameter(operator, input));
    let places = unknown.into_iter().map(|input| place_of(operator, input));
    let and = |a, b| quote!(<#a as ::streamflow::__private::Place>::And<#b>);
    match (places.reduce(and), sent) {
        (None, Some(_)) => Initial::Unset,
        (Some(places), Some(_)) => Initial::LeftToRustc(places),
        (places, None) => {
            let places = places.unwrap_or_else(|| quote!(::streamflow::__private::Host));
            let sent = place_of(operator, output);
            Initial::LeftToRustc(quote!(<#sent as ::streamflow::__private::Place>::Behind<#places>))
        }
    }
}

/// Whether the type of an input's message mentions a type parameter, so that its place may be known only for an instance of the
/// operator.
fn depends_on_parameter(operator: &Operator, input: &Port) -> bool {
    let message = input.message.to_token_stream();
    operator.generics.type_params().any(|param| mentions(message.clone(), &param.ident))
}

/// Returns the place of a port's message as a type, `Host` or `Device`. In an operator without generic parameters, the type names
/// the port's own type, as the constants of the operator do, so that a mistake in the message is reported once. Otherwise the
/// type names the message, since the Io may have fewer generic parameters than the port's own type.
fn place_of(operator: &Operator, port: &Port) -> TokenStream {
    let (name, message) = (&port.port_type_name, &port.message);
    let message = match (operator.generics.params.is_empty(), port.direction) {
        (true, Direction::Input { .. }) => {
            quote!(<#name as ::streamflow::__private::InputPort>::Message)
        }
        (true, Direction::Output) => quote!(<#name as ::streamflow::__private::OutputPort>::Item),
        (false, _) => quote!(#message),
    };
    quote!(<#message as ::streamflow::__private::Message>::Place)
}

/// Returns the message of a port, as the user wrote it.
fn message(port: &Port) -> &Type {
    let written = match ungrouped(&port.shown) {
        Type::Reference(reference) => ungrouped(&reference.elem),
        other => other,
    };
    match port.direction {
        Direction::Input { form: Form::Shares, .. } => argument(written).unwrap_or(written),
        _ => written,
    }
}

/// Returns the `T` of `Shared<T>`.
fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    list.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ungrouped(ty)),
        _ => None,
    })
}
