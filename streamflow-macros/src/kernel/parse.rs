//! Reads the options of `#[kernel(…)]`, and the function that the attribute stands on.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ItemFn, LitInt, Token, Type, parenthesized, token};

use super::model::{Coverage, Options};
use crate::diagnostic::{Errors, similar};
use crate::tokens::split;

const FORMS: &str = "the options are `unsafe cuda = \"…\"`, `unsafe image = \"…\"`, `entry = \"…\"`, `slices = pointers`, `requires(…)`, `threads(…)`, `instances(…)`, `grid_stride` and `partial`";
const OPTIONS: [&str; 9] = [
    "cuda",
    "image",
    "entry",
    "slices",
    "requires",
    "threads",
    "instances",
    "grid_stride",
    "partial",
];
const CUDA_FORM: &str =
    "write `unsafe cuda = \"…\"`: with `unsafe`, the author vouches for the CUDA body";

/// Parses the item as a function. Reports any other item, and returns `None` for it.
pub(super) fn function(item: TokenStream, errors: &mut Errors) -> Option<ItemFn> {
    match syn::parse2(item.clone()) {
        Ok(function) => Some(function),
        Err(_) => {
            errors.at(item, "`#[kernel]` goes on a function with a body");
            None
        }
    }
}

/// Reads the options of `#[kernel(…)]`. Each option is parsed separately, so that a mistake in one does not hide a mistake in
/// another.
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
            let Ok(name) = input.call(Ident::parse_any) else {
                errors.at(start.parse::<TokenStream>()?, format!("expected an option; {FORMS}"));
                input.parse::<TokenStream>()?;
                return Ok(());
            };
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
                    options.cuda_word = Some(name.clone());
                    options.cuda = cuda(&name, input, errors);
                }
                "image" | "entry" | "slices" => options.image.read(&name, safety, input, errors),
                "requires" => {
                    if safety.is_some() {
                        errors.at(safety, "`requires` is not unsafe; leave `unsafe` out");
                    }
                    options.requires.extend(requires(&name, input, errors)?);
                }
                "threads" => {
                    if safety.is_some() {
                        errors.at(safety, "`threads` is not unsafe; leave `unsafe` out");
                    }
                    if options.threads.is_some() {
                        errors.at(&name, "`threads` is given twice; a block has one size");
                        input.parse::<TokenStream>()?;
                        return Ok(());
                    }
                    options.threads = threads(&name, input, errors)?;
                }
                "instances" => {
                    if safety.is_some() {
                        errors.at(safety, "`instances` is not unsafe; leave `unsafe` out");
                    }
                    if options.instances.is_some() {
                        errors.at(&name, "`instances` is given twice; name all types in one list");
                        input.parse::<TokenStream>()?;
                        return Ok(());
                    }
                    let named = instances(&name, input, errors)?;
                    options.instances = Some((named, name.clone()));
                }
                word @ ("grid_stride" | "partial") => {
                    if safety.is_some() {
                        errors.at(safety, format!("`{word}` is not unsafe; leave `unsafe` out"));
                    }
                    if !input.is_empty() && !input.peek(Ident::peek_any) {
                        let mut all = name.to_token_stream();
                        all.extend(input.parse::<TokenStream>()?);
                        errors.at(all, format!("`{word}` is a word alone: write `{word}`"));
                    }
                    coverage(&mut options, name.clone(), errors);
                }
                written => {
                    let hint = similar(written, &OPTIONS)
                        .map(|name| format!("did you mean `{name}`? "))
                        .unwrap_or_default();
                    errors.at(&name, format!("unknown option `{written}`; {hint}{FORMS}"));
                    // The tokens after an unknown option's name belong to that option, and are skipped.
                    input.parse::<TokenStream>()?;
                }
            }
            let rest: TokenStream = input.parse()?;
            if !rest.is_empty() {
                errors.at(rest, format!("expected `,` between options; {FORMS}"));
            }
            Ok(())
        };
        let whole = option.clone();
        if let Err(error) = Parser::parse2(&mut one, option) {
            errors.push_syntax_error(error, whole);
        }
    }
    options.has_cuda = has_cuda;
    options
}

