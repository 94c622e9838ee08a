//! Reads the options of `#[operator(…)]`, and the item that the attribute stands on.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{DeriveInput, parenthesized, token};

use super::implements::read_interfaces;
use super::map::read_map;
use super::model::Options;
use crate::diagnostic::{Errors, similar};
use crate::tokens::split;

const FORMS: &str =
    "the options are `map = …`, `streams(…)`, `implements(…)`, `no_new`, `stays` and `flush`";
const STREAMS_FORM: &str = "name the streams that this operator allocates: `streams(fill, copy)`";

/// Parses the item as a type: a struct, an enum or a union. Reports any other item, and returns `None` for it.
pub(super) fn parse_item(item: TokenStream, errors: &mut Errors) -> Option<DeriveInput> {
    match syn::parse2(item.clone()) {
        Ok(input) => Some(input),
        Err(error) if is_struct(item.clone()) => {
            // The struct has a syntax mistake. rustc has reported the details, since rustc reads the struct before it calls the
            // macro.
            if let Some(keyword) =
                error.to_string().strip_prefix("expected identifier, found keyword `")
            {
                let word = keyword.trim_end_matches('`');
                let way = if ["self", "Self", "super", "crate"].contains(&word) {
                    "give it another name".to_owned()
                } else {
                    format!("write `r#{word}`, or give it another name")
                };
                let text = format!("a field can't be named `{word}`; {way}");
                errors.push(syn::Error::new(error.span(), text));
                return None;
            }
            errors.push_syntax_error(
                syn::Error::new(error.span(), format!("{error}; so this struct can't be read")),
                item,
            );
            None
        }
        Err(_) => {
            errors.at(
                item,
                "`#[operator]` goes on a struct; the code of the operator goes in its \
                 `impl Compute`",
            );
            None
        }
    }
}

/// Whether the item is a struct, also one with syntax mistakes: the word `struct` occurs in it before any braces.
pub(super) fn is_struct(item: TokenStream) -> bool {
    let words = item.into_iter().take_while(|token| match token {
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        _ => true,
    });
    words.into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "struct"))
}

/// Reads the options of `#[operator(…)]`. Each option is parsed separately, so that a mistake in one does not hide a mistake in
/// another.
pub(super) fn parse_options(tokens: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut given: Vec<String> = Vec::new();
    for option in split(tokens) {
        let mut one = |input: ParseStream<'_>| {
            let name = input.call(Ident::parse_any)?;
            let text = meant(&name, errors);
            let again = given.contains(&text);
            match text.as_str() {
                "map" | "streams" | "implements" | "no_new" | "stays" | "flush" if again => {
                    if name == text {
                        errors.at(&name, format!("`{name}` is given twice"));
                    }
                    input.parse::<TokenStream>()?;
                    return Ok(());
                }
                "map" => options.map = read_map(&name, input, errors),
                "streams" => read_streams(&name, input, &mut options, errors)?,
                "implements" => {
                    let list: TokenStream = input.parse()?;
                    options.implements = read_interfaces(&name, list, errors);
                }
                "no_new" | "stays" | "flush" => {
                    match text.as_str() {
                        "no_new" => options.no_new = true,
                        "flush" => options.flush = true,
                        _ => options.stays = true,
                    }
                    let rest: TokenStream = input.parse()?;
                    if !rest.is_empty() {
                        errors.at(rest, format!("`{text}` takes nothing; remove this"));
                    }
                }
                // `unlisted` is for the library's own operators: it keeps rustc from listing them in errors about a user's
                // operator.
                "unlisted" => options.unlisted = true,
                // The tokens after an unknown option's name belong to that option, and are skipped.
                _ => drop(input.parse::<TokenStream>()?),
            }
            given.push(text);
            Ok(())
        };
        let whole = option.clone();
        if Parser::parse2(&mut one, option).is_err() {
            errors.at(whole, format!("expected an option; {FORMS}"));
        }
    }
    options
}

/// Returns the option that a name means. A misspelt name is reported and counts as the option that it resembles, so that the
/// operator's code finds its ports and streams.
fn meant(name: &Ident, errors: &mut Errors) -> String {
    const OPTIONS: &[&str] = &["map", "streams", "implements", "no_new", "stays", "flush"];
    let written = name.to_string();
    if written == "unlisted" || OPTIONS.contains(&written.as_str()) {
        return written;
    }
    let near = similar(&written, OPTIONS);
    let hint = near.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    errors.at(name, format!("unknown option `{written}`; {hint}{FORMS}"));
    near.map_or(written, str::to_owned)
}

/// Reads the names of streams in parentheses, as `(fill, copy)`.
fn read_streams(
    name: &Ident,
    input: ParseStream<'_>,
    options: &mut Options,
    errors: &mut Errors,
) -> syn::Result<()> {
    if !input.peek(token::Paren) {
        let mut all = name.to_token_stream();
        all.extend(input.parse::<TokenStream>()?);
        errors.at(all, format!("`streams` takes names in parentheses; {STREAMS_FORM}"));
        return Ok(());
    }
    let inside;
    parenthesized!(inside in input);
    let tokens: TokenStream = inside.parse()?;
    if tokens.is_empty() {
        errors.at(name, format!("`streams()` names no stream; leave it out, or {STREAMS_FORM}"));
    }
    for part in split(tokens) {
        match Ident::parse.parse2(part.clone()) {
            Err(_) => {
                let keyword = Ident::parse_any.parse2(part.clone()).ok();
                let text = match keyword {
                    Some(word) => format!("a stream can't be named `{word}`; give it another name"),
                    None => format!("expected the name of a stream; {STREAMS_FORM}"),
                };
                // A name in quotes is reported, and declares the stream of that name.
                let quoted = syn::parse2::<syn::LitStr>(part.clone()).ok();
                let quoted = quoted.and_then(|text| text.parse::<Ident>().ok());
                options.streams.extend(quoted.filter(|name| !options.streams.contains(name)));
                errors.at(part, text);
            }
            Ok(stream) if options.streams.contains(&stream) => {
                errors.at(&stream, format!("the stream `{stream}` is named twice"));
            }
            Ok(stream) => {
                if stream.unraw().to_string().starts_with("__") {
                    errors.at(&stream, "names that begin with `__` are reserved");
                }
                options.streams.push(stream);
            }
        }
    }
    let rest: TokenStream = input.parse()?;
    if !rest.is_empty() {
        errors.at(rest, "only a comma may follow `streams(…)`; remove this");
    }
    Ok(())
}
