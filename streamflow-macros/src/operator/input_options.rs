//! The options of `#[input(…)]`: whether the input may be empty, and how many edges lead to it.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Meta, Token};

use super::model::Size;
use crate::diagnostic::{Errors, similar};
use crate::expression::{attribute_before, whole_number};
use crate::tokens::split;

const FORM: &str =
    "write `#[input]`, `#[input(optional)]`, `#[input(many)]`, or `#[input(size = 3)]`";

/// The options of one `#[input(…)]`. By default, the input is required and one edge leads to it.
pub(super) struct InputOptions {
    pub(super) optional: bool,
    pub(super) size: Size,
}

impl Default for InputOptions {
    fn default() -> Self {
        Self { optional: false, size: Size::One }
    }
}

/// Reads the options of `#[input(…)]`. Each option is parsed separately, so that a mistake in one does not hide a mistake in
/// another.
pub(super) fn read_input_options(attr: &Attribute, errors: &mut Errors) -> InputOptions {
    let mut options = InputOptions::default();
    let list = match &attr.meta {
        Meta::Path(_) => return options,
        Meta::List(list) if !list.tokens.is_empty() => list,
        _ => {
            errors.at(attr, FORM);
            return options;
        }
    };
    for option in split(list.tokens.clone()) {
        let whole = option.clone();
        let mut parse = |input: ParseStream<'_>| {
            let name = input.call(Ident::parse_any)?;
            read_option(&name, &whole, input, &mut options, errors)
        };
        if Parser::parse2(&mut parse, option).is_err() {
            errors.at(whole, format!("expected an option; {FORM}"));
        }
    }
    if options.optional && matches!(options.size, Size::Exactly(_)) {
        errors.at(
            attr,
            "an input with a size gets a message from every producer, so it can't be optional; to \
             get only the messages that have arrived, write `#[input(many, optional)]`",
        );
        options.optional = false;
    }
    options
}

fn read_option(
    name: &Ident,
    whole: &TokenStream,
    input: ParseStream<'_>,
    options: &mut InputOptions,
    errors: &mut Errors,
) -> syn::Result<()> {
    let written = name.to_string();
    match written.as_str() {
        "optional" if options.optional => errors.at(whole, "`optional` is given twice"),
        "optional" => options.optional = true,
        "many" | "size" if !matches!(options.size, Size::One) => {
            input.parse::<TokenStream>()?;
            errors.at(whole, "an input has one size: `many`, or a number of producers");
        }
        "many" => options.size = Size::Many,
        "size" => {
            if !input.peek(Token![=]) {
                input.parse::<TokenStream>()?;
                errors.at(whole, "`size` needs the number of producers: `#[input(size = 3)]`");
                return Ok(());
            }
            input.parse::<Token![=]>()?;
            let size: Expr = input.parse()?;
            if let Some(error) = attribute_before(&size) {
                errors.push(error);
            } else if whole_number(&size) == Some(0) {
                errors.at(
                    whole,
                    "an input of size 0 never gets a message; write a size of at least 1",
                );
            } else {
                options.size = Size::Exactly(Box::new(size));
            }
        }
        _ => {
            let near = ["optional", "option", "opt", "many", "size"];
            let meant = similar(&written, &near).map(|meant| match meant {
                "many" | "size" => meant,
                _ => "optional",
            });
            options.optional |= meant == Some("optional");
            let hint = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
            errors.at(whole, format!("unknown option `{written}`; {hint}{FORM}"));
            // The tokens after an unknown option's name belong to that option, and are skipped.
            input.parse::<TokenStream>()?;
        }
    }
    let rest: TokenStream = input.parse()?;
    if !rest.is_empty() {
        errors.at(rest, format!("expected `,` between options; {FORM}"));
    }
    Ok(())
}
