//! Reads the policy of a node for failures: `#[on_failure(stop)]`, `#[on_failure(skip)]` or `#[on_failure(restart(n,
//! back_off))]`.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Meta, Token, parenthesized, token};

use crate::diagnostic::{Errors, similar};
use crate::graph::parse::condition_arguments::read_duration;
use crate::graph::parts::OnFailure;

const POLICIES: &str = "`stop` ends the run, which is the default, `skip` drops the messages of the failed tick, and \
                        `restart(n, back_off)` also makes the operator again";
const RESTART: &str = "`restart` takes how many restarts there may be in a row, and how long to wait before the first \
                       one: `restart(3, 10ms)`";

/// Reads the policy in `#[on_failure(…)]`. Returns `None` after reporting a mistake.
pub(super) fn read_on_failure(attribute: &Attribute, errors: &mut Errors) -> Option<OnFailure> {
    let tokens = match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    let mut policy = None;
    let mut parser = |input: ParseStream<'_>| {
        policy = read_policy(attribute, input, errors)?;
        Ok(())
    };
    if let Err(error) = Parser::parse2(&mut parser, tokens) {
        errors.push(error);
    }
    policy
}

fn read_policy(
    attribute: &Attribute,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<OnFailure>> {
    let Ok(name) = input.parse::<Ident>() else {
        input.parse::<TokenStream>()?;
        errors.at(attribute, format!("`#[on_failure(…)]` names one policy: {POLICIES}"));
        return Ok(None);
    };
    let written = name.to_string();
    let arguments = if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        Some(content.parse::<TokenStream>()?)
    } else {
        None
    };
    let rest: TokenStream = input.parse()?;
    if !rest.is_empty() {
        errors.at(rest, format!("a node has one policy: {POLICIES}"));
        return Ok(None);
    }
    Ok(match (written.as_str(), arguments) {
        ("stop", None) => Some(OnFailure::Stop),
        ("skip", None) => Some(OnFailure::Skip),
        ("restart", Some(arguments)) => read_restart(attribute, arguments, errors),
        ("restart", None) => {
            errors.at(&name, RESTART);
            None
        }
        ("stop" | "skip", Some(_)) => {
            errors.at(attribute, format!("`{written}` takes no arguments; {POLICIES}"));
            None
        }
        _ => {
            let hint = similar(&written, &["stop", "skip", "restart"]);
            let hint = hint.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
            errors.at(&name, format!("unknown policy `{written}`; {hint}{POLICIES}"));
            None
        }
    })
}

fn read_restart(
    attribute: &Attribute,
    arguments: TokenStream,
    errors: &mut Errors,
) -> Option<OnFailure> {
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments);
    let mut arguments = arguments.into_iter().flatten();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(most), Some(back_off), None) => {
            let back_off = read_duration(&back_off, None, errors)?;
            Some(OnFailure::Restart { most: Box::new(most), back_off })
        }
        _ => {
            errors.at(attribute, RESTART);
            None
        }
    }
}
