//! Writes one check: a constant, or a statement of a constant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::graph::model::Graph;

/// The checks of a graph, or of a part of it.
#[derive(Default)]
pub(super) struct Assertions {
    /// The checks that name no generic parameter of the graph, each as a constant.
    pub(super) items: TokenStream,
    /// The checks that name one, as the statements of a constant of the graph's type.
    pub(super) statements: TokenStream,
}

impl Extend<Self> for Assertions {
    fn extend<I: IntoIterator<Item = Self>>(&mut self, others: I) {
        for Self { items, statements } in others {
            self.items.extend(items);
            self.statements.extend(statements);
        }
    }
}

impl FromIterator<Self> for Assertions {
    fn from_iter<I: IntoIterator<Item = Self>>(others: I) -> Self {
        let mut all = Self::default();
        all.extend(others);
        all
    }
}

/// Writes a constant `const name: () = check;` for each check, or a statement if one names a parameter of the graph.
pub(super) fn assertion<const N: usize>(
    graph: &Graph,
    checks: [(&str, TokenStream); N],
) -> Assertions {
    if checks.iter().any(|(_, check)| graph.header.depends(check)) {
        let checks = checks.into_iter().map(|(_, check)| check);
        return Assertions { items: TokenStream::new(), statements: quote!(#(#checks;)*) };
    }
    let constants = checks.into_iter().map(|(name, check)| {
        let name = Ident::new(name, Span::call_site());
        quote! {
            #[allow(non_upper_case_globals)]
            const #name: () = #check;
        }
    });
    Assertions { items: quote!(const _: () = { #(#constants)* };), statements: TokenStream::new() }
}
