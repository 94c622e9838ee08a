//! Kernels with one body: `#[kernel(map)]` and `#[kernel(stencil(…))]`.
//!
//! One walk over the body writes it twice: in Rust for the simulator, and in CUDA C++. Both call functions of the same names
//! with the same meaning, `streamflow::kernel::body` and `cuda/body.cuh`, so that no operator has the meaning of C++: nothing
//! is promoted, overflow wraps, and a multiplication and an addition are never fused.
//!
//! The macro does not know types. Each literal, `let` and value of a block has a *witness* in the Rust text, a value whose type
//! rustc infers together with the body. The text in CUDA names the type by the witness, and is made when the kernel is first
//! compiled.

mod calls;
mod control;
mod cuda;
mod expand;
mod expr;
mod generics;
mod host;
mod index;
mod methods;
mod options;
mod outside;
mod reduce;
mod reduced;
mod refuse;
mod signature;
mod statements;
mod stencil;
mod stub;
mod tables;
mod tiles;
mod translate;
mod value;
mod window;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ItemFn;

pub(crate) use self::expr::expr;
pub(crate) use self::index::field_name;
use self::signature::Signature;
use self::translate::{Body, Translator};
use crate::diagnostic::Errors;

/// Whether the options are those of a kernel with one body.
pub(super) fn has_one_body(options: &TokenStream) -> bool {
    let first = options.clone().into_iter().next();
    first.is_some_and(|word| matches!(&*word.to_string(), "map" | "stencil" | "reduce" | "scan"))
}

/// Expands one use of `#[kernel_fn]`.
pub(crate) fn kernel_fn(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    if !options.is_empty() {
        errors.at(options, "a function of kernels has no options: write `#[kernel_fn]`");
    }
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            errors.at(item.clone(), "`#[kernel_fn]` goes on a function with a body");
            return [item, errors.into_tokens()].into_iter().collect();
        }
    };
    let (signature, body) = translated(&function, &mut errors);
    let expanded = if errors.is_empty() {
        expand::function(&function, &signature, &body)
    } else {
        stub::function(&function, &signature)
    };
    [expanded, errors.into_tokens()].into_iter().collect()
}

/// The translation of a function of values.
fn translated(function: &ItemFn, errors: &mut Errors) -> (Signature, Body) {
    let signature = Signature::of_function(function, errors);
    reject_cfg(function.block.to_token_stream(), errors);
    let translator = Translator::new(&signature, errors);
    let body = translator.function(&function.block);
    let calls_itself = body.functions.iter().find(|path| path.is_ident(&function.sig.ident));
    if let Some(path) = calls_itself {
        errors.at(path, "a function of kernels can't call itself: write a loop");
    }
    (signature, body)
}

/// Reports `#[cfg]` in a body: rustc has not evaluated it yet, so the text in CUDA would not follow it.
fn reject_cfg(tokens: TokenStream, errors: &mut Errors) {
    let mut is_after_sign = false;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let first = group.stream().into_iter().next().map(|first| first.to_string());
            if is_after_sign && matches!(first.as_deref(), Some("cfg" | "cfg_attr")) {
                errors.at(group, "no `cfg` in a kernel's body: put it on the whole function");
            } else {
                reject_cfg(group.stream(), errors);
            }
        }
        is_after_sign = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '#');
    }
}

/// Expands one use of `#[kernel(map)]` or of another kernel with one body.
pub(super) fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            errors.at(item.clone(), "`#[kernel]` goes on a function with a body");
            return [item, errors.into_tokens()].into_iter().collect();
        }
    };
    let first = options.clone().into_iter().next();
    if let Some(TokenTree::Ident(word)) = first
        && let Some(form) = reduce::Form::of(&word)
    {
        let expanded = reduce::kernel(form, options, &function, &mut errors);
        return [expanded, errors.into_tokens()].into_iter().collect();
    }
    let stencil = signature::stencil_of(options, &mut errors);
    let signature = Signature::of(&function, stencil, &mut errors);
    reject_cfg(function.block.to_token_stream(), &mut errors);
    let mut translator = Translator::new(&signature, &mut errors);
    let host = translator.body(&function.block);
    let body = translator.finish(host);
    let expanded = if errors.is_empty() {
        expand::kernel(&function, &signature, &body)
    } else {
        stub::kernel(&function, &signature)
    };
    [expanded, errors.into_tokens()].into_iter().collect()
}
