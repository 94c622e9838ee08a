//! Expands `expr!`: an expression of tensors and numbers, as a kernel of one element whose operands are found in the expression.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Member};

use super::cuda::{self, entries};
use super::expand::{is_short, reports};
use super::host::witnesses;
use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, Translator, argument_name};
use super::value::Value;
use crate::diagnostic::Errors;

/// The most operands of an expression.
const MOST: usize = 6;

/// The operands that an expression has named so far.
#[derive(Default)]
pub(super) struct Operands {
    /// Each as it is written, in the order of their numbers.
    all: Vec<Expr>,
}

impl Operands {
    /// The element of the operand that an expression names, in both languages.
    fn element(&mut self, written: &Expr) -> Value {
        let text = written.to_token_stream().to_string();
        let known = self.all.iter().position(|one| one.to_token_stream().to_string() == text);
        let number = known.unwrap_or_else(|| {
            self.all.push(written.clone());
            self.all.len() - 1
        });
        let span = Span::mixed_site().located_at(written.span());
        let ident = name(number, span);
        let cuda = argument_name(&ident);
        Value::new(quote_spanned!(span=> (*#ident)), cuda)
    }
}

fn name(number: usize, span: Span) -> Ident {
    Ident::new(&format!("x{number}"), span)
}

/// Whether an expression names a variable, or a field of one: `image` or `self.gain`.
fn is_variable(expression: &Expr) -> bool {
    match expression {
        Expr::Path(path) => path.qself.is_none() && path.path.get_ident().is_some(),
        Expr::Field(field) => {
            is_variable(&field.base)
                && matches!(field.member, Member::Named(_) | Member::Unnamed(_))
        }
        Expr::Paren(inner) => is_variable(&inner.expr),
        Expr::Group(inner) => is_variable(&inner.expr),
        _ => false,
    }
}

impl Translator<'_> {
    /// The element of an operand, if the translation is that of an expression and this names one.
    pub(super) fn operand(&mut self, written: &Expr) -> Option<Value> {
        let operands = self.outside.as_mut()?;
        is_variable(written).then(|| operands.element(written))
    }

    /// Reports an index into an operand, if the translation is that of an expression.
    pub(super) fn is_indexed_outside(&mut self, whole: &syn::ExprIndex) -> bool {
        let is_own = match &*whole.expr {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|ident| self.find(ident).is_some())
            }
            _ => false,
        };
        let is_outside = self.outside.is_some() && !is_own && is_variable(&whole.expr);
        if is_outside {
            let text = "nothing is indexed in an expression: an operand stands for its element; `#[kernel(map)]` has tables";
            self.errors.at(whole, text);
        }
        is_outside
    }

    /// As `operand`, for a field that is no field of a variable of the expression.
    pub(super) fn outside_field(&mut self, whole: &syn::ExprField) -> Option<Value> {
        self.outside.as_ref()?;
        let mut base = &*whole.base;
        while let Expr::Field(inner) = base {
            base = &inner.base;
        }
        let Expr::Path(path) = base else { return None };
        let is_own = path.path.get_ident().is_some_and(|ident| self.find(ident).is_some());
        if is_own { None } else { self.operand(&Expr::Field(whole.clone())) }
    }

