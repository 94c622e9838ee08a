//! Tests that the macros expand any tokens to items or errors, and never panic.
//!
//! The test takes the uses of the macros in the tests' programs and changes their tokens randomly. `STREAMFLOW_FUZZ_CASES` is the
//! number of cases, by default 500. `STREAMFLOW_FUZZ_SEED` repeats the one case that a failure names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::splitmix::SplitMix;

/// One use of a macro: its options, and the item that it stands on.
#[derive(Clone)]
enum Use {
    Graph(TokenStream),
    Operator(TokenStream, TokenStream),
    Kernel(TokenStream, TokenStream),
    Message(TokenStream),
}

impl Use {
    fn expand(self) -> TokenStream {
        match self {
            Self::Graph(body) => {
                // In an editor, tokens that do not yet form an expression stay in the expansion.
                let _ = crate::graph::graph_in_an_editor(body.clone());
                crate::graph::graph(body)
            }
            Self::Operator(options, item) => {
                let _ = crate::operator::operator_in_an_editor(options.clone(), item.clone());
                crate::operator::operator(options, item)
            }
            Self::Kernel(options, item) => crate::kernel::kernel(options, item),
            Self::Message(item) => crate::message::message(item),
        }
    }

    fn map(self, mut change: impl FnMut(TokenStream) -> TokenStream) -> Self {
        match self {
            Self::Graph(body) => Self::Graph(change(body)),
            Self::Operator(options, item) => Self::Operator(change(options), change(item)),
            Self::Kernel(options, item) => Self::Kernel(change(options), change(item)),
            Self::Message(item) => Self::Message(change(item)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Graph(body) => format!("graph! {{ {body} }}"),
            Self::Operator(options, item) => format!("#[operator({options})] {item}"),
            Self::Kernel(options, item) => format!("#[kernel({options})] {item}"),
            Self::Message(item) => format!("#[derive(Message)] {item}"),
        }
    }
}

/// Returns all uses of the macros in the programs of the folder `tests`.
fn corpus() -> Vec<Use> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    files.sort();
    let mut uses = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if let Ok(tokens) = TokenStream::from_str(&text) {
            collect(tokens, &mut uses);
        }
    }
    uses
}

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Adds each `graph! { … }` to `uses`, and each attribute of streamflow with the item that follows it.
fn collect(tokens: TokenStream, uses: &mut Vec<Use>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            let before: String =
                tokens[at.saturating_sub(2)..at].iter().map(ToString::to_string).collect();
            if before == "graph!" {
                uses.push(Use::Graph(group.stream()));
            } else if before.ends_with('#') {
                attribute(group.stream(), &tokens[at + 1..], uses);
            }
            collect(group.stream(), uses);
        }
    }
}

fn attribute(attribute: TokenStream, rest: &[TokenTree], uses: &mut Vec<Use>) {
    let mut parts = attribute.into_iter();
    let Some(TokenTree::Ident(name)) = parts.next() else { return };
    let options = match parts.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    };
    // An item ends with its body in braces or with a semicolon.
    let end = rest.iter().position(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    });
    let Some(end) = end else { return };
    let item: TokenStream = rest[..=end].iter().cloned().collect();
    match name.to_string().as_str() {
        "operator" => uses.push(Use::Operator(options, item)),
        "kernel" => uses.push(Use::Kernel(options, item)),
        "derive" if options.to_string().contains("Message") => uses.push(Use::Message(item)),
        _ => {}
    }
}

