//! The stream that an output sends on by default, as a state in the output's type.
//!
//! The internal stream comes with device data, so an operator without inputs, or with host data only, has no internal
//! stream. For outputs of such operators, `Unset` makes `emit` of device data without `set_cuda_stream` a type error.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

use super::model::{Direction, Form, Operator, Port};
use crate::tokens::{Place, mentions, place, ungrouped};

/// The state of an output at the beginning of a tick.
pub(super) enum Initial {
    /// The default, not written in the type: the internal stream, or no stream for an output of host data.
    Usual,
    /// The operator has no internal stream.
    Unset,
    /// rustc finds the places of the messages.
    LeftToRustc(TokenStream),
}

impl Initial {
    /// The last argument of `Out<…>`, with its comma.
    pub(super) fn argument(&self) -> Option<TokenStream> {
        match self {
            Self::Usual => None,
            Self::Unset => Some(quote!(, ::streamflow::__private::Unset)),
            Self::LeftToRustc(place) => Some(quote!(, ::streamflow::__private::Unset<#place>)),
        }
    }
}

/// Returns the state that an output of the operator begins a tick with.
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
    // rustc knows the place of two as soon as the first one is a device.
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

/// Whether only an instance of the operator may have the place of an input's message.
fn depends_on_parameter(operator: &Operator, input: &Port) -> bool {
    let message = input.message.to_token_stream();
    operator.generics.type_params().any(|param| mentions(message.clone(), &param.ident))
}

/// The place of a port's message. The type names the port's own type, as the constants of the operator do, so that a mistake in
/// the message is reported once. The types of a tick may have fewer parameters than that one has.
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

/// The message of a port, as the user wrote it.
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

/// `T` of `Shared<T>`.
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