/// Reports a missing body, at the function's name, since an attribute without options has no tokens to underline.
pub(super) fn require_bodies(
    options: &Options,
    (function, has_host_body): (&ItemFn, bool),
    errors: &mut Errors,
) {
    let name = &function.sig.ident;
    if options.image.is_given() {
        return;
    }
    if !has_host_body {
        let text =
            "this kernel has no Rust body, which the simulator runs: write it in place of `;`";
        errors.at(name, format!("{text}; only a kernel with `unsafe image` may have none"));
    } else if !options.has_cuda {
        errors.at(name, format!("this kernel has no CUDA body; {CUDA_FORM}"));
    }
}

/// Stores the option `grid_stride` or `partial`, and reports a second one.
fn coverage(options: &mut Options, word: Ident, errors: &mut Errors) {
    let written = if word == "partial" { Coverage::Partial } else { Coverage::GridStride };
    match &options.coverage {
        None => options.coverage = Some((written, word)),
        Some((before, _)) if *before == written => {
            errors.at(&word, format!("`{word}` is given twice; once is enough"));
        }
        Some(_) => errors.at(
            &word,
            "`grid_stride` and `partial` exclude each other: with `grid_stride` a launch writes every element, \
             and with `partial` it need not; leave one out",
        ),
    }
}

/// Reads the CUDA body after the word `cuda`: `= "…"`.
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

/// Reads the conditions after the word `requires`: `(condition, …)`.
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

/// Reads the types after the word `instances`: `(f32, f16)`, or `((u8, f32), (f32, u8))` for a kernel with several type
/// parameters.
fn instances(
    name: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Punctuated<Type, Token![,]>> {
    const FORM: &str = "`instances` takes the types of a generic kernel's instances, as `instances(f32, f16)`, or \
                        `instances((u8, f32), (f32, u8))` for two type parameters";
    if !input.peek(token::Paren) {
        let mut all = name.to_token_stream();
        all.extend(input.parse::<TokenStream>()?);
        errors.at(all, FORM);
        return Ok(Punctuated::new());
    }
    let types;
    parenthesized!(types in input);
    if types.is_empty() {
        errors.at(name, FORM);
    }
    let types: TokenStream = types.parse()?;
    let parsed = Punctuated::parse_terminated.parse2(types.clone());
    Ok(parsed.unwrap_or_else(|_| {
        errors.at(types, FORM);
        Punctuated::new()
    }))
}

/// Reads the block size after the word `threads`: `(x)`, `(x, y)` or `(x, y, z)`. Reports a block that CUDA does not permit (CUDA
/// programming guide, *Technical specifications per compute capability*: the limits are the same from 2.0 on).
fn threads(
    name: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<[u32; 3]>> {
    const FORM: &str =
        "`threads` takes the size of a block, as `threads(256)` or `threads(16, 16)`";
    const MAX_SIZE: [u32; 3] = [1024, 1024, 64];
    if !input.peek(token::Paren) {
        let mut all = name.to_token_stream();
        all.extend(input.parse::<TokenStream>()?);
        errors.at(all, FORM);
        return Ok(None);
    }
    let numbers;
    parenthesized!(numbers in input);
    let numbers: TokenStream = numbers.parse()?;
    let sizes = Punctuated::<LitInt, Token![,]>::parse_terminated.parse2(numbers.clone());
    let sizes = match sizes {
        Ok(sizes) if (1..=3).contains(&sizes.len()) => sizes,
        _ => {
            let all = if numbers.is_empty() { name.to_token_stream() } else { numbers };
            errors.at(all, format!("{FORM}: one to three numbers"));
            return Ok(None);
        }
    };
    let mut block = [1_u32; 3];
    for (index, size) in sizes.iter().enumerate() {
        let most = MAX_SIZE[index];
        match size.base10_parse::<u32>() {
            Ok(threads) if (1..=most).contains(&threads) => block[index] = threads,
            _ => {
                let axis = ["x", "y", "z"][index];
                errors.at(size, format!("a block has 1 to {most} threads in {axis}"));
                return Ok(None);
            }
        }
    }
    let threads: u32 = block.iter().product();
    if threads > 1024 {
        errors.at(&sizes, format!("a block has at most 1024 threads, and these make {threads}"));
        return Ok(None);
    }
    Ok(Some(block))
}
