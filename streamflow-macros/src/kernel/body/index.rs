//! Elements of tables and arrays, fields of structs, and assignments to them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprArray, ExprField, ExprIndex, ExprLit, ExprPath, ExprRepeat, Lit, Member};

use super::generics::mentions;
use super::translate::{Form, Translator, function, typed};
use super::value::{Value, Witness, bare};

/// The name of a field in CUDA, where another one may be a keyword.
pub(crate) fn field_name(field: &Ident) -> String {
    use syn::ext::IdentExt;
    format!("f_{}", field.unraw())
}

/// In place of a table's number.
fn array_number() -> TokenStream {
    quote!(::streamflow::__private::body::ARRAY)
}

/// The left side of an assignment.
pub(super) struct Place {
    host: TokenStream,
    pub(super) cuda: String,
    /// The tests of its indices: the statement before each, and the condition.
    guards: Vec<(TokenStream, TokenStream)>,
}

impl Place {
    pub(super) fn new(Value { host, cuda }: Value) -> Self {
        Self { host, cuda, guards: Vec::new() }
    }

    /// An assignment in Rust, made of the place, within the tests of its indices.
    pub(super) fn assign(&self, assign: impl FnOnce(&TokenStream) -> TokenStream) -> TokenStream {
        self.guards.iter().rev().fold(
            assign(&self.host),
            |inner, (before, condition)| quote!({ #before if #condition { #inner } }),
        )
    }

    /// The ends of the tests in CUDA.
    pub(super) fn ends(&self) -> String {
        "}".repeat(self.guards.len())
    }
}

/// Whether an assignment has an index on its left side.
pub(super) fn has_index(left: &Expr) -> bool {
    match bare(left) {
        Expr::Index(_) => true,
        Expr::Field(field) => has_index(&field.base),
        _ => false,
    }
}

/// A value that is indexed.
struct Base {
    /// A reference.
    host: TokenStream,
    cuda: String,
    /// The number of a table, for reports.
    of: TokenStream,
    /// The path, if it is that of a constant.
    constant: Option<ExprPath>,
}

impl Translator<'_> {
    /// `table[i]`, `TAPS[2]`, `lens.k[i]`
    pub(super) fn index(&mut self, whole: &ExprIndex) -> Value {
        if self.is_indexed_outside(whole) {
            return Value::wrong();
        }
        let Some(base) = self.base(&whole.expr) else { return Value::wrong() };
        let (host, span) = (&base.host, whole.bracket_token.span.join());
        if let Some(path) = &base.constant
            && let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &*whole.index
            && !self.is_generic(path)
            && let Ok(at) = number.base10_parse::<u64>()
        {
            let text = format!(
                "`{}[{at}]` is beyond the end of the array; write a smaller index",
                spelled(path)
            );
            let check = quote_spanned!(number.span()=> const _: () = ::core::assert!(#number < #path.len(), #text););
            self.checks.push(check);
            return Value::new(quote!(#host[#number]), format!("{}.at[{at}ull]", base.cuda));
        }
        let before = self.lines.len();
        let index = self.expression(&whole.index);
        let mut cuda = base.cuda;
        if self.lines.len() > before && !matches!(*whole.expr, Expr::Path(_)) {
            // Rust evaluates the value before the statements of its index.
            let name = self.temporary();
            self.lines.insert(before, format!("const auto {name} = {cuda};"));
            cuda = name;
        }
        let (called, of, at) = (function("element", span), base.of, index.host);
        let fault = self.report_at(span);
        Value::new(
            quote_spanned!(span=> #called(#host, #at, #of)),
            format!("sf::element({cuda}, {}, {fault})", index.cuda),
        )
    }

    /// `table.len()`
    pub(super) fn len(&mut self, of: &Expr, span: Span) -> Value {
        let Some(Base { host, cuda, .. }) = self.base(of) else { return Value::wrong() };
        let called = function("len", span);
        Value::new(quote_spanned!(span=> #called(#host)), format!("sf::len({cuda})"))
    }

    /// The value of an index, by reference. Returns `None` for a mistake, after its report.
    fn base(&mut self, expression: &Expr) -> Option<Base> {
        let of = array_number();
        let expression = bare(expression);
        if let Expr::Path(path) = expression {
            let found = path.path.get_ident().and_then(|ident| self.find(ident));
            let Some(variable) = found else {
                let (witness, number) = self.witness(Witness::Constant(path.to_token_stream()));
                let called = function("elements", path.span());
                let host = quote_spanned!(path.span()=> #called(&#witness, &#path));
                let constant = Some(path.clone());
                return Some(Base { host, cuda: format!("L{number}"), of, constant });
            };
            match variable.form {
                Form::Table(number) => {
                    let (host, of) = (path.to_token_stream(), quote!(#number));
                    return Some(Base { host, cuda: variable.cuda, of, constant: None });
                }
                Form::Element => {
                    let name = path.to_token_stream();
                    let text = format!(
                        "`{name}` is the element of its thread: write `{name}: &[…]` for a table that each thread reads"
                    );
                    self.errors.at(path, text);
                    return None;
                }
                // The expression reports a window that is indexed.
                Form::Value | Form::Counter(_) | Form::Window => {}
            }
        }
        let Value { host, cuda } = self.expression(expression);
        // With the user's token as the place: rustc names the macro as the origin of an error otherwise.
        let host = quote_spanned!(expression.span()=> &#host);
        Some(Base { host, cuda, of, constant: None })
    }

    /// Whether a constant may differ between the instances of a generic kernel.
    fn is_generic(&self, path: &ExprPath) -> bool {
        // An expression may be in a generic item, whose parameters the macro does not see.
        let is_hidden =
            self.outside.is_some() && (path.qself.is_some() || path.path.get_ident().is_none());
        is_hidden || mentions(path.to_token_stream(), &self.params)
    }

    /// `lens.focus`
    pub(super) fn field(&mut self, whole: &ExprField) -> Value {
        if let Some(value) = self.outside_field(whole) {
            return value;
        }
        let Member::Named(field) = &whole.member else {
            let text =
                "a struct of a kernel has fields with names, as `struct Lens { focus: f32 }`";
            self.errors.at(&whole.member, text);
            return Value::wrong();
        };
        let Value { host, cuda } = self.expression(&whole.base);
        Value::new(quote!(#host.#field), format!("{cuda}.{}", field_name(field)))
    }

    /// `[a, b]`
    pub(super) fn array(&mut self, whole: &ExprArray) -> Value {
        let elements: Vec<&Expr> = whole.elems.iter().collect();
        let values = self.operands(&elements);
        let (witness, number) = self.witness(Witness::Type);
        let host = values.iter().map(|value| &value.host);
        let host = quote_spanned!(whole.span()=> [#(#host),*]);
        let cuda: Vec<&str> = values.iter().map(|value| &*value.cuda).collect();
        let cuda = format!("W{number}{{{{{}}}}}", cuda.join(", "));
        Value::new(typed(&witness, &host, whole.span()), cuda)
    }

    /// `[0.0; 9]`
    pub(super) fn repeat(&mut self, whole: &ExprRepeat) -> Value {
        let Value { host, cuda } = self.expression(&whole.expr);
        let ((witness, number), len) = (self.witness(Witness::Type), &whole.len);
        let host = quote_spanned!(whole.span()=> [#host; #len]);
        Value::new(typed(&witness, &host, whole.span()), format!("sf::filled<W{number}>({cuda})"))
    }

    /// The left side of an assignment: its indices are tested in CUDA by the lines before, which open as many braces as
    /// `Place::ends` closes.
    pub(super) fn place(&mut self, expression: &Expr) -> Option<Place> {
        match bare(expression) {
            Expr::Path(path) => {
                let found = path.path.get_ident().and_then(|ident| self.find(ident));
                match found.map(|variable| variable.form) {
                    None => {
                        let text = "a kernel assigns to a variable, and this is a constant or no variable of the kernel";
                        self.errors.at(path, text);
                        return None;
                    }
                    Some(Form::Table(_)) => {
                        let name = path.to_token_stream();
                        let text = format!(
                            "the table `{name}` is only read: write to an argument `&mut T`"
                        );
                        self.errors.at(path, text);
                        return None;
                    }
                    Some(_) => {}
                }
                Some(Place::new(self.expression(expression)))
            }
            Expr::Unary(_) => Some(Place::new(self.expression(expression))),
            Expr::Field(whole) => {
                let Member::Named(field) = &whole.member else {
                    self.field(whole);
                    return None;
                };
                let mut place = self.place(&whole.base)?;
                let host = place.host;
                place.host = quote!(#host.#field);
                place.cuda = format!("{}.{}", place.cuda, field_name(field));
                Some(place)
            }
            Expr::Index(whole) => {
                let mut place = self.place(&whole.expr)?;
                let Value { host: index, cuda } = self.expression(&whole.index);
                let (name, span) = (self.temporary(), whole.bracket_token.span.join());
                let at = format_ident!("__{name}", span = Span::mixed_site());
                let fault = self.report_at(span);
                self.line(format!("const unsigned long long {name} = {cuda};"));
                self.line(format!("if (sf::within({}, {name}, {fault})) {{", place.cuda));
                let (host, called, of) = (place.host, function("within", span), array_number());
                place.guards.push((
                    quote!(let #at = #index;),
                    quote_spanned!(span=> #called(&#host, #at, #of)),
                ));
                place.host = quote!(#host[#at]);
                place.cuda = format!("{}.at[{name}]", place.cuda);
                Some(place)
            }
            other => {
                let text = "a kernel assigns to a variable, to its elements and fields, or to an element as `*out`";
                self.errors.at(other, text);
                None
            }
        }
    }
}

fn spelled(path: &ExprPath) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
