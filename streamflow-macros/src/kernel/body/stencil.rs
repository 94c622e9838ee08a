//! The options of a stencil: `#[kernel(stencil(reach = [1, 1], border = clamp))]`.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{Expr, ExprArray, ExprLit, Lit, Type};

use super::options::{Form, Options};
use crate::diagnostic::{Errors, similar};

/// The borders by their words, each with the name of its type in CUDA and of its variant in Rust.
const BORDERS: [(&str, &str); 4] =
    [("clamp", "Clamp"), ("zero", "Zero"), ("wrap", "Wrap"), ("mirror", "Mirror")];
const FORM: &str = "write `#[kernel(stencil(reach = [1, 1], border = clamp))]`";

/// How far the windows of a kernel reach, and what is beyond their edges.
pub(super) struct Stencil {
    /// The largest distance in each dimension.
    pub(super) reach: Vec<u16>,
    pub(super) border: Ident,
}

impl Stencil {
    /// Reads the options after the word `stencil`. With a mistake, the result has a reach of no dimensions.
    pub(super) fn of(options: TokenStream, errors: &mut Errors) -> Self {
        let mut stencil = Self { reach: Vec::new(), border: format_ident!("Clamp") };
        let form = Form { name: "a stencil", options: &["reach", "border"], way: FORM };
        let before = errors.len();
        let Some(options) = Options::read(options, &form, errors) else { return stencil };
        let is_sound = errors.len() == before;
        if let Some(value) = options.value("reach") {
            stencil.reach = reach(value, errors).unwrap_or_default();
        }
        if let Some(value) = options.value("border") {
            stencil.border = border(value, errors).unwrap_or(stencil.border);
        }
        let missing = match (options.value("reach"), options.value("border")) {
            (None, None) => format!("the options of a stencil are `reach` and `border`: {FORM}"),
            (None, _) => {
                "how far does a window reach in each dimension? Add `reach = [1, 1]`".to_owned()
            }
            (_, None) => {
                "what is beyond the edge? Add `border = clamp`, `zero`, `wrap` or `mirror`"
                    .to_owned()
            }
            _ => return stencil,
        };
        // An option with a wrong name may be the one that is missing.
        if is_sound {
            errors.at(&options.word, missing);
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
