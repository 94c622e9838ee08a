//! Reads the conditions of a node in `#[when(…)]`. `condition_arguments.rs` reads the arguments of each condition.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprCall, Meta, Token};

use super::condition_arguments::{
    read_call, read_catch_up, read_count, read_duration, read_inputs, read_multi_message,
    read_number, read_port,
};
use crate::diagnostic::{Errors, similar};
use crate::graph::conditions::{CatchUp, Condition, ConditionKind};
use crate::graph::parts::NodeAttributes;
use crate::tokens::split;

const NO_INTERVAL: &str =
    "the interval is 0, so this would always hold; give it a longer one, as `50ms`";
const NO_TIMEOUT: &str = "the timeout is 0, so this would hold for each message that waits; give it a longer one, as `50ms`, \
                          or write `message_available(input, 1)`";

/// The names of all conditions, each with a text about how the condition is written.
pub(in crate::graph) const FORMS: &[(&str, &str)] = &[
    ("count", "takes one expression, the number of ticks: `count(n)`"),
    (
        "periodic",
        "takes an interval, and perhaps what it does with missed ticks: `periodic(50ms)`, \
         `periodic(50ms, skip)`, `periodic(50ms, catch_up(at_most))`, `periodic(50ms, spaced)`",
    ),
    (
        "message_available",
        "takes the name of one input of this node, and a number: `message_available(input, n)`",
    ),
    (
        "multi_message",
        "takes inputs of this node, and how many messages: `multi_message([a, b], sum(n))`, \
         `multi_message([a, b], each(n, m))`",
    ),
    (
        "same_sequence",
        "takes nothing, or inputs of this node, two or more: `same_sequence`, `same_sequence([a, b])`",
    ),
    (
        "expiring",
        "takes the name of one input of this node, and a duration: `expiring(input, 10ms)`",
    ),
    ("room", "takes the name of one output of this node: `room(output)`"),
    (
        "memory_available",
        "takes an allocator, and how much of it: `memory_available(allocator, bytes(n))`, \
         `memory_available(allocator, blocks(n))`",
    ),
    ("boolean", "takes a `BooleanHandle`: `boolean(handle)`"),
    ("asynchronous", "takes an `AsyncHandle`: `asynchronous(handle)`"),
    ("stream_done", "takes the name of one input of this node: `stream_done(input)`"),
    ("host_done", "takes the name of one input of this node: `host_done(input)`"),
    ("condition", "takes a value whose type implements `Condition`: `condition(value)`"),
    ("any", "takes two conditions or more, of which one is enough: `any(a, b)`"),
];

/// Whether `name` is the name of a condition.
pub(super) fn is_condition(name: &str) -> bool {
    FORMS.iter().any(|(known, _)| *known == name)
}

fn conditions() -> String {
    let names: Vec<_> = FORMS.iter().map(|(name, _)| format!("`{name}`")).collect();
    let (last, others) = names
        .split_last()
        .map_or((String::new(), String::new()), |(last, rest)| (last.clone(), rest.join(", ")));
    format!("the conditions are {others} and {last}")
}

/// Reads `#[when(condition, …)]`, and adds the conditions to the node.
pub(super) fn read_conditions(
    attribute: &Attribute,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) {
    let list = match &attribute.meta {
        Meta::List(list) => split(list.tokens.clone()),
        _ => Vec::new(),
    };
    if list.is_empty() {
        let text = format!("`#[when]` takes conditions in parentheses; {}", conditions());
        errors.at(attribute, text);
        return;
    }
    for written in list {
        if let Some(condition) = read_condition(written, false, errors) {
            add(condition, node, errors);
        }
    }
}

/// Adds a condition to the node. Reports a second `periodic` or `count` instead.
fn add(condition: Condition, node: &mut NodeAttributes, errors: &mut Errors) {
    let is_periodic =
        |condition: &&Condition| matches!(condition.kind, ConditionKind::Periodic { .. });
    let has = node.conditions.iter().flat_map(Condition::each).find(is_periodic).is_some();
    let second = condition.each().into_iter().filter(is_periodic).nth(usize::from(!has));
    if let Some(second) = second {
        errors.at(second, "`periodic` is given twice; a node has one interval");
        return;
    }
    if let ConditionKind::Any(any) = &condition.kind {
        for (index, one) in any.iter().enumerate() {
            if any[..index].iter().any(|other| other.key() == one.key()) {
                errors.at(one, format!("`{}` is given twice; one is enough", one.key()));
                return;
            }
        }
    }
    match condition.kind {
        ConditionKind::Count(_) if node.count.is_some() => {
            errors.at(condition, "`count` is given twice; a node has one number of ticks");
        }
        ConditionKind::Count(number) => node.count = Some(number),
        _ if node.conditions.iter().any(|other| other.key() == condition.key()) => {
            let text = format!("`{}` is given twice; one is enough", condition.key());
            errors.at(condition, text);
        }
        _ => node.conditions.push(condition),
    }
}

