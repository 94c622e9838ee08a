//! Reads the header of a graph: `#[…] pub struct Name(parameter: Type, …)`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Meta, Path, Token, Type, Visibility, parenthesized, parse_quote, token};

use super::attribute::{AttributeTarget, is_doc, reject_attribute, reject_inner_attributes};
use super::generics::{parse_generics, parse_where_clause, without_lifetimes};
use crate::diagnostic::Errors;
use crate::graph::parts::{Header, Param};
use crate::operator::read_interfaces;

pub(super) const GRAPH_FORM: &str =
    "a graph is written `pub struct Name(parameter: Type, …) { … }`";

/// Reads the header. Returns `None` after reporting that the name is missing.
pub(super) fn parse_header(input: ParseStream<'_>, errors: &mut Errors) -> Option<Header> {
    if let Err(error) = reject_inner_attributes(input, errors) {
        errors.push(error);
        return None;
    }
    let mut attributes = match input.call(Attribute::parse_outer) {
        Ok(attributes) => attributes,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let start = input.fork();
    let named = (|| {
        let visibility: Visibility = input.parse()?;
        let keyword: Token![struct] = input.parse()?;
        Ok::<_, syn::Error>((visibility, keyword, input.parse::<Ident>()?))
    })();
    let Ok((visibility, keyword, name)) = named else {
        let rest: TokenStream = start.parse().unwrap_or_default();
        // The error underlines the tokens up to the first group, where parameters or a body begin.
        let wrong = rest.into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
        errors.at(wrong.collect::<TokenStream>(), format!("this is no graph: {GRAPH_FORM}"));
        return None;
    };
    let GraphAttributes { green_contexts, replays, implements } =
        read_graph_attributes(&mut attributes, errors);
    let (mut generics, lifetimes) = parse_generics(input, errors);
    let mut params = Vec::new();
    if input.peek(token::Paren) {
        let list = (|| {
            let content;
            parenthesized!(content in input);
            content.parse::<TokenStream>()
        })();
        match list {
            Ok(list) => parse_params(list, &mut params, errors),
            Err(error) => errors.push(error),
        }
    }
    parse_where_clause(input, &mut generics, errors);
    for param in params.iter_mut().filter(|_| !lifetimes.is_empty()) {
        param.ty = without_lifetimes(&param.ty, &lifetimes);
    }
    let has_ports = false;
    Some(Header {
        attributes,
        visibility,
        keyword,
        name,
        generics,
        params,
        implements,
        has_ports,
        green_contexts,
        replays,
    })
}

/// The attributes of a graph other than those of its struct.
struct GraphAttributes {
    green_contexts: Option<Ident>,
    replays: Option<Attribute>,
    implements: Vec<Path>,
}

/// Takes `#[green_contexts(POOL)]`, `#[replay]` and `#[implements(Interface)]` out of the attributes, and reports and removes those that
/// a graph can't have. The remaining attributes are for the graph's struct.
fn read_graph_attributes(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> GraphAttributes {
    let (mut pool, mut replays, mut implements) = (None, None, Vec::new());
    attributes.retain(|attribute| {
        let path = attribute.path();
        if path.is_ident("green_contexts") {
            read_green_contexts(attribute, &mut pool, errors);
            return false;
        }
        if path.is_ident("replay") {
            if replays.is_some() {
                errors.at(attribute, "`#[replay]` is given twice; remove this one");
            } else if attribute.meta.require_path_only().is_err() {
                errors.at(
                    attribute,
                    "`#[replay]` takes nothing: it asks that repeated ticks are replayed",
                );
            }
            replays = Some(attribute.clone());
            return false;
        }
        if path.is_ident("implements") {
            let after = match &attribute.meta {
                Meta::List(list) => {
                    let tokens = &list.tokens;
                    quote!((#tokens))
                }
                _ => TokenStream::new(),
            };
            let word = Ident::new("implements", path.span());
            implements.extend(read_interfaces(&word, after, errors));
            return false;
        }
        if path.is_ident("cfg") || path.is_ident("cfg_attr") {
            let text = "`cfg` stands before `graph!`: more than the struct depends on it";
            errors.at(attribute, text);
            return true;
        }
        if path.is_ident("derive") {
            return check_derives(attribute, errors);
        }
        let is_known = is_of_struct(attribute);
        if !is_known {
            reject_attribute(attribute, AttributeTarget::Graph, errors);
        }
        is_known
    });
    GraphAttributes { green_contexts: pool, replays, implements }
}

/// The attributes of rustc that may stand on a struct.
const OF_RUSTC: &[&str] = &[
    "allow",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "must_use",
    "non_exhaustive",
    "repr",
    "warn",
];

/// Whether an attribute may stand on the graph's struct: an attribute of rustc, or one with the path of a tool or a crate. An
/// attribute of streamflow may not, with or without a path.
fn is_of_struct(attribute: &Attribute) -> bool {
    let path = attribute.path();
    let is_ours = path.segments.first().is_some_and(|first| first.ident == "streamflow");
    OF_RUSTC.iter().any(|name| path.is_ident(name)) || (path.segments.len() > 1 && !is_ours)
}

/// The standard traits that a graph can't derive.
const NOT_DERIVED: &[&str] =
    &["Clone", "Copy", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Reports derived traits that a graph can't have, and returns whether there are none. Without this check, rustc would report the
/// trait at each node.
fn check_derives(attribute: &Attribute, errors: &mut Errors) -> bool {
    let before = errors.len();
    let _ = attribute.parse_nested_meta(|meta| {
        let name = meta.path.segments.last().map(|last| last.ident.to_string());
        if let Some(name) = name.filter(|name| NOT_DERIVED.contains(&name.as_str())) {
            let text = format!(
                "a graph can't be `{name}`: it owns its operators and their queues; remove this, and make another \
                 graph with `new`"
            );
            errors.at(&meta.path, text);
        }
        Ok(())
    });
    errors.len() == before
}

/// Reads the name of the pool in `#[green_contexts(POOL)]`.
fn read_green_contexts(attribute: &Attribute, pool: &mut Option<Ident>, errors: &mut Errors) {
    match attribute.parse_args::<Ident>() {
        Ok(_) if pool.is_some() => {
            errors.at(attribute, "`#[green_contexts]` is given twice; a graph has one default");
        }
        Ok(name) => *pool = Some(name),
        Err(_) => errors.at(
            attribute,
            "this attribute names one green context pool of the graph, \
             `#[green_contexts(GREEN)]`: nodes without `#[streams]` use its default context",
        ),
    }
}

/// Reads the parameters of a graph: `name: Type, …`. Each is read separately, so that a mistake in one does not hide a mistake in
/// another.
fn parse_params(list: TokenStream, params: &mut Vec<Param>, errors: &mut Errors) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            for attribute in input.call(Attribute::parse_outer)? {
                let text = if is_doc(&attribute) {
                    "a parameter has no comment of its own; write about it above the graph"
                } else {
                    "a parameter of a graph takes no attributes; remove this"
                };
                errors.at(attribute, text);
            }
            let start = input.fork();
            match input.parse() {
                Ok(param) => params.push(param),
                Err(error) => {
                    params.extend(param_of_no_type(&start));
                    errors.push(error);
                }
            }
            if input.is_empty() {
                break;
            }
            if !input.peek(Token![,]) {
                // This parameter has a mistake that is already reported. All tokens up to the next comma belong to it.
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(list) {
        errors.push(error);
    }
}

/// Returns a parameter of a nonexistent type, for a parameter with a mistake. rustc reports neither that type nor the values that
/// callers of `new` pass for it, since another error is there already.
fn param_of_no_type(start: ParseStream<'_>) -> Option<Param> {
    let name: Ident = start.parse().ok()?;
    let unknown = Ident::new("__Unknown", name.span());
    Some(Param { name, ty: parse_quote!(#unknown) })
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let form = "a parameter of a graph is written `name: Type`";
        let name: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), form))?;
        input.parse::<Token![:]>().map_err(|_| syn::Error::new_spanned(&name, form))?;
        let ty: Type = input.parse()?;
        Ok(Self { name, ty })
    }
}
