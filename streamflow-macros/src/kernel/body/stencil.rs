//! The options of a stencil: `#[kernel(stencil(reach = [1, 1], border = clamp))]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprArray, ExprLit, Lit, Token, Type};

use crate::diagnostic::{Errors, similar};

/// The borders by their words, each with the name of its type in CUDA and of its variant in Rust.
const BORDERS: [(&str, &str); 4] =
    [("clamp", "Clamp"), ("zero", "Zero"), ("wrap", "Wrap"), ("mirror", "Mirror")];
const FORM: &str = "`#[kernel(stencil(reach = [1, 1], border = clamp))]`";

/// How far the windows of a kernel reach, and what is beyond their edges.
pub(super) struct Stencil {
    /// The largest distance in each dimension.
    pub(super) reach: Vec<u16>,
    pub(super) border: Ident,
}

/// `reach = [1, 1]`, `border = clamp`
struct Setting {
    name: Ident,
    value: Expr,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { name, value: input.parse()? })
    }
}

impl Stencil {
    /// Reads the options after the word `stencil`. With a mistake, the result has a reach of no dimensions.
    pub(super) fn of(options: TokenStream, errors: &mut Errors) -> Self {
        let mut stencil = Self { reach: Vec::new(), border: format_ident!("Clamp") };
        let mut tokens = options.into_iter();
        let word = tokens.next().map(|word| word.to_token_stream()).unwrap_or_default();
        let rest: TokenStream = tokens.collect();
        let settings = match syn::parse2::<Settings>(rest.clone()) {
            Ok(settings) => settings.0,
            Err(_) => {
                let at = if rest.is_empty() { word } else { rest };
                errors.at(at, format!("the options of a stencil are `reach` and `border`: {FORM}"));
                return stencil;
            }
        };
        let (mut has_reach, mut has_border) = (false, false);
        for Setting { name, value } in &settings {
            let known = match name.to_string().as_str() {
                "reach" => &mut has_reach,
                "border" => &mut has_border,
                _ => {
                    let text = format!("a stencil has no option `{name}`: {FORM}");
                    errors.at(name, text);
                    return stencil;
                }
            };
            if std::mem::replace(known, true) {
                errors.at(name, format!("`{name}` is set twice: remove this"));
                continue;
            }
            if name == "reach" {
                stencil.reach = reach(value, errors).unwrap_or_default();
            } else {
                stencil.border = border(value, errors).unwrap_or(stencil.border);
            }
        }
        if !has_reach {
            let text = "how far does a window reach in each dimension? Add `reach = [1, 1]`";
            errors.at(&word, text);
        }
        if !has_border {
            let text = "what is beyond the edge? Add `border = clamp`, `zero`, `wrap` or `mirror`";
            errors.at(&word, text);
        }
        stencil
    }

    /// The options that would permit a distance in a dimension, as text.
    pub(super) fn with_reach(&self, dim: usize, distance: u64) -> String {
        let mut reach: Vec<u64> = self.reach.iter().map(|reach| (*reach).into()).collect();
        reach[dim] = distance;
        format!("reach = {reach:?}")
    }
}

struct Settings(Punctuated<Setting, Token![,]>);

impl Parse for Settings {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let within;
        syn::parenthesized!(within in input);
        Ok(Self(Punctuated::parse_terminated(&within)?))
    }
}

fn reach(value: &Expr, errors: &mut Errors) -> Option<Vec<u16>> {
    let number = |length: &Expr| match length {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse::<u16>().ok(),
        _ => None,
    };
    let all = match value {
        Expr::Array(ExprArray { elems, .. }) => elems.iter().map(number).collect(),
        _ => None,
    };
    match all {
        Some(all) if (1..=4).contains(&Vec::len(&all)) => Some(all),
        _ => {
            let text = "the reach is a list of 1 to 4 numbers, one for each dimension and at most 65535: `reach = [1, 1]`";
            errors.at(value, text);
            None
        }
    }
}

fn border(value: &Expr, errors: &mut Errors) -> Option<Ident> {
    let written = match value {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
        _ => String::new(),
    };
    let found = BORDERS.iter().find(|(word, _)| *word == written);
    if found.is_none() {
        let near = similar(&written, &BORDERS.map(|(word, _)| word));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        errors.at(value, format!("a border is `clamp`, `zero`, `wrap` or `mirror`{near}"));
    }
    found.map(|(_, name)| format_ident!("{name}"))
}

/// The elements of a `Window<T>`: `None` for another type.
pub(super) fn window(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Window")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => {
            match arguments.args.first() {
                Some(syn::GenericArgument::Type(element)) => Some(element),
                _ => None,
            }
        }
        _ => None,
    }
}