/// Reads one condition. Returns `None` after reporting a mistake.
pub(in crate::graph) fn read_condition(
    written: TokenStream,
    in_any: bool,
    errors: &mut Errors,
) -> Option<Condition> {
    let call = match syn::parse2::<Expr>(written.clone()) {
        Ok(call) => call,
        Err(_) => {
            // The tokens before the mistake may be a condition.
            let first = |input: syn::parse::ParseStream<'_>| {
                let first = input.parse::<Expr>()?;
                Ok((first, input.parse::<TokenStream>()?))
            };
            match first.parse2(written.clone()) {
                Ok((first, rest)) => {
                    errors.at(rest, "expected `,` between conditions");
                    first
                }
                Err(error) => {
                    // The mistake is inside of the condition's parentheses, so the error is how that condition is written.
                    match form_of(&written) {
                        Some((name, form)) => errors.at(&written, format!("`{name}` {form}")),
                        None => errors.push_syntax_error(error, written),
                    }
                    return None;
                }
            }
        }
    };
    let (name, args) = match &call {
        Expr::Path(path) => (path.path.get_ident(), None),
        Expr::Call(ExprCall { func, args, .. }) => match &**func {
            Expr::Path(path) => (path.path.get_ident(), Some(args)),
            _ => (None, None),
        },
        _ => (None, None),
    };
    let Some(name) = name else {
        errors.at(&call, format!("this is no condition; {}", conditions()));
        return None;
    };
    let text = name.unraw().to_string();
    let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == text) else {
        let known: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
        let hint = match text.as_str() {
            "stream_ready" => Some("stream_done"),
            written => similar(written, &known),
        };
        let hint = hint.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
        errors.at(name, format!("unknown condition `{text}`; {hint}{}", conditions()));
        return None;
    };
    let args = args.cloned().unwrap_or_default();
    if text == "any" {
        return read_any(call.to_token_stream(), args, in_any, errors);
    }
    if text == "same_sequence" && in_any {
        errors.at(
            &call,
            "`same_sequence` in `any` would drop messages also where another condition is enough; write it beside `any`",
        );
        return None;
    }
    let before = errors.len();
    let Some(kind) = read_kind(&text, &args, errors) else {
        if errors.len() == before {
            errors.at(&call, format!("`{text}` {form}"));
        }
        return None;
    };
    Some(Condition { written: call.to_token_stream(), kind })
}

/// Returns the entry of `FORMS` for the condition that the first token names.
fn form_of(written: &TokenStream) -> Option<&'static (&'static str, &'static str)> {
    let first = written.clone().into_iter().next()?.to_string();
    FORMS.iter().find(|(name, _)| *name == first)
}

/// Reads `any(a, b)`. An `any` within an `any` is reported.
fn read_any(
    written: TokenStream,
    args: Punctuated<Expr, Token![,]>,
    in_any: bool,
    errors: &mut Errors,
) -> Option<Condition> {
    if in_any {
        errors.at(written, "`any` in `any` is the same as one `any`; list its conditions there");
        return None;
    }
    let number = args.len();
    let read = |arg: Expr| read_condition(arg.to_token_stream(), true, errors);
    let any: Vec<Condition> = args.into_iter().filter_map(read).collect();
    if number < 2 {
        errors
            .at(written, "`any` takes two conditions or more, of which one is enough: `any(a, b)`");
        return None;
    }
    (any.len() == number).then(|| Condition { written, kind: ConditionKind::Any(any) })
}

/// Reads the kind of a condition from its name and arguments. Returns `None` for arguments of another form, and after reporting a
/// mistake.
fn read_kind(
    name: &str,
    args: &Punctuated<Expr, Token![,]>,
    errors: &mut Errors,
) -> Option<ConditionKind> {
    let args: Vec<&Expr> = args.iter().collect();
    Some(match (name, &args[..]) {
        ("count", [number]) => ConditionKind::Count(read_count(number, errors)?),
        ("periodic", [interval]) => {
            let interval = read_duration(interval, Some(NO_INTERVAL), errors)?;
            ConditionKind::Periodic { interval, catch_up: CatchUp::Skip }
        }
        ("periodic", [interval, policy]) => {
            let catch_up = read_catch_up(policy)?;
            let interval = read_duration(interval, Some(NO_INTERVAL), errors)?;
            ConditionKind::Periodic { interval, catch_up }
        }
        ("message_available", [input, messages]) => {
            let input = read_port(input)?;
            let messages = read_number(messages, "message", errors)?;
            ConditionKind::MessageAvailable { input, messages }
        }
        ("multi_message", [inputs, need]) => read_multi_message(inputs, need, errors)?,
        ("same_sequence", []) => ConditionKind::SameSequence(Vec::new()),
        ("same_sequence", [inputs]) => {
            let inputs = read_inputs(inputs, errors)?;
            if inputs.len() < 2 {
                return None;
            }
            ConditionKind::SameSequence(inputs)
        }
        ("expiring", [input, timeout]) => {
            let input = read_port(input)?;
            let timeout = read_duration(timeout, Some(NO_TIMEOUT), errors)?;
            ConditionKind::Expiring { input, timeout }
        }
        ("room", [output]) => ConditionKind::Room(read_port(output)?),
        ("memory_available", [allocator, amount]) => {
            let allocator = (*allocator).clone();
            let (unit, amount) = read_call(amount)?;
            match (unit.as_str(), &amount[..]) {
                ("bytes", [bytes]) => {
                    let bytes = read_number(bytes, "byte", errors)?;
                    ConditionKind::Bytes { allocator, bytes }
                }
                ("blocks", [blocks]) => {
                    let blocks = read_number(blocks, "block", errors)?;
                    ConditionKind::Blocks { allocator, blocks }
                }
                _ => return None,
            }
        }
        ("boolean", [handle]) => ConditionKind::Boolean((*handle).clone()),
        ("asynchronous", [handle]) => ConditionKind::Asynchronous((*handle).clone()),
        ("stream_done", [input]) => ConditionKind::StreamDone(read_port(input)?),
        ("host_done", [input]) => ConditionKind::HostDone(read_port(input)?),
        ("condition", [value]) => ConditionKind::Own((*value).clone()),
        _ => return None,
    })
}
