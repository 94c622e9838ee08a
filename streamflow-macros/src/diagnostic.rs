//! Collects the mistakes that are found in one use of a macro. The parsing and checking steps add them to `Errors`, and the macro
//! reports all of them at its end. The steps that write the expansion find no mistakes.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The error text for a field that is called `_`. rustc rejects such a field too, but not where it is the output of another
/// macro.
pub(crate) const NAMELESS: &str = "a field needs a name; `_` is none";

/// The mistakes that were found so far in one use of a macro.
#[derive(Default)]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
}

impl Errors {
    /// Adds a mistake. rustc underlines all of `tokens`, or the use of the macro if there are none.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Into<String>) {
        self.list.push(syn::Error::new_spanned(tokens, message.into()));
    }

    /// Adds a mistake that syn found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// Adds a mistake that syn found in `tokens`. If syn expects more after their end, the last token is underlined.
    pub(crate) fn push_syntax_error(&mut self, error: syn::Error, tokens: impl ToTokens) {
        let Some(expected) =
            error.to_string().strip_prefix("unexpected end of input").map(|rest| {
                let rest = rest.trim_start_matches(", ");
                if rest.is_empty() { "expected more".to_owned() } else { rest.to_owned() }
            })
        else {
            self.push(error);
            return;
        };
        let last = tokens.into_token_stream().into_iter().last();
        self.at(last, format!("{expected} after this"));
    }

    /// Returns the number of mistakes.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the texts of the mistakes, for tests.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<String> {
        self.list.iter().map(ToString::to_string).collect()
    }

    /// Removes the first mistake and returns it as a `compile_error!`, which stands in place of an expression. Returns `false` if
    /// there is none.
    pub(crate) fn take_first(&mut self) -> TokenStream {
        if self.list.is_empty() {
            return quote::quote!(false);
        }
        self.list.remove(0).into_compile_error()
    }

    /// Writes a `compile_error!` for each mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.list.into_iter().map(syn::Error::into_compile_error).collect()
    }
}

/// Returns the name among `known` that `written` probably misspells.
pub(crate) fn similar<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_near = |name: &&&str| distance(written, name) <= 1 + name.len() / 4;
    known.iter().filter(is_near).min_by_key(|name| distance(written, name)).copied()
}

/// Returns the Levenshtein distance of two words: how many letters must be changed, inserted or removed to get from one to the
/// other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_is_recognised_and_another_word_is_not() {
        let known = ["cuda", "requires"];
        assert_eq!(similar("cuad", &known), Some("cuda"));
        assert_eq!(similar("cude", &known), Some("cuda"));
        assert_eq!(similar("cda", &known), Some("cuda"));
        assert_eq!(similar("require", &known), Some("requires"));
        assert_eq!(similar("host", &known), None);
    }

    #[test]
    fn distances_are_counted_in_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
