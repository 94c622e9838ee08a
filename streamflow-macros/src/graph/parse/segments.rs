//! Divides tokens at their semicolons.

use proc_macro2::{TokenStream, TokenTree};

/// The tokens of the body up to a semicolon, or up to the end of the body.
pub(super) struct Segment {
    pub(super) tokens: TokenStream,
    /// Whether the tokens end with a semicolon.
    pub(super) ended: bool,
}

pub(super) fn split_at_semicolons(body: TokenStream) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut tokens = TokenStream::new();
    for token in body {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                segments.push(Segment { tokens: std::mem::take(&mut tokens), ended: true });
            }
            _ => tokens.extend([token]),
        }
    }
    segments.push(Segment { tokens, ended: false });
    segments.retain(|segment| !segment.tokens.is_empty());
    segments
}
