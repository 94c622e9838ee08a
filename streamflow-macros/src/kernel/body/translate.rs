//! The translation of a body, and expressions in both languages.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprBlock, Lit, Path, UnOp};

use super::refuse;
use super::signature::{Kind, Signature};
use super::stencil::Stencil;
use super::tables::{assigned, operator};
use super::value::{Operands, Range, Value, Witness, argument_name, bare, key};
use crate::diagnostic::Errors;

/// The translation of a body.
pub(super) struct Body {
    /// The statements in Rust.
    pub(super) host: TokenStream,
    /// The statements in CUDA C++.
    pub(super) cuda: String,
    pub(super) witnesses: Vec<Witness>,
    /// The functions that the body calls, without type arguments.
    pub(super) functions: Vec<Path>,
    /// The constants of the body, as items of Rust.
    pub(super) items: Vec<TokenStream>,
    /// The checks of indices that are numbers, as items of Rust.
    pub(super) checks: Vec<TokenStream>,
    /// Whether a division may be one by 0, or an index out of range.
    pub(super) reports: bool,
    /// How many loops it has.
    pub(super) loops: usize,
}

/// A variable of the body.
#[derive(Clone)]
pub(super) struct Variable {
    /// The name in CUDA. Each declaration has its own, since a variable of Rust may hide another one.
    pub(super) cuda: String,
    pub(super) form: Form,
}

/// How the body names a variable.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// By its name.
    Value,
    /// By its name: the variable of a loop, whose values are in this range.
    Counter(Range),
    /// As `*a`: an argument that is the element of its thread.
    Element,
    /// As `a[i]`: an argument that is a table, with its number for reports.
    Table(u32),
    /// As `a.at(…)`: a stencil's window.
    Window,
}

pub(super) struct Translator<'a> {
    pub(super) errors: &'a mut Errors,
    witnesses: Vec<Witness>,
    /// The variables of each open block, the innermost last.
    scopes: Vec<Vec<(String, Variable)>>,
    /// The statements in CUDA so far.
    pub(super) lines: Vec<String>,
    /// How many variables of each name there were.
    names: BTreeMap<String, usize>,
    temporaries: usize,
    /// The open loops, the innermost last: the label in Rust, and the number in the labels of CUDA.
    pub(super) loops: Vec<(Option<String>, usize)>,
    pub(super) loop_count: usize,
    pub(super) functions: Vec<Path>,
    pub(super) items: Vec<TokenStream>,
    pub(super) checks: Vec<TokenStream>,
    pub(super) type_params: Vec<Ident>,
    /// The type parameters and const parameters.
    pub(super) params: Vec<Ident>,
    /// The operands of an expression: the variables of the program that it names. `None` in a kernel, which names none.
    pub(super) outside: Option<Operands>,
    reports: bool,
    /// The line of a report in CUDA: `None` for the line of the operator, in a kernel.
    line_of_report: Option<&'static str>,
    /// The options of the kernel, if it is a stencil.
    pub(super) stencil: Option<&'a Stencil>,
}

impl<'a> Translator<'a> {
    pub(super) fn new(signature: &'a Signature, errors: &'a mut Errors) -> Self {
        let mut arguments = Vec::new();
        for (number, argument) in signature.passed_numbers() {
            let form = match argument.kind {
                Kind::Output | Kind::Input => Form::Element,
                Kind::Table => Form::Table(number),
                Kind::Window => Form::Window,
                _ => Form::Value,
            };
            let one = std::slice::from_ref(&argument.ident);
            let idents = match &argument.kind {
                Kind::Coordinates(idents) => idents,
                _ => one,
            };
            for ident in idents {
                let variable = Variable { cuda: argument_name(ident), form };
                arguments.push((key(ident), variable));
            }
        }
        Self {
            errors,
            witnesses: Vec::new(),
            scopes: vec![arguments],
            lines: Vec::new(),
            names: BTreeMap::new(),
            temporaries: 0,
            loops: Vec::new(),
            loop_count: 0,
            functions: Vec::new(),
            items: Vec::new(),
            checks: Vec::new(),
            type_params: signature.generics.types.clone(),
            params: signature.generics.all.clone(),
            outside: None,
            reports: false,
            line_of_report: None,
            stencil: signature.stencil.as_ref(),
        }
    }

