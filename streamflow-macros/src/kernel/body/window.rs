//! The reads of a stencil's windows, and the distances that they name.

use proc_macro2::Span;
use quote::{ToTokens, quote, quote_spanned};
use syn::{BinOp, Expr, ExprLit, ExprMethodCall, Lit, UnOp};

use super::stencil::Stencil;
use super::translate::{Form, Translator, function};
use super::value::{Range, Value, bare};

/// A distance, in both languages, and its least and largest value.
struct Distance {
    value: Value,
    range: Range,
}

/// The largest value that a part of a distance may have.
const MOST: i64 = i32::MAX as i64;

const FORM: &str = "a distance in a window is a number, as `-1`, or the variable of a loop between numbers, as `for d in -1..=1`, or \
                    a sum or product of these; a number above 127 has its type, as `200_i32`";

impl Translator<'_> {
    /// `window.at(-1, 1)`. `None` for another method's call.
    pub(super) fn window_method(&mut self, call: &ExprMethodCall) -> Option<Value> {
        let window = match bare(&call.receiver) {
            Expr::Path(path) => path.path.get_ident().and_then(|ident| {
                self.find(ident).filter(|found| matches!(found.form, Form::Window))
            }),
            _ => None,
        };
        let is_at = call.method == "at";
        let name = call.receiver.to_token_stream();
        let Some(window) = window else {
            if !is_at {
                return None;
            }
            let text = format!(
                "`at` reads a window, and `{name}` is none: declare an argument `{}: Window<f32>` of a kernel with \
                 `#[kernel(stencil(…))]`",
                if matches!(bare(&call.receiver), Expr::Path(_)) {
                    name.to_string()
                } else {
                    "a".to_owned()
                }
            );
            self.errors.at(&call.method, text);
            return Some(Value::wrong());
        };
        if !is_at {
            let text = format!(
                "a window has no method `{}`: read an element by `{name}.at({})`",
                call.method,
                self.zeros()
            );
            self.errors.at(&call.method, text);
            return Some(Value::wrong());
        }
        let Some(stencil) = self.stencil else { return Some(Value::wrong()) };
        let (wanted, given) = (stencil.reach.len(), call.args.len());
        // The reach has no dimensions where it has a mistake, which is reported.
        if wanted == 0 {
            return Some(Value::wrong());
        }
        if wanted != given {
            let text = format!(
                "`at` has a distance for each dimension of `reach`, {wanted}, and this call gives {given}"
            );
            self.errors.push(syn::Error::new(call.method.span(), text));
            return Some(Value::wrong());
        }
        // The last dimensions of four.
        let skipped = 4 - wanted;
        let (mut host, mut cuda) = (quote!(), Vec::new());
        for _ in 0..skipped {
            host.extend(quote!(0,));
            cuda.push("0".to_owned());
        }
        for (dim, distance) in call.args.iter().enumerate() {
            let found = self.distance(distance)?;
            self.check_reach(stencil, dim, distance, found.range);
            let value = found.value.host;
            host.extend(quote!(#value,));
            cuda.push(found.value.cuda);
        }
        let called = function("window_at", call.method.span());
        let receiver = bare(&call.receiver);
        let host = quote_spanned!(call.method.span()=> #called(&#receiver, [#host]));
        Some(Value::new(host, format!("{}.at({})", window.cuda, cuda.join(", "))))
    }

    /// Reports the use of a window as a value. Returns whether the expression is one.
    pub(super) fn is_window_alone(&mut self, expression: &Expr) -> bool {
        let inner = match bare(expression) {
            Expr::Index(index) => bare(&index.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => bare(&unary.expr),
            Expr::Reference(reference) => bare(&reference.expr),
            Expr::Field(field) => bare(&field.base),
            inner => inner,
        };
        let Expr::Path(path) = inner else { return false };
        let Some(ident) = path.path.get_ident() else { return false };
        let is_window = self.find(ident).is_some_and(|found| matches!(found.form, Form::Window));
        if is_window {
            let text =
                format!("`{ident}` is a window: read an element by `{ident}.at({})`", self.zeros());
            self.errors.at(expression, text);
        }
        is_window
    }

    /// A distance of 0 in each dimension, as text.
    fn zeros(&self) -> String {
        vec!["0"; self.stencil.map_or(1, |stencil| stencil.reach.len().max(1))].join(", ")
    }

    fn check_reach(&mut self, stencil: &Stencil, dim: usize, at: &Expr, [low, high]: Range) {
        let (reach, read) = (stencil.reach[dim], low.unsigned_abs().max(high.unsigned_abs()));
        if read > u64::from(reach) {
            let with = stencil.with_reach(dim, read);
            let text =
                format!("the window reaches {reach} here, and this reads {read}: write `{with}`");
            self.errors.at(at, text);
        }
    }

    /// A distance. Reports another expression.
    fn distance(&mut self, expression: &Expr) -> Option<Distance> {
        let found = self.distance_of(expression);
        if found.is_none() {
            self.errors.at(expression, FORM);
        }
        // The call is wrong, but it is a call of a window.
        Some(found.unwrap_or_else(|| Distance { value: Value::wrong(), range: [0, 0] }))
    }

    fn distance_of(&self, expression: &Expr) -> Option<Distance> {
        let distance = match bare(expression) {
            Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => {
                number(literal.base10_parse().ok()?, literal.span())
            }
            Expr::Path(path) => {
                let ident = path.path.get_ident()?;
                let variable = self.find(ident)?;
                let Form::Counter(range) = variable.form else { return None };
                let called = function("distance", ident.span());
                let host = quote_spanned!(ident.span()=> #called(#ident));
                Distance { value: Value::new(host, format!("(int){}", variable.cuda)), range }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                let Distance { value: Value { host, cuda }, range: [low, high] } =
                    self.distance_of(&unary.expr)?;
                Distance {
                    value: Value::new(quote!((-#host)), format!("(-{cuda})")),
                    range: [-high, -low],
                }
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.distance_of(&binary.left)?, self.distance_of(&binary.right)?);
                let range = combined(&binary.op, a.range, b.range)?;
                let (op, x, y) = (&binary.op, a.value.host, b.value.host);
                let sign = op.to_token_stream();
                let cuda = format!("({} {sign} {})", a.value.cuda, b.value.cuda);
                Distance { value: Value::new(quote!((#x #op #y)), cuda), range }
            }
            _ => return None,
        };
        distance.range.iter().all(|end| end.abs() <= MOST).then_some(distance)
    }
}

fn number(value: i64, span: Span) -> Distance {
    let mut literal = proc_macro2::Literal::i64_unsuffixed(value);
    literal.set_span(span);
    Distance {
        value: Value::new(literal.to_token_stream(), value.to_string()),
        range: [value, value],
    }
}

/// The values of `a + b`, `a - b` and `a * b`. `None` for another operator.
fn combined(op: &BinOp, [a, b]: Range, [c, d]: Range) -> Option<Range> {
    Some(match op {
        BinOp::Add(_) => [a + c, b + d],
        BinOp::Sub(_) => [a - d, b - c],
        BinOp::Mul(_) => {
            let all = [a * c, a * d, b * c, b * d];
            [all.into_iter().min()?, all.into_iter().max()?]
        }
        _ => return None,
    })
}

/// The values of a loop's variable, if both ends of its range are numbers.
pub(super) fn counted(start: &Expr, end: &Expr, is_inclusive: bool) -> Option<Range> {
    let number = |end: &Expr| match bare(end) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            literal(&unary.expr).map(|end| -end)
        }
        end => literal(end),
    };
    let (start, end) = (number(start)?, number(end)?);
    // A range without numbers has no reads: any value will do.
    Some([start, if is_inclusive { end } else { end - 1 }.max(start)])
}

/// A number that is the same in each type that rustc may give it: a larger one than `i8` has says its type.
fn literal(expression: &Expr) -> Option<i64> {
    match bare(expression) {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => {
            let is_wide = matches!(literal.suffix(), "i32" | "i64" | "u32" | "u64" | "usize");
            let most = if is_wide { MOST } else { i8::MAX.into() };
            literal.base10_parse().ok().filter(|value| *value <= most)
        }
        _ => None,
    }
}
