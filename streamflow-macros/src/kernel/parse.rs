//! Reads the attribute's options and the function.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ItemFn, Token, parenthesized, token};

use super::model::Options;
use crate::diagnostic::{Errors, similar};
use crate::tokens::split;

const FORMS: &str = "the options are `unsafe cuda = \"…\"` and `requires(…)`";
const CUDA_FORM: &str = "write `unsafe cuda = \"…\"`: whoever writes a CUDA body vouches for it";

/// The function, if the item is one.
pub(super) fn function(item: TokenStream, errors: &mut Errors) -> Option<ItemFn> {
    match syn::parse2(item.clone()) {
        Ok(function) => Some(function),
        Err(_) => {
            errors.at(item, "`#[kernel]` stands on a function with a body");
            None
        }
    }
}

/// The options. Each is parsed by itself, so that one mistake hides no other.
pub(super) fn options(tokens: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut has_cuda = false;
    for option in split(tokens) {
        let mut one = |input: ParseStream<'_>| {
            let start = input.fork();
            let safety: Option<Token![unsafe]> = input.parse()?;
            if safety.is_some() && input.peek(token::Paren) {
                has_cuda = true;
                let all: TokenStream = start.parse()?;
                input.parse::<TokenStream>()?;
                errors.at(all, "`unsafe cuda` takes no parentheses: write `unsafe cuda = \"…\"`");
                return Ok(());
            }
            let name = input.call(Ident::parse_any)?;
            match name.to_string().as_str() {
                "cuda" => {
                    if has_cuda {
                        errors.at(&name, "`cuda` is given twice; a kernel has one CUDA body");
                        input.parse::<TokenStream>()?;
                        return Ok(());
                    }
                    has_cuda = true;
                    if safety.is_none() {
                        errors.at(&name, format!("`cuda` without `unsafe`; {CUDA_FORM}"));
                    }
                    options.cuda = cuda(&name, input, errors);
                }
                "requires" => {
                    if safety.is_some() {
                        errors.at(safety, "`requires` is not unsafe; leave `unsafe` out");
                    }
                    options.requires.extend(requires(&name, input, errors)?);
                }
                written => {
                    let hint = similar(written, &["cuda", "requires"])
                        .map(|name| format!("did you mean `{name}`? "))
                        .unwrap_or_default();
                    errors.at(&name, format!("unknown option `{written}`; {hint}{FORMS}"));
                    // Whatever follows belongs to it.
                    input.parse::<TokenStream>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = Parser::parse2(&mut one, option) {
            errors.push(error);
        }
    }
    if !has_cuda {
        let nowhere = TokenStream::new();
        errors.at(nowhere, format!("this kernel has no CUDA body; {CUDA_FORM}"));
    }
    options
}

/// `= "…"`
fn cuda(name: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Expr> {
    let body = (|| {
        input.parse::<Token![=]>()?;
        input.parse::<Expr>()
    })();
    body.map_err(|_| {
        let rest = input.parse::<TokenStream>().unwrap_or_default();
        let mut all = name.to_token_stream();
        all.extend(rest);
        errors.at(all, "`cuda` is followed by a string: `unsafe cuda = \"…\"`");
    })
    .ok()
}

/// `(condition, …)`
fn requires(
    name: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Punctuated<Expr, Token![,]>> {
    if !input.peek(token::Paren) {
        let mut all = name.to_token_stream();
        all.extend(input.parse::<TokenStream>()?);
        errors
            .at(all, "`requires` takes conditions in parentheses: `requires(a.len() == b.len())`");
        return Ok(Punctuated::new());
    }
    let conditions;
    parenthesized!(conditions in input);
    if conditions.is_empty() {
        errors.at(name, "`requires()` has no condition; write one, or leave it out");
    }
    conditions.parse_terminated(Expr::parse, Token![,])
}