    /// The body of a function that kernels call, with its result. Reports have the line of the call.
    pub(super) fn function(mut self, block: &Block) -> Body {
        const RESULT: &str = "streamflow_result";
        self.line_of_report = Some("streamflow_line");
        let (witness, number) = self.witness(Witness::Type);
        self.line(format!("W{number} {RESULT};"));
        let host = self.block(block, Some(RESULT));
        self.line(format!("return {RESULT};"));
        self.finish(typed(&witness, &host, block.span()))
    }

    pub(super) fn body(&mut self, block: &Block) -> TokenStream {
        self.block(block, None)
    }

    pub(super) fn finish(self, host: TokenStream) -> Body {
        let (cuda, reports, loops) = (self.lines.join("\n"), self.reports, self.loop_count);
        let Self { witnesses, functions, items, checks, .. } = self;
        Body { host, cuda, witnesses, functions, items, checks, reports, loops }
    }

    // ---- names and witnesses ------------------------------------------------------------------

    /// A new witness: its name in Rust, and its number.
    pub(super) fn witness(&mut self, witness: Witness) -> (Ident, usize) {
        let number = self.witnesses.len();
        self.witnesses.push(witness);
        (witness_name(number), number)
    }

    /// Declares a variable, and returns its name in CUDA.
    pub(super) fn declare(&mut self, ident: &Ident) -> String {
        self.declare_as(ident, Form::Value)
    }

