//! Reads the attribute of a parameter: `#[param]`, or `#[param(range = 0.0..=1.0)]`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Expr, ExprLit, ExprRange, ExprUnary, Field, Lit, Meta, RangeLimits, Token, Type,
    UnOp,
};

use super::model::{Param, Range};
use crate::diagnostic::{Errors, similar};
use crate::expression::literal;
use crate::tokens::{spelled, split};

const FORMS: &str = "write `#[param]`, or `#[param(range = 0.0..=1.0)]`";
const RANGE_FORMS: &str =
    "a range is written `0.0..=1.0` or `0..10`; without a begin or an end it is open there";

/// Removes `#[param]` from the field and returns the parameter, or `None` if the field has no `#[param]`.
pub(super) fn take_param(field: &mut Field, errors: &mut Errors) -> Option<Param> {
    let ident = field.ident.clone()?;
    let mut found = None;
    field.attrs.retain(|attr| {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else { return true };
        if name != "param" {
            if !is_misspelled(&name) {
                return true;
            }
            errors.at(attr, format!("unknown attribute `{name}`; did you mean `#[param]`?"));
        }
        if found.is_some() {
            errors.at(attr, "`#[param]` is given twice; remove one");
        } else {
            found = Some(read_options(attr, errors));
        }
        false
    });
    let range = found?;
    let range = range.filter(|range| ends_may_fit(range, &field.ty, errors));
    let is_doc = |attr: &&Attribute| attr.path().is_ident("doc");
    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
    let docs = field.attrs.iter().filter(is_doc).cloned().collect();
    let cfgs = field.attrs.iter().filter(is_cfg).cloned().collect();
    Some(Param { ident, ty: field.ty.clone(), docs, cfgs, range })
}

fn is_misspelled(name: &str) -> bool {
    matches!(name, "params" | "parameter" | "parameters") || similar(name, &["param"]).is_some()
}

/// Returns the range in the options of `#[param(…)]`, or `None` if there is none.
fn read_options(attr: &Attribute, errors: &mut Errors) -> Option<Range> {
    let tokens = match &attr.meta {
        Meta::Path(_) => return None,
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(_) => {
            errors.at(attr, FORMS);
            return None;
        }
    };
    let mut range = None;
    let mut unknown = false;
    for option in split(tokens) {
        let whole = option.clone();
        let mut one = |input: ParseStream<'_>| {
            let name = input.call(Ident::parse_any)?;
            if name != "range" {
                let hint = similar(&name.to_string(), &["range"]);
                let hint = hint.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
                // Of several unknown options, as `min = 0, max = 9`, only the first is reported: its error says what to write
                // instead.
                if !unknown {
                    errors.at(&name, format!("unknown option `{name}`; {hint}{FORMS}"));
                }
                unknown = true;
                input.parse::<TokenStream>()?;
                return Ok(());
            }
            if range.is_some() {
                errors.at(&name, "`range` is given twice; a parameter has one");
                input.parse::<TokenStream>()?;
                return Ok(());
            }
            input.parse::<Token![=]>()?;
            let value: Expr = input.parse()?;
            range = read_range(value, errors);
            Ok(())
        };
        if Parser::parse2(&mut one, option).is_err() {
            errors.at(whole, format!("this is no option of a parameter; {FORMS}"));
        }
    }
    range
}

fn read_range(value: Expr, errors: &mut Errors) -> Option<Range> {
    match value {
        Expr::Paren(inside) => read_range(*inside.expr, errors),
        Expr::Group(inside) => read_range(*inside.expr, errors),
        Expr::Range(ExprRange { start: None, end: None, .. }) => {
            errors.at(value, "this range limits nothing; remove it, or write its begin or its end");
            None
        }
        Expr::Range(range) => {
            let with_end = matches!(range.limits, RangeLimits::Closed(_));
            if let (Some(begin), Some(end)) = (&range.start, &range.end)
                && let (Some(first), Some(last)) = (number(begin), number(end))
                && (first > last || (first == last && !with_end))
            {
                errors.at(&range, "no value is in this range; write the lower end first");
                return None;
            }
            Some(Range { begin: range.start, end: range.end, with_end })
        }
        other => {
            errors.at(other, RANGE_FORMS);
            None
        }
    }
}

/// Reports an end of the range that is a literal of another type than the parameter, and returns whether there is none. rustc
/// would report the same mistake at several uses of the end.
fn ends_may_fit(range: &Range, ty: &Type, errors: &mut Errors) -> bool {
    let Range { begin, end, .. } = range;
    let is_one_of = |names: &[&str]| matches!(ty, Type::Path(path) if names.iter().any(|name| path.path.is_ident(name)));
    let literals: Vec<&Lit> =
        [begin, end].into_iter().flatten().filter_map(|end| unsigned(end)).collect();
    let has = |wanted: fn(&Lit) -> bool| literals.iter().any(|literal| wanted(literal));
    let (has_int, has_float) =
        (has(|end| matches!(end, Lit::Int(_))), has(|end| matches!(end, Lit::Float(_))));
    let name = spelled(ty);
    let text = if is_one_of(&["String"]) && !literals.is_empty() {
        "the ends of this range are `String`s; write them as `\"a\".to_owned()..`".to_owned()
    } else if is_one_of(&["bool"]) && (has_int || has_float) {
        "a range is of numbers, and `bool` is none; remove the range".to_owned()
    } else if is_one_of(&["f32", "f64"]) && has_int {
        format!(
            "the ends of this range are of type `{name}`; write them with a point, as `0.0..=1.0`"
        )
    } else if is_one_of(INTEGERS) && has_float {
        format!(
            "the ends of this range are of type `{name}`; write them without a point, as `0..=10`"
        )
    } else {
        return true;
    };
    errors.at(quote!(#begin #end), text);
    false
}

const INTEGERS: &[&str] =
    &["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "u128", "isize", "usize"];

/// Returns the literal of a number, without its sign if it has one.
fn unsigned(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => unsigned(expr),
        other => literal(other),
    }
}

/// Returns the value of a literal number, with its sign. Returns `None` for any other expression.
fn number(value: &Expr) -> Option<f64> {
    match value {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        Expr::Lit(ExprLit { lit: Lit::Float(literal), .. }) => literal.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
        _ => None,
    }
}
