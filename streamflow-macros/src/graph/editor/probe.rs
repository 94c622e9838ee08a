//! Writes each of the user's tokens once, in a context where an editor can resolve it.
//!
//! The body is read token by token, since a statement that the user is still typing does not parse yet. The code has
//! `nodes::all()` before each name of a node, and wherever the user may add such a name: an editor then offers the fields of
//! `nodes`, and nothing else. Each list of words ends with one more word of that list, for the same reason.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

use super::words::{self, ATTRIBUTE, Kind, List, Word};
use crate::editor::{away_from_user, is_word, relocate};
use crate::graph::expand::{named, operator_item};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::Pool;
use crate::tokens::split;

/// Returns a block with the user's tokens. The block's own types have names in lower case, so they differ from the user's types.
pub(super) fn write(graph: &Graph, body: TokenStream) -> TokenStream {
    let header = &graph.header;
    let (own, (generics, arguments, clauses)) =
        (relocate(header.own_type()), header.generics.split_for_impl());
    let [generics, arguments, clauses] =
        [generics.to_token_stream(), arguments.to_token_stream(), clauses.to_token_stream()]
            .map(relocate);
    let params = graph.header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    let fields = graph.nodes.iter().map(|node| {
        let name = away_from_user(&node.name);
        let ports = relocate(operator_item(node.element().unwrap_or(&node.ty), "__Ports"));
        quote!(#name: #ports)
    });
    let own_ports = graph.ports.iter().map(|port| away_from_user(&port.name));
    let ports = graph.has_ports().then(|| {
        let ports = away_from_user(&named(graph, "_Ports"));
        let lifetime = Lifetime::new("'static", Span::call_site());
        let generics = header.with_lifetime(&lifetime);
        let (_, arguments, _) = generics.split_for_impl();
        let arguments = relocate(arguments.to_token_stream());
        quote!(fn ports() -> &'static #ports #arguments { loop {} })
    });
    let words = words::define_all(graph);
    let pools = graph.pools.iter().map(write_pool);
    let green = graph.header.green_contexts.as_ref().map(|pool| quote!(let _ = #pool;));
    let mut probe = Probe { graph, written: TokenStream::new() };
    for statement in split_statements(body) {
        probe.write_statement(&statement);
    }
    let statements = probe.written;
    quote! {
        #[allow(warnings)]
        const _: () = {
            fn graph #generics (platform: &::streamflow::__private::Platform, #(#params,)*)
                -> ::core::result::Result<(), ::streamflow::__private::Failure>
                #clauses
            {
                #(#pools)*
                #green
                #statements
                ::core::result::Result::Ok(())
            }
            struct nodes #generics #clauses { #(#fields,)* #(#own_ports: (),)* }
            impl #generics nodes #arguments #clauses {
                fn all() -> &'static Self { loop {} }
                fn graph() -> &'static #own { loop {} }
                #ports
            }
            #words
        };
    }
}

/// Returns the tokens after an index, if they begin with one.
fn without_index(tokens: &[TokenTree]) -> &[TokenTree] {
    match tokens {
        [TokenTree::Group(index), rest @ ..] if index.delimiter() == Delimiter::Bracket => rest,
        _ => tokens,
    }
}

fn write_pool(pool: &Pool) -> TokenStream {
    let Pool { docs, name, ty, description, .. } = pool;
    if pool.is_made_by_run {
        let value = evaluate(&quote!(#ty), &quote!(#description));
        quote!(#(#docs)* let #name = #value?;)
    } else {
        quote!(#(#docs)* const #name: #ty = #description;)
    }
}

/// Writes code that evaluates a user's expression as a value of type `ty`. The expression may contain a `?`.
fn evaluate(ty: &TokenStream, value: &TokenStream) -> TokenStream {
    quote! {
        ::streamflow::__private::evaluate(
            || -> ::core::result::Result<#ty, ::streamflow::__private::Failure> {
                ::core::result::Result::Ok(#value)
            }
        )
    }
}

fn split_statements(body: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let ends = |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ';');
    tokens.split(ends).map(<[TokenTree]>::to_vec).collect()
}

struct Probe<'a> {
    graph: &'a Graph,
    written: TokenStream,
}

impl Probe<'_> {
    fn write_statement(&mut self, tokens: &[TokenTree]) {
        if self.write_own_port(tokens) {
            return;
        }
        if let [keyword, _, _, head @ ..] = tokens
            && is_word(keyword, "for")
        {
            return self.write_loop(head);
        }
        let declared = tokens.iter().skip_while(|token| !is_word(token, "let")).nth(1);
        let mut rest = tokens;
        while let [first, after @ ..] = rest {
            rest = after;
            match (first, after) {
                (TokenTree::Punct(sign), [TokenTree::Group(attribute), after @ ..])
                    if sign.as_char() == '#' =>
                {
                    rest = after;
                    self.write_node_here();
                    self.write_attribute(attribute.stream(), declared);
                }
                (TokenTree::Ident(word), _) if word == "let" || word == "const" => {
                    self.write_node_here();
                    return self.write_declaration(after);
                }
                (TokenTree::Ident(discarded), _) if discarded == "_" => {}
                (TokenTree::Ident(node), _) => rest = self.write_port(node, after),
                (TokenTree::Group(group), _) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.write_statement(&inner);
                }
                _ => {}
            }
        }
        self.write_node_here();
    }

    /// Writes the type in `input name: Type` or `output name: Type`. Returns whether the statement declares a port of the graph.
    fn write_own_port(&mut self, tokens: &[TokenTree]) -> bool {
        let is_sign = |token: &TokenTree| matches!(token, TokenTree::Punct(_));
        let keyword =
            tokens.iter().position(|token| is_word(token, "input") || is_word(token, "output"));
        let Some([_, TokenTree::Ident(name), colon, ty @ ..]) =
            keyword.and_then(|at| tokens.get(at..))
        else {
            return false;
        };
        if !is_sign(colon) || !self.is_own(name) {
            return false;
        }
        self.written.extend(quote!(let _: ::core::option::Option<#(#ty)*>;));
        true
    }

    /// Writes the range and the edges of a loop, and the statement after it.
    fn write_loop(&mut self, head: &[TokenTree]) {
        let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let Some(body) = head.iter().position(is_body) else { return self.write_node_here() };
        let (range, [TokenTree::Group(body), after @ ..]) = head.split_at(body) else { return };
        let range = evaluate(&quote!(_), &quote!(#(#range)*));
        self.written.extend(quote!(let _ = #range;));
        for statement in split_statements(body.stream()) {
            self.write_statement(&statement);
        }
        self.write_statement(after);
    }

    fn is_own(&self, name: &Ident) -> bool {
        self.graph.ports.iter().any(|port| port.name.unraw() == name.unraw())
    }

    /// Writes `nodes::all()`, where the user may add the name of a node.
    fn write_node_here(&mut self) {
        self.written.extend(quote!(let _ = &nodes::all();));
    }

    fn node(&self, name: &Ident) -> Option<&Node> {
        self.graph.nodes.iter().find(|node| node.name.unraw() == name.unraw())
    }

    /// Writes the user's `node`, `node.` or `node.port`. Returns the tokens that follow.
    fn write_port<'t>(&mut self, node: &Ident, after: &'t [TokenTree]) -> &'t [TokenTree] {
        // An index says nothing about the ports.
        let (port, rest) = match without_index(after) {
            [TokenTree::Punct(dot), TokenTree::Ident(port), rest @ ..] if dot.as_char() == '.' => {
                (Some(quote!(.#port)), without_index(rest))
            }
            after => (None, after),
        };
        let written = match self.node(node) {
            Some(known) => {
                let field = away_from_user(node);
                let accessor = known.has_accessors.then(|| quote!(let _ = nodes::graph().#node();));
                quote!(let _ = &nodes::all().#field #port; #accessor)
            }
            None if port.is_none() && self.is_own(node) => quote!(let _ = &nodes::ports().#node;),
            None => quote!(let _ = &nodes::all().#node #port;),
        };
        self.written.extend(written);
        rest
    }

    /// Writes the type and the value of `let name: Type = value`. Skips pools, since [`write`] writes them before all statements.
    fn write_declaration(&mut self, tokens: &[TokenTree]) {
        let pools = &self.graph.pools;
        if let [TokenTree::Ident(name), ..] = tokens
            && pools.iter().any(|pool| pool.name == *name)
        {
            return;
        }
        let is_sign = |token: &TokenTree, sign: char| matches!(token, TokenTree::Punct(other) if other.as_char() == sign);
        let colon = tokens.iter().position(|token| is_sign(token, ':'));
        let equals = tokens.iter().position(|token| is_sign(token, '='));
        let end = equals.unwrap_or(tokens.len());
        let ty = colon.and_then(|colon| tokens.get(colon + 1..end)).unwrap_or_default();
        let value = tokens.get(end + 1..).unwrap_or_default();
        let ty = match ty {
            [] => quote!(_),
            ty => quote!(#(#ty)*),
        };
        // The value of an array is a closure, of a type that has no name.
        let is_closure =
            matches!(value.first(), Some(TokenTree::Punct(sign)) if sign.as_char() == '|');
        let written = match is_closure {
            true => {
                let each = quote!(#(#value)*);
                quote!(let _: ::core::option::Option<#ty>; let _ = (#each)(0_usize);)
            }
            false => {
                let value = evaluate(&ty, &quote!(#(#value)*));
                quote!(let _ = #value;)
            }
        };
        self.written.extend(written);
    }

    /// Writes the tokens in the brackets of an attribute. Skips the attributes of rustc.
    fn write_attribute(&mut self, tokens: TokenStream, node: Option<&TokenTree>) {
        let name = tokens.clone().into_iter().next();
        let is_of_rustc = |name: &TokenTree| {
            ["doc", "allow", "expect", "deprecated"].iter().any(|word| is_word(name, word))
        };
        if !name.as_ref().is_some_and(is_of_rustc) {
            self.write_words(&ATTRIBUTE, tokens, node);
        }
    }

    /// Writes the comma-separated words in `tokens` as words of this list.
    fn write_words(&mut self, list: &List, tokens: TokenStream, node: Option<&TokenTree>) {
        for word in split(tokens) {
            self.write_word(list, word, node);
        }
        let (name, word) = (list.ident(), list.any_word());
        self.written.extend(quote!(let _ = || #name::#word;));
    }

    fn write_word(&mut self, list: &List, tokens: TokenStream, node: Option<&TokenTree>) {
        let name = list.ident();
        let mut tokens = tokens.into_iter();
        let Some(TokenTree::Ident(written)) = tokens.next() else { return };
        let word = list.find(&written);
        let group = tokens.next().and_then(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        let some = word.map(Word::some_arguments);
        let call = group.is_some().then(|| quote!((#some)));
        self.written.extend(quote!(let _ = || #name::#written #call;));
        let (Some(word), Some(group)) = (word, group) else { return };
        self.write_arguments(word.arguments, group, node);
    }

    /// Writes the arguments of a word, each as its kind in `kinds` says. The last kind also applies to all further arguments.
    fn write_arguments(&mut self, kinds: &[Kind], tokens: TokenStream, node: Option<&TokenTree>) {
        let arguments = split(tokens);
        let kind = |index: usize| kinds.get(index).or(kinds.last()).copied();
        for (index, argument) in arguments.iter().enumerate() {
            if let Some(kind) = kind(index) {
                self.write_argument(kind, argument.clone(), node);
            }
        }
        if let Some(kind) = kind(arguments.len()) {
            self.write_argument(kind, TokenStream::new(), node);
        }
    }

    /// Writes an argument. If there are no tokens, writes code at which an editor offers what the user may add.
    fn write_argument(&mut self, kind: Kind, tokens: TokenStream, node: Option<&TokenTree>) {
        let first = tokens.clone().into_iter().next();
        match (kind, first) {
            (Kind::Name, _) => {}
            (Kind::Word(list), None) => self.write_words(list, TokenStream::new(), node),
            (Kind::Word(list), Some(_)) => self.write_word(list, tokens, node),
            (Kind::Pool, Some(TokenTree::Ident(name))) => self.write_pool_name(&name),
            (Kind::Pool, _) => self.written.extend(quote!(let _ = streams::none;)),
            (Kind::Port, name) => self.write_port_of(node, name),
            (Kind::Ports, Some(TokenTree::Group(group))) => {
                for port in split(group.stream()) {
                    self.write_port_of(node, port.into_iter().next());
                }
                self.write_port_of(node, None);
            }
            // A literal may be a duration as `10ms`, which is no Rust expression.
            (Kind::Value, Some(TokenTree::Literal(_)) | None) | (Kind::Ports, _) => {}
            (Kind::Value, Some(_)) => self.write_value(tokens),
        }
    }

    fn write_value(&mut self, tokens: TokenStream) {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // Skips the word and the sign in `initial = value`.
        if let [name, TokenTree::Punct(equals), ..] = &tokens[..]
            && is_word(name, "initial")
            && equals.as_char() == '='
        {
            tokens.drain(..2);
        }
        let value = evaluate(&quote!(_), &quote!(#(#tokens)*));
        self.written.extend(quote!(let _ = #value;));
    }

    fn write_pool_name(&mut self, name: &Ident) {
        let is_pool = self.graph.pools.iter().any(|pool| pool.name == *name);
        self.written.extend(if is_pool {
            let word = away_from_user(name);
            quote!(let _ = streams::#word; let _ = #name;)
        } else {
            quote!(let _ = streams::#name;)
        });
    }

    /// Writes a port that an attribute names without its node. The node is the one that has the attribute.
    fn write_port_of(&mut self, node: Option<&TokenTree>, port: Option<TokenTree>) {
        let Some(TokenTree::Ident(node)) = node else { return };
        let node = away_from_user(node);
        let port = port.map(|port| quote!(.#port));
        self.written.extend(quote!(let _ = &nodes::all().#node #port;));
    }
}
