//! Branches and loops.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Block, Expr, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprRange, ExprWhile, Label, Lifetime,
    Pat, RangeLimits,
};

use super::translate::{Form, Translator, typed};
use super::value::{Value, Witness, bare, key};
use super::window::counted;

/// The bounds of a loop over a range.
struct Bounds<'a> {
    start: &'a Expr,
    end: &'a Expr,
    is_inclusive: bool,
    is_reversed: bool,
}

impl Translator<'_> {
    /// An expression that is a statement by itself. `None` for another one.
    pub(super) fn control(&mut self, expression: &Expr) -> Option<TokenStream> {
        Some(match expression {
            Expr::If(whole) => self.if_into(whole, None),
            Expr::Match(whole) => self.match_into(whole, None),
            Expr::Block(whole) if whole.label.is_none() => self.block(&whole.block, None),
            Expr::ForLoop(whole) => self.for_loop(whole),
            Expr::While(whole) => self.while_loop(whole),
            Expr::Loop(whole) => self.endless_loop(whole),
            Expr::Break(whole) => {
                if let Some(value) = &whole.expr {
                    self.errors.at(
                        value,
                        "no `break` with a value in a kernel: assign the value before it",
                    );
                }
                self.jump("break", whole.label.as_ref(), expression)
            }
            Expr::Continue(whole) => self.jump("continue", whole.label.as_ref(), expression),
            _ => return None,
        })
    }

    /// An `if`. With `into`, its value is assigned to that variable of CUDA.
    pub(super) fn if_into(&mut self, whole: &ExprIf, into: Option<&str>) -> TokenStream {
        let Value { host: condition, cuda } = self.expression(&whole.cond);
        self.line(format!("if ({cuda})"));
        let then = self.block(&whole.then_branch, into);
        let otherwise = whole.else_branch.as_ref().map(|(_, otherwise)| {
            self.line("else {");
            let host = match &**otherwise {
                Expr::If(next) => self.if_into(next, into),
                Expr::Block(block) => self.block(&block.block, into),
                other => {
                    self.errors.at(other, "expected a block");
                    TokenStream::new()
                }
            };
            self.line("}");
            quote!(else #host)
        });
        quote!(if #condition #then #otherwise)
    }

    /// A `match` over numbers or `bool`s.
    pub(super) fn match_into(&mut self, whole: &ExprMatch, into: Option<&str>) -> TokenStream {
        let Value { host: scrutinee, cuda } = self.expression(&whole.expr);
        let (witness, number) = self.witness(Witness::Type);
        let name = self.temporary();
        self.line("{");
        self.line(format!("const W{number} {name} = {cuda};"));
        let (mut arms, mut open_braces) = (TokenStream::new(), 0);
        for arm in &whole.arms {
            let (written, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                pattern => (pattern, None),
            };
            self.open();
            let Some(mut condition) = self.pattern(written, number, &name, true) else {
                self.close();
                return TokenStream::new();
            };
            let mut host_pattern = quote!(#written);
            if let Pat::Ident(bound) = written
                && !is_constant(&bound.ident)
            {
                // The rest of the chain is within the braces, since the guard may name the variable.
                let cuda = self.declare(&bound.ident);
                let word = if bound.mutability.is_some() { "" } else { "const " };
                self.line(format!("{{ {word}W{number} {cuda} = {name};"));
                open_braces += 1;
                // With `@`, rustc reports a name that is a constant's.
                let (mutability, ident) = (&bound.mutability, &bound.ident);
                host_pattern = quote!(#mutability #ident @ _);
            }
            let guard = guard.map(|guard| {
                let before = self.lines.len();
                let Value { host, cuda } = self.expression(guard);
                if self.lines.len() > before {
                    let text =
                        "a guard in a kernel has no blocks: compute its value before the `match`";
                    self.errors.at(guard, text);
                }
                condition = format!("({condition}) && ({cuda})");
                quote!(if #host)
            });
            self.line(format!("if ({condition}) {{"));
            let body = match (into, &*arm.body) {
                (into, Expr::Block(block)) if block.label.is_none() => {
                    self.block(&block.block, into)
                }
                (Some(into), body) => {
                    let Value { host, cuda } = self.expression(body);
                    self.line(format!("{into} = {cuda};"));
                    host
                }
                (None, body) => {
                    let host = self.effect(body);
                    quote!({ #host })
                }
            };
            self.line("} else");
            self.close();
            arms.extend(quote!(#host_pattern #guard => #body,));
        }
        // rustc has checked that an arm fits.
        self.line("{}");
        self.line("}".repeat(1 + open_braces));
        let scrutinee = typed(&witness, &scrutinee, whole.expr.span());
        quote!(match #scrutinee { #arms })
    }

    /// The condition in CUDA of a pattern for a value of the type of witness `of`.
    fn pattern(&mut self, pattern: &Pat, of: usize, value: &str, is_whole: bool) -> Option<String> {
        Some(match pattern {
            Pat::Wild(_) => "true".to_owned(),
            Pat::Ident(bound) if bound.by_ref.is_none() && bound.subpat.is_none() => {
                if is_constant(&bound.ident) {
                    let constant = self.pattern_value(bound.ident.to_token_stream(), of);
                    format!("sf::eq({value}, {constant})")
                } else if is_whole {
                    "true".to_owned()
                } else {
                    let text = "a name stands alone in an arm of a kernel's `match`: compare by a guard, as `x if x > 3`";
                    self.errors.at(bound, text);
                    return None;
                }
            }
            Pat::Paren(inner) => self.pattern(&inner.pat, of, value, false)?,
            Pat::Or(any) => {
                let cases = any.cases.iter().map(|case| self.pattern(case, of, value, false));
                let cases = cases.collect::<Option<Vec<_>>>()?;
                format!("({})", cases.join(" || "))
            }
            Pat::Lit(literal) => {
                let constant = self.pattern_value(literal.to_token_stream(), of);
                format!("sf::eq({value}, {constant})")
            }
            Pat::Path(path) => {
                let constant = self.pattern_value(path.to_token_stream(), of);
                format!("sf::eq({value}, {constant})")
            }
            Pat::Range(range) => {
                let mut parts = Vec::new();
                if let Some(start) = &range.start {
                    let constant = self.pattern_value(start.to_token_stream(), of);
                    parts.push(format!("sf::ge({value}, {constant})"));
                }
                if let Some(end) = &range.end {
                    let constant = self.pattern_value(end.to_token_stream(), of);
                    let name =
                        if matches!(range.limits, RangeLimits::Closed(_)) { "le" } else { "lt" };
                    parts.push(format!("sf::{name}({value}, {constant})"));
                }
                format!("({})", parts.join(" && "))
            }
            other => {
                self.errors.at(
                    other,
                    "a pattern in a kernel is a number, a range of numbers, a name or `_`",
                );
                return None;
            }
        })
    }

    fn pattern_value(&mut self, value: TokenStream, of: usize) -> String {
        let (_, number) = self.witness(Witness::Pattern { of, value });
        format!("L{number}")
    }

    // ---- loops --------------------------------------------------------------------------------

    fn for_loop(&mut self, whole: &ExprForLoop) -> TokenStream {
        let (ident, is_mutable) = match &*whole.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                (Some(&name.ident), name.mutability.is_some())
            }
            Pat::Wild(_) => (None, false),
            other => {
                self.errors.at(other, "the variable of a `for` in a kernel has a name");
                return TokenStream::new();
            }
        };
        let Some(Bounds { start, end, is_inclusive, is_reversed }) = bounds(&whole.expr) else {
            let text =
                "`for` runs over a range here: write `for i in 0..n`, or `for i in (0..n).rev()`";
            self.errors.at(&whole.expr, text);
            return TokenStream::new();
        };
        let (first, written) = (self.expression(start), start);
        let (witness, number) = self.witness(Witness::Type);
        let [from, to, at, goes] = [(); 4].map(|()| self.temporary());
        self.line("{");
        self.line(format!("const W{number} {from} = {};", first.cuda));
        let last = self.expression(end);
        self.line(format!("const W{number} {to} = {};", last.cuda));
        // The variable is compared before it is changed, so that it never leaves its type.
        let head = match (is_reversed, is_inclusive) {
            (false, false) => format!("for (W{number} {at} = {from}; {at} < {to}; ++{at}) {{"),
            (true, false) => format!("for (W{number} {at} = {to}; {from} < {at};) {{ --{at};"),
            (false, true) => format!(
                "bool {goes} = {from} <= {to}; for (W{number} {at} = {from}; {goes}; {goes} = {at} != {to}, {at} += {goes}) {{"
            ),
            (true, true) => format!(
                "bool {goes} = {from} <= {to}; for (W{number} {at} = {to}; {goes}; {goes} = {at} != {from}, {at} -= {goes}) {{"
            ),
        };
        self.line(head);
        self.open();
        if let Some(ident) = ident {
            let range = counted(start, end, is_inclusive).filter(|_| !is_mutable);
            let name = self.declare_as(ident, range.map_or(Form::Value, Form::Counter));
            self.line(format!("W{number} {name} = {at};"));
        }
        let body = self.loop_body(whole.label.as_ref(), &whole.body);
        self.close();
        self.line("}");
        self.after_loop();
        self.line("}");
        let (label, pattern) = (&whole.label, &whole.pat);
        let (start, end) = (first.host, last.host);
        let dots = if is_inclusive { quote!(..=) } else { quote!(..) };
        let start = typed(&witness, &start, written.span());
        let range = quote!(#start #dots #end);
        let range = if is_reversed { quote!((#range).rev()) } else { range };
        quote!(#label for #pattern in #range #body)
    }

    fn while_loop(&mut self, whole: &ExprWhile) -> TokenStream {
        self.line("for (;;) {");
        let Value { host, cuda } = self.expression(&whole.cond);
        self.line(format!("if (!({cuda})) break;"));
        let body = self.loop_body(whole.label.as_ref(), &whole.body);
        self.line("}");
        self.after_loop();
        let label = &whole.label;
        quote!(#label while #host #body)
    }

    fn endless_loop(&mut self, whole: &ExprLoop) -> TokenStream {
        self.line("for (;;) {");
        let body = self.loop_body(whole.label.as_ref(), &whole.body);
        self.line("}");
        self.after_loop();
        let label = &whole.label;
        quote!(#label loop #body)
    }

    /// The body of a loop, in braces of its own, and the label at its end.
    fn loop_body(&mut self, label: Option<&Label>, body: &Block) -> TokenStream {
        self.loop_count += 1;
        let number = self.loop_count;
        self.loops.push((label.map(|label| key(&label.name.ident)), number));
        let host = self.block(body, None);
        // Named by a `continue` of an inner loop.
        self.line(format!("continue_{number}:;"));
        host
    }

    /// The label after a loop.
    fn after_loop(&mut self) {
        if let Some((_, number)) = self.loops.pop() {
            self.line(format!("break_{number}:;"));
        }
    }

    fn jump(&mut self, word: &str, label: Option<&Lifetime>, whole: &Expr) -> TokenStream {
        let wanted = label.map(|label| key(&label.ident));
        let found = self.loops.iter().rev().find(|(name, _)| wanted.is_none() || *name == wanted);
        match found {
            Some((_, number)) => {
                let line = format!("goto {word}_{number};");
                self.line(line);
            }
            None => self.errors.at(whole, format!("no loop of the kernel to `{word}`")),
        }
        whole.to_token_stream()
    }
}

/// Whether a name in a pattern is that of a constant, by its case: rustc alone knows. A constant with another case is an error,
/// and so is a variable with this case.
fn is_constant(ident: &Ident) -> bool {
    ident.unraw().to_string().starts_with(|first: char| first.is_uppercase())
}

/// `a..b`, `a..=b`, `(a..b).rev()`
fn bounds(expression: &Expr) -> Option<Bounds<'_>> {
    match bare(expression) {
        Expr::Range(ExprRange { start: Some(start), limits, end: Some(end), .. }) => Some(Bounds {
            start,
            end,
            is_inclusive: matches!(limits, RangeLimits::Closed(_)),
            is_reversed: false,
        }),
        Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
            let bounds = bounds(&call.receiver)?;
            (!bounds.is_reversed).then_some(Bounds { is_reversed: true, ..bounds })
        }
        _ => None,
    }
}