    /// Declares a variable with a role.
    pub(super) fn declare_as(&mut self, ident: &Ident, form: Form) -> String {
        let name = ident.unraw().to_string();
        // A name that CUDA can't have, or that temporaries have.
        let is_plain = name.is_ascii() && !name.starts_with("streamflow");
        let name = if is_plain { name } else { "streamflow_let".to_owned() };
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        let cuda = format!("{name}_{count}");
        let variable = Variable { cuda: cuda.clone(), form };
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((key(ident), variable));
        }
        cuda
    }

    pub(super) fn find(&self, ident: &Ident) -> Option<Variable> {
        let name = key(ident);
        let all = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        all.clone().find(|(known, _)| *known == name).map(|(_, variable)| variable.clone())
    }

    pub(super) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("streamflow_{}", self.temporaries)
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Whether the statement is one of the body itself, in no inner block.
    pub(super) fn is_outermost(&self) -> bool {
        self.scopes.len() == 2
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn close(&mut self) {
        self.scopes.pop();
    }

    // ---- expressions --------------------------------------------------------------------------

    pub(super) fn expression(&mut self, expression: &Expr) -> Value {
        if self.stencil.is_some() && self.is_window_alone(expression) {
            return Value::wrong();
        }
        match expression {
            Expr::Paren(inner) => {
                let Value { host, cuda } = self.expression(&inner.expr);
                Value::new(host, format!("({cuda})"))
            }
            Expr::Group(inner) => self.expression(&inner.expr),
            Expr::Lit(literal) => {
                self.literal(&literal.lit, literal.lit.to_token_stream(), expression)
            }
            Expr::Path(_) => self.path(expression),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(_), Expr::Lit(literal)) => {
                    self.literal(&literal.lit, expression.to_token_stream(), expression)
                }
                (UnOp::Deref(_), inner) => self.dereference(expression, inner),
                (op, inner) => {
                    let Value { host, cuda } = self.expression(inner);
                    let name = if matches!(op, UnOp::Neg(_)) { "neg" } else { "not_" };
                    let called = function(name, op.span());
                    Value::new(
                        quote_spanned!(op.span()=> #called(#host)),
                        format!("sf::{name}({cuda})"),
                    )
                }
            },
            Expr::Binary(binary) => self.binary(binary, expression),
            Expr::Cast(cast) => self.cast(cast),
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call),
            Expr::Index(whole) => self.index(whole),
            Expr::Field(whole) => self.field(whole),
            Expr::Array(whole) => self.array(whole),
            Expr::Repeat(whole) => self.repeat(whole),
            Expr::Block(ExprBlock { label: Some(label), .. }) => {
                self.errors.at(label, "no labelled block in a kernel: put its rest into an `if`");
                Value::wrong()
            }
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => self.block_value(expression),
            // Nothing uses the value.
            Expr::Break(_) | Expr::Continue(_) => {
                Value::new(self.control(expression).unwrap_or_default(), "0")
            }
            Expr::Assign(assign) => {
                self.errors.at(assign, "an assignment has no value: give it a line of its own");
                Value::wrong()
            }
            other => {
                refuse::expression(other, self.errors);
                Value::wrong()
            }
        }
    }

    fn literal(&mut self, literal: &Lit, written: TokenStream, whole: &Expr) -> Value {
        match literal {
            Lit::Bool(value) => Value::new(written, if value.value { "true" } else { "false" }),
            Lit::Int(_) | Lit::Float(_) => self.constant(written),
            _ => {
                refuse::expression(whole, self.errors);
                Value::wrong()
            }
        }
    }

    /// A value that is known when the kernel is compiled.
    fn constant(&mut self, written: TokenStream) -> Value {
        let (witness, number) = self.witness(Witness::Constant(written.clone()));
        Value::new(typed(&witness, &written, written.span()), format!("L{number}"))
    }

    fn path(&mut self, expression: &Expr) -> Value {
        let Expr::Path(path) = expression else { return Value::wrong() };
        if let Some(ident) = path.path.get_ident()
            && let Some(variable) = self.find(ident)
        {
            let text = match variable.form {
                // `window_method` has reported a window that is named otherwise.
                Form::Value | Form::Counter(_) | Form::Window => {
                    return Value::new(ident.to_token_stream(), variable.cuda);
                }
                Form::Element => {
                    format!("`{ident}` is a reference to an element: write `*{ident}`")
                }
                Form::Table(_) => {
                    format!(
                        "`{ident}` is a table: write `{ident}[i]` for an element, or `{ident}.len()`"
                    )
                }
            };
            self.errors.at(ident, text);
            return Value::wrong();
        }
        if let Some(value) = self.operand(expression) {
            return value;
        }
        self.constant(path.to_token_stream())
    }

    fn dereference(&mut self, whole: &Expr, inner: &Expr) -> Value {
        let found = match bare(inner) {
            Expr::Path(path) => path.path.get_ident().and_then(|ident| self.find(ident)),
            _ => None,
        };
        match found {
            Some(Variable { cuda, form: Form::Element }) => {
                Value::new(whole.to_token_stream(), cuda)
            }
            _ => {
                self.errors.at(
                    whole,
                    "`*` reads the element of an argument, as `*x` of `x: &f32`; this is a value",
                );
                Value::wrong()
            }
        }
    }

    /// The operands of an operator, evaluated in Rust's order: where a later one has statements in CUDA, the earlier ones are
    /// values before them.
    pub(super) fn operands(&mut self, operands: &[&Expr]) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for operand in operands {
            let before = self.lines.len();
            let value = self.expression(operand);
            if self.lines.len() > before {
                let mut kept = Vec::new();
                for value in &mut values {
                    let name = self.temporary();
                    kept.push(format!("const auto {name} = {};", value.cuda));
                    value.cuda = name;
                }
                self.lines.splice(before..before, kept);
            }
            values.push(value);
        }
        values
    }

    fn binary(&mut self, binary: &ExprBinary, whole: &Expr) -> Value {
        let ExprBinary { left, op, right, .. } = binary;
        if assigned(op).is_some() {
            self.errors.at(whole, "an assignment has no value: give it a line of its own");
            return Value::wrong();
        }
        if let BinOp::And(_) | BinOp::Or(_) = op {
            return self.short_circuit(left, op, right);
        }
        let operands = self.operands(&[left, right]);
        let [Value { host: a, cuda: x }, Value { host: b, cuda: y }] = &operands[..] else {
            return Value::wrong();
        };
        let name = operator(op);
        let called = function(name, op.span());
        let host = quote_spanned!(op.span()=> #called(#a, #b));
        let fault = self.fault(name, op.span());
        Value::new(host, format!("sf::{name}({x}, {y}{fault})"))
    }

    /// The last argument in CUDA of a function that divides: where it reports a division by 0.
    pub(super) fn fault(&mut self, name: &str, span: Span) -> String {
        if !matches!(name, "div" | "rem" | "rem_euclid") {
            return String::new();
        }
        format!(", {}", self.report_at(span))
    }

    /// The argument in CUDA of a function that may report a mistake at this token.
    pub(super) fn report_at(&mut self, span: Span) -> String {
        self.reports = true;
        format!("streamflow_faults.at({})", self.line_of_report(span))
    }

    /// Returns, as text in CUDA, the source line for the report of a division or a call at this token.
    pub(super) fn line_of_report(&self, span: Span) -> String {
        let line = self.line_of_report.map(ToOwned::to_owned);
        line.unwrap_or_else(|| line_of(span).unwrap_or(0).to_string())
    }

    fn short_circuit(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Value {
        let a = self.expression(left);
        let before = self.lines.len();
        let b = self.expression(right);
        let is_and = matches!(op, BinOp::And(_));
        let (x, y) = (&a.cuda, &b.cuda);
        let cuda = if self.lines.len() == before {
            format!("({x} {} {y})", if is_and { "&&" } else { "||" })
        } else {
            let name = self.temporary();
            let holds = if is_and { name.clone() } else { format!("!{name}") };
            let begin = [format!("bool {name} = {x};"), format!("if ({holds}) {{")];
            self.lines.splice(before..before, begin);
            self.line(format!("{name} = {y};"));
            self.line("}");
            name
        };
        let (a, b) = (a.host, b.host);
        Value::new(quote!((#a #op #b)), cuda)
    }

    /// An `if`, `match` or block with a value.
    fn block_value(&mut self, expression: &Expr) -> Value {
        let (witness, number) = self.witness(Witness::Type);
        let name = self.temporary();
        self.line(format!("W{number} {name};"));
        let host = match expression {
            Expr::If(whole) => self.if_into(whole, Some(&name)),
            Expr::Match(whole) => self.match_into(whole, Some(&name)),
            Expr::Block(whole) => self.block(&whole.block, Some(&name)),
            _ => TokenStream::new(),
        };
        Value::new(typed(&witness, &host, expression.span()), name)
    }
}

/// The line in the user's file. `None` in a unit test, where tokens have none.
pub(super) fn line_of(span: Span) -> Option<usize> {
    proc_macro::is_available().then(|| span.unwrap().line())
}

/// The name of a witness in Rust.
pub(super) fn witness_name(number: usize) -> Ident {
    format_ident!("__w{number}", span = Span::mixed_site())
}

/// The function of `streamflow::kernel::body` with this name, at the user's token.
pub(super) fn function(name: &str, span: Span) -> TokenStream {
    let name = Ident::new(name, span);
    quote_spanned!(span=> __body::#name)
}

/// The value, whose type the witness has. With the user's token as the place: rustc names the macro as the origin of an error
/// otherwise.
pub(super) fn typed(witness: &Ident, host: &TokenStream, span: Span) -> TokenStream {
    let called = function("typed", span);
    quote_spanned!(span=> #called(&#witness, #host))
}
