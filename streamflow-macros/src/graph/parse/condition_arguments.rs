//! Reads the arguments of the conditions in `#[when(…)]`.

use proc_macro2::Ident;
use syn::{Expr, ExprCall, Lit};

use super::port::can_be_raw;
use crate::diagnostic::{Errors, similar};
use crate::expression::{literal, whole_number};
use crate::graph::conditions::{CatchUp, ConditionKind, Time};

/// The units of durations, in nanoseconds.
const UNITS: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Reads the name of a port. `self` parses as an expression too, but no port can have that name.
pub(super) fn read_port(value: &Expr) -> Option<Ident> {
    let Expr::Path(path) = value else { return None };
    path.path.get_ident().filter(|name| can_be_raw(name)).cloned()
}

/// Reads a call `name(arguments)`, and returns its name and its arguments.
pub(super) fn read_call(value: &Expr) -> Option<(String, Vec<&Expr>)> {
    let Expr::Call(ExprCall { func, args, .. }) = value else { return None };
    Some((read_port(func)?.to_string(), args.iter().collect()))
}

/// Reads what `periodic` does with missed ticks: `skip`, `catch_up(at_most)` or `spaced`.
pub(super) fn read_catch_up(value: &Expr) -> Option<CatchUp> {
    if let Some(name) = read_port(value) {
        return match name.to_string().as_str() {
            "skip" => Some(CatchUp::Skip),
            "spaced" => Some(CatchUp::Spaced),
            _ => None,
        };
    }
    match &read_call(value)?.1[..] {
        [most] if read_call(value)?.0 == "catch_up" => Some(CatchUp::AtMost((*most).clone())),
        _ => None,
    }
}

/// Returns an expression for a number. Reports a literal 0 and returns `None` for it. `of` is the counted thing, for the error.
pub(super) fn read_number(value: &Expr, of: &str, errors: &mut Errors) -> Option<Expr> {
    if whole_number(value) == Some(0) {
        errors.at(
            value,
            format!("a condition that waits for 0 {of}s always holds; wait for at least 1 {of}"),
        );
        return None;
    }
    Some(value.clone())
}

/// Returns the number of ticks in `count(n)`. Reports a literal 0 and returns `None` for it.
pub(super) fn read_count(value: &Expr, errors: &mut Errors) -> Option<Expr> {
    if whole_number(value) == Some(0) {
        errors.at(value, "with a count of 0 the node never runs; count at least 1");
        return None;
    }
    Some(value.clone())
}

/// Reads a duration: a literal as `10ms`, or any other expression. If there is a text `if_zero`, a literal 0 is reported with it.
pub(super) fn read_duration(
    value: &Expr,
    if_zero: Option<&str>,
    errors: &mut Errors,
) -> Option<Time> {
    let (number, suffix) = match literal(value) {
        Some(Lit::Int(int)) => (int.base10_digits().to_owned(), int.suffix()),
        Some(Lit::Float(float)) => (float.base10_digits().to_owned(), float.suffix()),
        _ => return Some(Time::Value(value.clone())),
    };
    let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == suffix) else {
        let known: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
        let hint = match suffix {
            "" => String::new(),
            _ => match similar(suffix, &known) {
                Some(unit) => format!(" did you mean `{number}{unit}`?"),
                None => format!(" `{suffix}` is no unit;"),
            },
        };
        let text = format!(
            "a duration has a unit, as `{number}ms`, or is a `Duration`;{hint} the units are `ns`, `us`, `ms` and `s`"
        );
        errors.at(value, text);
        return None;
    };
    let nanoseconds = number.parse::<f64>().ok().map(|number| (number * unit).round());
    let Some(nanoseconds) = nanoseconds.filter(|value| (0.0..9e18).contains(value)) else {
        errors.at(value, "this duration is too long; it is at most 9000000000s");
        return None;
    };
    if let Some(text) = if_zero.filter(|_| nanoseconds < 1.0) {
        errors.at(value, text);
        return None;
    }
    Some(Time::Literal(nanoseconds as u64))
}

/// Reads a list of inputs, `[a, b]`. Reports an input that is listed twice.
pub(super) fn read_inputs(inputs: &Expr, errors: &mut Errors) -> Option<Vec<Ident>> {
    let Expr::Array(array) = inputs else { return None };
    let inputs: Vec<Ident> = array.elems.iter().map(read_port).collect::<Option<_>>()?;
    for (index, input) in inputs.iter().enumerate() {
        if inputs[..index].contains(input) {
            errors.at(input, format!("input `{input}` is given twice; name each input once"));
            return None;
        }
    }
    Some(inputs)
}

/// Reads the arguments of `multi_message`: a list of inputs `[a, b]`, and `sum(n)` or `each(n, m)`.
pub(super) fn read_multi_message(
    inputs: &Expr,
    need: &Expr,
    errors: &mut Errors,
) -> Option<ConditionKind> {
    let array = inputs;
    let inputs = read_inputs(array, errors)?;
    if inputs.is_empty() {
        errors.at(array, "`multi_message` names at least one input");
        return None;
    }
    let (name, numbers) = read_call(need)?;
    let each = numbers.iter().map(|number| read_number(number, "message", errors));
    let each: Vec<Expr> = each.collect::<Option<_>>()?;
    match (name.as_str(), &each[..]) {
        ("sum", [sum]) => Some(ConditionKind::Sum { inputs, sum: sum.clone() }),
        ("each", each) if each.len() == inputs.len() => {
            Some(ConditionKind::Each { inputs, each: each.to_vec() })
        }
        ("each", each) => {
            let (numbers, inputs) = (each.len(), inputs.len());
            let text = format!(
                "`each` has {numbers} numbers for {inputs} inputs; give one number for each"
            );
            errors.at(need, text);
            None
        }
        _ => None,
    }
}
