//! Checks that a type can be an operator, and finds its ports.

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Fields, GenericParam, Generics, Ident, Type,
    TypeParam, TypeParamBound, WherePredicate,
};

use super::branches::check_branches;
use super::fields::{StateAttribute, sort_fields};
use super::map::check_map;
use super::model::{Body, Direction, Expandable, Operator, Options, Param, Port};
use super::params::setter_name;
use crate::diagnostic::Errors;
use crate::tokens::{STANDARD_TRAITS, element, is_message, mentions};

/// Checks the item that `#[operator]` stands on, and builds the `Operator` from it. Mistakes go to `errors`; the `Operator` has
/// all parts of the item that are usable in spite of them.
pub(super) fn check_operator(
    mut options: Options,
    input: DeriveInput,
    errors: &mut Errors,
) -> Operator {
    let mut input = input;
    remove_repeated(&mut input.attrs, errors);
    let whole = without_own_attributes(&input).to_token_stream();
    let DeriveInput { attrs, vis, ident, generics, data } = input;
    let mut expandable = reject_lifetimes(&generics, errors);
    let (mut ports, mut params, mut made) = (Vec::new(), Vec::new(), Vec::new());
    let spans = match &data {
        Data::Struct(DataStruct { struct_token, fields: Fields::Named(fields), .. }) => {
            [struct_token.span, fields.brace_token.span.join()]
        }
        _ => [ident.span(); 2],
    };
    let body = match data {
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => {
            let sorted = sort_fields(&ident, fields.named, errors);
            let state = sorted.state;
            (ports, params, made) = (sorted.ports, sorted.params, sorted.made);
            reject_made_without_new(&made, &options, errors);
            if !check_branches(&ident, &ports, &mut options, errors) {
                expandable = Expandable::Type;
            }
            check_map(&mut options, &ident, (&ports, &state, &made), errors);
            check_param_names(&mut params, errors);
            if ports.is_empty() {
                errors.at(
                    &ident,
                    format!(
                        "`{ident}` has no port; mark at least one field, `#[input] image: \
                         &Tensor<f32>` or `#[output] image: Tensor<f32>`"
                    ),
                );
            }
            Body::State(state)
        }
        Data::Struct(DataStruct { fields: Fields::Unit, .. }) => {
            errors.at(
                &ident,
                format!(
                    "`{ident}` has no port; write `struct {ident} {{ #[input] image: \
                     &Tensor<f32> }}`"
                ),
            );
            Body::State(Vec::new())
        }
        Data::Struct(DataStruct { fields: Fields::Unnamed(fields), .. }) => {
            errors.at(
                fields,
                "an operator's ports are named fields; write `{ … }` with a name for each",
            );
            Body::AsWritten(whole)
        }
        Data::Enum(data) => {
            errors.at(
                data.enum_token,
                "an operator is a struct with ports; make the enum one of its fields",
            );
            Body::AsWritten(whole)
        }
        Data::Union(data) => {
            errors.at(data.union_token, "an operator is a struct with ports, never a union");
            Body::AsWritten(whole)
        }
    };
    if !are_bounded(&generics, &ports, errors) {
        expandable = Expandable::Type;
    }
    if options.flush {
        check_flush(&ident, &ports, errors);
    }
    for stream in &options.streams {
        if ports.iter().any(|port| port.ident.unraw() == stream.unraw()) {
            errors.at(
                stream,
                format!(
                    "`{stream}` is a port and a stream; both are fields of `{}Io`, so rename one",
                    ident.unraw()
                ),
            );
        }
    }
    let streams = options
        .streams
        .iter()
        .filter(|stream| !ports.iter().any(|port| port.ident.unraw() == stream.unraw()));
    let options = Options { streams: streams.cloned().collect(), ..options };
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    Operator {
        cfgs: quote!(#(#cfgs)*),
        options,
        ident,
        spans,
        visibility: vis,
        attrs,
        generics,
        body,
        ports,
        params,
        made: made.into_iter().map(|attribute| attribute.field).collect(),
        expandable,
        state_checks: Vec::new(),
    }
}

/// Reports the option `flush` at an operator without inputs: the runtime calls `flush` when the inputs have ended, so it would
/// never call it there. An operator with `flush` needs no output: it may send to another thread, a file or a program.
fn check_flush(ident: &Ident, ports: &[Port], errors: &mut Errors) {
    let has = |is_output: bool| {
        ports.iter().any(|port| (port.direction == Direction::Output) == is_output)
    };
    // An operator without any port has been reported already, by `check_operator`.
    if has(true) && !has(false) {
        errors.at(
            ident,
            format!(
                "`flush` is called when the inputs have ended, and `{ident}` has none; remove `flush`: an operator \
                 without inputs sends until its `count` is reached, or until it calls `cx.finish()`"
            ),
        );
    }
}

/// Reports and removes each parameter whose name is also the name of another parameter's setter, as `set_gain` beside `gain`. The
/// handle would have two methods with that name.
fn check_param_names(params: &mut Vec<Param>, errors: &mut Errors) {
    let setters: Vec<(Ident, Ident)> =
        params.iter().map(|param| (setter_name(param), param.ident.clone())).collect();
    params.retain(|param| {
        let name = param.ident.unraw();
        let Some((_, other)) = setters.iter().find(|(setter, _)| *setter == name) else {
            return true;
        };
        let text = format!(
            "parameter `{name}` has the name of the method that sets `{other}`; give one another name"
        );
        errors.at(&param.ident, text);
        false
    });
}

/// Reports each `#[state]` in an operator with `no_new`: `#[state]` is an instruction to the generated `new`, and `no_new` turns
/// `new` off.
fn reject_made_without_new(made: &[StateAttribute], options: &Options, errors: &mut Errors) {
    if options.no_new {
        for attribute in made {
            let text = "`#[state]` says that `new` makes this field, and with `no_new` there is no such `new`; remove one of \
                        them";
            errors.at(&attribute.written, text);
        }
    }
}

/// Reports and removes a second `#[operator]` on the same item. That one would be expanded on the struct without its ports, and
/// would report that the struct has none.
fn remove_repeated(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    attrs.retain(|attr| {
        let path = attr.path().to_token_stream().to_string().replace(' ', "");
        let again =
            ["operator", "streamflow::operator", "::streamflow::operator"].contains(&path.as_str());
        if again {
            errors.at(attr, "`#[operator]` is given twice; remove one");
        }
        !again
    });
}

/// Returns the item without `#[input]`, `#[output]`, `#[param]` and `#[state]`, which rustc does not know. An enum, a union and a
/// tuple struct are left in the program in this form, after the error that reports them.
fn without_own_attributes(input: &DeriveInput) -> DeriveInput {
    let mut input = input.clone();
    let variants = match &mut input.data {
        Data::Struct(data) => vec![&mut data.fields],
        Data::Enum(data) => data.variants.iter_mut().map(|variant| &mut variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    for field in variants.into_iter().flatten() {
        let is_ours = |attr: &Attribute| {
            ["input", "output", "param", "state"].iter().any(|name| attr.path().is_ident(name))
        };
        field.attrs.retain(|attr| !is_ours(attr));
    }
    input
}

/// Reports lifetime parameters: an operator is `'static`. Returns `Expandable::Type` if there is one.
fn reject_lifetimes(generics: &Generics, errors: &mut Errors) -> Expandable {
    let mut expandable = Expandable::Operator;
    for param in &generics.params {
        if let GenericParam::Lifetime(param) = param {
            expandable = Expandable::Type;
            errors.at(
                param,
                format!(
                    "an operator has no lifetime parameters: it lives as long as its graph, and \
                     owns its state; remove `{}`",
                    param.lifetime
                ),
            );
        }
    }
    expandable
}

/// Reports type parameters that lack a bound which an operator needs, and returns whether there are none. Without this check,
/// rustc would report each missing bound many times.
fn are_bounded(generics: &Generics, ports: &[Port], errors: &mut Errors) -> bool {
    let mut all = true;
    for param in generics.type_params() {
        let name = &param.ident;
        let (mut named, mut sent, mut lives) = (false, false, false);
        let mut only_element = true;
        for bound in list_bounds(param, generics) {
            match bound {
                TypeParamBound::Trait(bound) => {
                    let last = bound.path.segments.last().map(|last| last.ident.to_string());
                    sent |= last.as_deref() == Some("Send");
                    only_element &= last
                        .as_deref()
                        .is_none_or(|last| last == "Element" || STANDARD_TRAITS.contains(&last));
                    named |= last.is_some_and(|last| !STANDARD_TRAITS.contains(&last.as_str()));
                }
                TypeParamBound::Lifetime(lifetime) => lives |= lifetime.ident == "static",
                _ => {}
            }
        }
        let is_param = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(name));
        let as_message = ports.iter().any(|port| is_param(&port.message));
        let as_element = ports
            .iter()
            .any(|port| is_message(&port.message) && element(&port.message).is_some_and(is_param));
        // Any trait that the macro doesn't know may have all the needed bounds as supertraits.
        let suffices = match (as_message, as_element) {
            (true, _) => named && !only_element,
            (_, true) => named,
            _ => named || (sent && lives),
        };
        if suffices {
            continue;
        }
        all = false;
        let in_port = ports.iter().any(|port| mentions(port.written.to_token_stream(), name));
        errors.at(
            param,
            if in_port {
                format!(
                    "ports carry `{name}`, so it needs a bound: `{name}: Element` in a `Tensor`, \
                     `{name}: Message` as a message of its own"
                )
            } else {
                format!(
                    "an operator lives as long as its graph and moves between threads, so `{name}` \
                     needs the bound `{name}: Send + 'static`"
                )
            },
        );
    }
    all
}

/// Returns the bounds of a type parameter: those written at the parameter, and those in the where clause.
fn list_bounds<'a>(
    param: &'a TypeParam,
    generics: &'a Generics,
) -> impl Iterator<Item = &'a TypeParamBound> {
    let clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_clause = clause.filter_map(|predicate| match predicate {
        WherePredicate::Type(of) => match &of.bounded_ty {
            Type::Path(path) if path.path.is_ident(&param.ident) => Some(&of.bounds),
            _ => None,
        },
        _ => None,
    });
    [&param.bounds].into_iter().chain(of_clause).flatten()
}
