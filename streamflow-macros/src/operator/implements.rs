//! Writes the implementation of an interface for an operator, `#[operator(implements(Source))]`, and for a graph with ports.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Generics, Path};

use super::model::{Direction, Operator};
use crate::diagnostic::Errors;
use crate::tokens::{braced, spelled_tokens, split};

const FORM: &str = "name the interfaces whose ports this has: `implements(Source)`";

/// Reads the paths of interfaces in `implements(Source, …)`, given the word and the tokens after it.
pub(crate) fn read_interfaces(word: &Ident, after: TokenStream, errors: &mut Errors) -> Vec<Path> {
    let mut tokens = after.clone().into_iter();
    let list = match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(list)), None) if list.delimiter() == Delimiter::Parenthesis => {
            split(list.stream())
        }
        _ => {
            errors.at(
                quote!(#word #after),
                format!("`implements` takes paths in parentheses; {FORM}"),
            );
            return Vec::new();
        }
    };
    if list.is_empty() {
        errors.at(word, format!("`implements()` names no interface; leave it out, or {FORM}"));
    }
    let (mut interfaces, mut known): (Vec<Path>, Vec<String>) = (Vec::new(), Vec::new());
    for part in list {
        match Path::parse_mod_style.parse2(part.clone()) {
            Ok(_) if known.contains(&spelled_tokens(part.clone())) => {
                errors.at(part, "this interface is named twice");
            }
            Ok(path) => {
                known.push(spelled_tokens(part));
                interfaces.push(path);
            }
            Err(_) => errors.at(part, format!("expected the path of an interface; {FORM}")),
        }
    }
    interfaces
}

/// A port of the type that implements an interface.
pub(crate) struct Promise<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) is_input: bool,
}

/// Writes the implementations of an operator's interfaces.
pub(super) fn expand_implements(operator: &Operator) -> TokenStream {
    let Operator { ident, cfgs, generics, .. } = operator;
    let (_, arguments, _) = generics.split_for_impl();
    let ports = operator.ports.iter().map(|port| Promise {
        name: &port.ident,
        is_input: matches!(port.direction, Direction::Input { .. }),
    });
    let ports: Vec<Promise<'_>> = ports.collect();
    let interfaces = operator.options.implements.iter().map(|interface| {
        let implementation =
            implement_interface(interface, generics, &quote!(#ident #arguments), &ports);
        quote!(#cfgs #implementation)
    });
    interfaces.collect()
}

/// Writes `impl Interface for Own { … }`. rustc underlines the interface if it has a port that the type lacks, and a port of the type
/// that the interface lacks, or that is another one there.
pub(crate) fn implement_interface(
    interface: &Path,
    generics: &Generics,
    own: &TokenStream,
    ports: &[Promise<'_>],
) -> TokenStream {
    let (params, _, clauses) = generics.split_for_impl();
    let span = interface.span();
    let fields = ports.iter().map(|Promise { name, is_input }| {
        let function =
            Ident::new(if *is_input { "promise_input" } else { "promise_output" }, name.span());
        quote_spanned!(name.span()=> #name: ::streamflow::__private::#function(&mut __ports.#name),)
    });
    let fields = braced(span, quote!(#(#fields)*));
    let head = quote_spanned!(span=> impl #params #interface for #own #clauses);
    let body = quote_spanned! {span=>
        #[allow(unused_mut, unused_variables)]
        fn interface(
            __made: &mut <Self as ::streamflow::__private::NodeType>::Made,
            _: ::streamflow::__private::Wiring,
        ) -> Self::InterfacePorts<'_> {
            let mut __ports = ::streamflow::__private::ports(__made);
            Self::InterfacePorts #fields
        }
    };
    let body = braced(span, body);
    quote!(#[diagnostic::do_not_recommend] #head #body)
}