struct Random(SplitMix);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns a random token that is rare in the programs, or that does not occur in them.
    fn token(&mut self) -> TokenTree {
        let here = Span::call_site();
        match self.below(5) {
            0 => Punct::new(
                *self.choose(&[';', '.', '>', '<', '#', ',', '=', ':', '&', '\'', '!']),
                Spacing::Alone,
            )
            .into(),
            1 => {
                let words = [
                    "let", "const", "_", "struct", "in", "none", "mut", "where", "dyn", "self",
                    "platform", "worker", "stays", "flush",
                ];
                {
                    let word = words[self.below(words.len())];
                    Ident::new(word, here)
                }
                .into()
            }
            2 => {
                let words = ["type", "match", "fn", "image"];
                Ident::new_raw(words[self.below(4)], here).into()
            }
            3 => match self.below(4) {
                0 => Literal::usize_unsuffixed(7).into(),
                1 => Literal::string("text").into(),
                2 => Literal::f32_suffixed(1.5).into(),
                _ => Literal::byte_string(b"bytes").into(),
            },
            _ => {
                let delimiters =
                    [Delimiter::Brace, Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::None];
                Group::new(*self.choose(&delimiters), TokenStream::new()).into()
            }
        }
    }

    /// Removes, repeats, swaps and nests random tokens at any depth, and inserts tokens from `others`.
    fn garble(&mut self, tokens: TokenStream, others: &[TokenTree]) -> TokenStream {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for _ in 0..self.below(3) {
            let len = tokens.len();
            let at = self.below(len + 1);
            if at == len {
                tokens.push(if self.below(2) == 0 {
                    self.token()
                } else {
                    self.choose(others).clone()
                });
                continue;
            }
            match self.below(8) {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[at].clone()),
                2 => tokens.swap(at, (at + 1) % len),
                3 => tokens.truncate(at),
                4 => tokens[at] = self.choose(others).clone(),
                5 => tokens.insert(at, self.choose(others).clone()),
                6 => tokens.insert(at, self.token()),
                _ => {
                    let delimiters = [Delimiter::Brace, Delimiter::Parenthesis, Delimiter::None];
                    let inside = tokens[at].clone().into();
                    tokens[at] = Group::new(*self.choose(&delimiters), inside).into();
                }
            }
        }
        let changed = tokens.into_iter().map(|token| match token {
            TokenTree::Group(group) if self.below(2) == 0 => {
                let inside = self.garble(group.stream(), others);
                Group::new(group.delimiter(), inside).into()
            }
            other => other,
        });
        changed.collect()
    }
}

/// Appends all tokens to `all`, at any depth.
fn flatten(tokens: TokenStream, all: &mut Vec<TokenTree>) {
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            flatten(group.stream(), all);
        }
        all.push(token);
    }
}

/// Asserts that an expansion consists of items. An input that was no item may be unchanged instead.
fn check(before: &Use, after: &TokenStream) {
    let item = match before {
        Use::Operator(_, item) | Use::Kernel(_, item) => Some(item.clone()),
        Use::Graph(_) | Use::Message(_) => None,
    };
    if item.is_none_or(|item| syn::parse2::<syn::File>(item).is_ok()) {
        let file = syn::parse2::<syn::File>(after.clone());
        let file = file.unwrap_or_else(|error| panic!("no items: {error}\n{after}"));
        assert!(!file.items.is_empty() || matches!(before, Use::Message(_)), "nothing is left");
    }
}

fn check_case(seed: u64, corpus: &[Use], others: &[TokenTree]) {
    let mut random = Random(SplitMix::new(seed));
    let chosen = random.choose(corpus).clone();
    let garbled = chosen.map(|tokens| random.garble(tokens, others));
    let result = catch_unwind(AssertUnwindSafe(|| check(&garbled, &garbled.clone().expand())));
    assert!(result.is_ok(), "STREAMFLOW_FUZZ_SEED={seed} makes a macro fail:\n{}", garbled.text());
}

#[test]
fn what_once_made_a_macro_fail_expands_to_items() {
    let add = quote::quote!(
        pub fn add(sum: &mut [f32], a: &[impl Copy]) {}
    );
    let options = quote::quote!(unsafe cuda = "");
    let add = Use::Kernel(options, add);
    check(&add, &add.clone().expand());

    let sum = quote::quote!(
        struct Sum {
            #[input]
            frame: &Tensor<u8>,
            seen: Seen<u8>,
        }
    );
    let sum = Use::Operator(quote::quote!(), sum);
    check(&sum, &sum.clone().expand());

    let graph = Use::Graph(quote::quote!(
        struct Conditions {
            #[when(room(self))]
            let cast: Cast = Cast::new();
        }
    ));
    check(&graph, &graph.clone().expand());
}

#[test]
fn garbled_tokens_do_not_make_a_macro_panic() {
    let corpus = corpus();
    assert!(corpus.len() > 300, "{} uses of macros", corpus.len());
    for used in &corpus {
        check(used, &used.clone().expand());
    }
    let mut others = Vec::new();
    for used in &corpus {
        used.clone().map(|tokens| {
            flatten(tokens.clone(), &mut others);
            tokens
        });
    }
    if let Ok(seed) = std::env::var("STREAMFLOW_FUZZ_SEED") {
        check_case(seed.parse().unwrap(), &corpus, &others);
        return;
    }
    let cases = std::env::var("STREAMFLOW_FUZZ_CASES").map_or(500, |text| text.parse().unwrap());
    (0..cases).for_each(|case| check_case(case, &corpus, &others));
}