    /// `iota()`, the number of the element, or `linspace(start, stop, count)`, if the translation is that of an expression.
    pub(super) fn sequence(&mut self, call: &syn::ExprCall) -> Option<Value> {
        self.outside.as_ref()?;
        let Expr::Path(path) = &*call.func else { return None };
        let name = path.path.get_ident()?.to_string();
        let count = call.args.len();
        let wanted = match &*name {
            "iota" => 0,
            "linspace" => 3,
            _ => return None,
        };
        if count != wanted {
            let form = if wanted == 0 { "iota()" } else { "linspace(start, stop, count)" };
            self.errors.at(call, format!("write `{form}`"));
            return Some(Value::wrong());
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let values = self.operands(&arguments);
        let [start, stop, count] = &values[..] else {
            return Some(Value::new(quote!(__iota), IOTA));
        };
        let (a, b, n) = (&start.host, &stop.host, &count.host);
        Some(Value::new(
            quote!(::streamflow::__private::body::linspace(#a, #b, __iota, #n)),
            format!("sf::linspace({}, {}, {IOTA}, {})", start.cuda, stop.cuda, count.cuda),
        ))
    }

    /// The translation of an expression whose value is the element of `out`.
    fn value(mut self, expression: &Expr) -> (Body, Vec<Expr>) {
        let Value { host, cuda } = self.expression(expression);
        self.line(format!("{} = {cuda};", argument_name(&Ident::new("out", Span::call_site()))));
        let operands = self.outside.take().unwrap_or_default().all;
        (self.finish(host), operands)
    }
}

/// The number of the element in CUDA.
const IOTA: &str = "streamflow_iota__0";

/// Expands one use of `expr!`.
pub(crate) fn expr(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let expression = match syn::parse2::<Expr>(input.clone()) {
        Ok(expression) => expression,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!({ #errors });
        }
    };
    super::reject_cfg(input, &mut errors);
    let mut translator = Translator::new(&Signature::none(), &mut errors);
    translator.outside = Some(Operands::default());
    let (body, operands) = translator.value(&expression);
    if let Some(beyond) = operands.get(MOST) {
        let text = format!(
            "an expression has at most {MOST} operands, and this has {}: evaluate a part of it first",
            operands.len()
        );
        errors.at(beyond, text);
    }
    if errors.is_empty() {
        expanded(&expression, &body, &operands)
    } else {
        let errors = errors.into_tokens();
        // A value of any type, so that rustc reports no second error.
        quote!({ #errors ::streamflow::__private::body::any() })
    }
}

/// The signature of the kernel: the output, the number of the element, and the operands as elements.
fn signature(count: usize) -> Signature {
    let argument = |ident: Ident, kind| Argument { ident, ty: syn::parse_quote!(_), kind };
    let call_site = Span::call_site();
    let mut arguments = vec![
        argument(Ident::new("out", call_site), Kind::Output),
        argument(Ident::new("streamflow_iota", call_site), Kind::Number),
    ];
    arguments.extend((0..count).map(|number| argument(name(number, call_site), Kind::Input)));
    Signature { arguments, ..Signature::none() }
}

fn expanded(expression: &Expr, body: &Body, operands: &[Expr]) -> TokenStream {
    let signature = signature(operands.len());
    let names: Vec<_> =
        (0..operands.len()).map(|number| name(number, Span::mixed_site())).collect();
    let texts = [
        cuda::linear(body, &signature),
        cuda::flat(body, &signature),
        cuda::strided(body, &signature),
    ];
    let written = shown(expression);
    let shown = operands.iter().map(shown);
    let (reports, is_short) = (reports(body), is_short(body));
    let (host, items) = (&body.host, &body.items);
    let (witnesses, entries) = (witnesses(body), entries(body));
    let constructor = format_ident!("of_{}", operands.len());
    let checks = &body.checks;
    let taken = operands.iter().map(|operand| {
        let called = quote_spanned!(operand.span()=> ::streamflow::__private::expression::operand);
        quote_spanned!(operand.span()=> #called(&#operand))
    });
    quote! {{
        #(#items)*
        #(#checks)*
        struct __Place;
        // SAFETY: the macro writes the texts and the closures from one expression.
        unsafe impl ::streamflow::__private::expression::Place for __Place {
            const NAME: &'static str = #written;
            const FILE: &'static str = ::core::file!();
            const LINE: u32 = ::core::line!();
            const NAMES: &'static [&'static str] = &[#(#shown),*];
            const TEXTS: [&'static str; 3] = [#(#texts),*];
            const REPORTS: bool = #reports;
            const IS_SHORT: bool = #is_short;
        }
        ::streamflow::__private::expression::#constructor(
            __Place,
            #(#taken,)*
            #[allow(unused, clippy::all)]
            |__iota, #(#names),*| { #witnesses #host },
            #[allow(unused, clippy::all)]
            |__to, #(#names),*| {
                #witnesses
                if false {
                    let __iota: ::core::primitive::usize = ::streamflow::__private::body::any();
                    #(let #names = #names();)*
                    let _ = #host;
                }
                #entries
            },
        )
    }}
}

/// An expression as it is shown to people: in one line, close to how it is written.
fn shown(expression: &Expr) -> String {
    const MOST: usize = 60;
    let text = expression.to_token_stream().to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = String::new();
    for word in words {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_call = word.starts_with('(') && line.ends_with(is_name) && !line.ends_with(" if");
        let is_close = line.is_empty()
            || is_call
            || line.ends_with(['(', '.', '!'])
            || word.starts_with([')', '.', ',', ';']);
        line += if is_close { "" } else { " " };
        line += word;
    }
    match line.char_indices().nth(MOST) {
        Some((end, _)) => line[..end].to_owned() + "…",
        None => line,
    }
}
