//! Expands `expr!`: an expression of tensors and numbers, as a kernel of one element whose operands are found in the expression.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Expr;
use syn::spanned::Spanned;

use super::cuda::{self, entries};
use super::expand::{is_short, reports};
use super::host::witnesses;
use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, Translator};
use super::value::{Operand, Operands, Value, argument_name, name, operand_name};
use crate::diagnostic::Errors;

/// The most operands of an expression.
const MOST: usize = 6;

/// The translation of an expression whose value is the element of `out`, and its operands.
fn translated(expression: &Expr, errors: &mut Errors) -> (Body, Vec<Operand>) {
    let none = Signature::none();
    let mut translator = Translator::new(&none, errors);
    translator.outside = Some(Operands::default());
    let Value { host, cuda } = translator.expression(expression);
    let out = argument_name(&Ident::new("out", Span::call_site()));
    translator.line(format!("{out} = {cuda};"));
    let operands = translator.outside.take().unwrap_or_default().all;
    (translator.finish(host), operands)
}

/// Expands one use of `expr!`.
pub(crate) fn expr(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let expression = match syn::parse2::<Expr>(input.clone()) {
        Ok(expression) => expression,
        Err(error) => {
            match input.is_empty() {
                true => {
                    errors.at(input, "`expr!` is empty: write an expression, as `expr!(a * 2.0)`")
                }
                false => errors.push(error),
            }
            let errors = errors.into_tokens();
            return quote!({ #errors });
        }
    };
    super::reject_cfg(input, &mut errors);
    let made = made(&expression, &mut errors);
    if errors.is_empty() {
        made
    } else {
        let errors = errors.into_tokens();
        // A value of any type, so that rustc reports no second error.
        quote!({ #errors ::streamflow::__private::body::any() })
    }
}

/// The Rust text of a value of type `Expression`.
pub(super) fn made(expression: &Expr, errors: &mut Errors) -> TokenStream {
    let (body, operands) = translated(expression, errors);
    if let Some(beyond) = operands.get(MOST) {
        let text = format!(
            "an expression has at most {MOST} operands, and this has {}: evaluate a part of it first",
            operands.len()
        );
        errors.at(&beyond.written, text);
    }
    expanded(expression, &body, &operands)
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

fn expanded(expression: &Expr, body: &Body, operands: &[Operand]) -> TokenStream {
    let signature = signature(operands.len());
    let each = operands.iter().enumerate();
    let names: Vec<_> =
        each.map(|(number, one)| operand_name(number, one.written.span())).collect();
    let texts = [
        cuda::linear(body, &signature),
        cuda::flat(body, &signature),
        cuda::strided(body, &signature),
    ];
    let written = shown(expression);
    let shown = operands.iter().map(|operand| shown(&operand.written));
    let (reports, is_short) = (reports(body), is_short(body));
    let (host, items) = (&body.host, &body.items);
    let (witnesses, entries) = (witnesses(body), entries(body));
    let constructor = format_ident!("of_{}", operands.len());
    let checks = &body.checks;
    let taken = operands.iter().map(|operand| &operand.taken);
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
pub(super) fn shown(expression: &Expr) -> String {
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
