//! The options of a kernel's form: `reduce(identity = 0.0, map = square)`.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Token};

use crate::diagnostic::{Errors, similar};

/// A form, with the names of its options.
pub(super) struct Form {
    /// "a reduction"
    pub(super) name: &'static str,
    /// The names of the options.
    pub(super) options: &'static [&'static str],
    /// The way out of a mistake: "write `#[kernel(reduce(identity = 0.0))]`"
    pub(super) way: &'static str,
}

/// The options of one use of a form, each with its value.
pub(super) struct Options {
    /// The name of the form.
    pub(super) word: Ident,
    all: Vec<(Ident, Expr)>,
}

impl Options {
    /// Reads the options. Returns `None` for tokens that are none, after their report. An option that the form does not have, or
    /// that is given a second time, is reported and left out.
    pub(super) fn read(tokens: TokenStream, form: &Form, errors: &mut Errors) -> Option<Self> {
        let Form { name, options, way } = form;
        let written = tokens.clone();
        let (word, list) = match parse.parse2(tokens) {
            Ok(parsed) => parsed,
            Err(_) => {
                let rest: TokenStream = written.into_iter().skip(1).collect();
                let known: Vec<_> = options.iter().map(|option| format!("`{option}`")).collect();
                let text = format!("the options of {name} are {}: {way}", known.join(" and "));
                errors.at(rest, text);
                return None;
            }
        };
        let mut all: Vec<(Ident, Expr)> = Vec::new();
        for (option, value) in list {
            if !options.iter().any(|known| option == known) {
                let near = similar(&option.to_string(), options);
                let way = near.map_or((*way).to_owned(), |near| format!("did you mean `{near}`?"));
                errors.at(&option, format!("{name} has no option `{option}`; {way}"));
            } else if all.iter().any(|(known, _)| *known == option) {
                errors.at(&option, format!("`{option}` is given twice: remove one"));
            } else {
                all.push((option, value));
            }
        }
        Some(Self { word, all })
    }

    /// The value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&Expr> {
        self.all.iter().find(|(option, _)| option == name).map(|(_, value)| value)
    }
}

/// `reduce`, or `reduce(identity = 0.0, map = square)`
fn parse(input: ParseStream<'_>) -> syn::Result<(Ident, Vec<(Ident, Expr)>)> {
    let word: Ident = input.parse()?;
    if input.is_empty() {
        return Ok((word, Vec::new()));
    }
    let content;
    syn::parenthesized!(content in input);
    let list = Punctuated::<(Ident, Expr), Token![,]>::parse_terminated_with(&content, |input| {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((name, input.parse()?))
    })?;
    if input.is_empty() {
        Ok((word, list.into_iter().collect()))
    } else {
        Err(input.error("the end"))
    }
}
