//! Writes blocks and statements in both languages.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Local, Pat, Stmt};

use super::index::has_index;
use super::tables::assigned;
use super::translate::{Translator, function, line_of, typed};
use super::value::{Value, Witness};

impl Translator<'_> {
    /// The statements of a block, within braces of their own. With `into`, the value of the block is assigned to that variable
    /// of CUDA.
    pub(super) fn block(&mut self, block: &Block, into: Option<&str>) -> TokenStream {
        self.open();
        self.line("{");
        let mut host = TokenStream::new();
        for (index, statement) in block.stmts.iter().enumerate() {
            let is_last = index + 1 == block.stmts.len();
            if let Some(line) = line_of(statement.span()) {
                self.line(format!("#line {line}"));
            }
            host.extend(self.statement(statement, into.filter(|_| is_last)));
        }
        self.line("}");
        self.close();
        quote!({ #host })
    }

    fn statement(&mut self, statement: &Stmt, into: Option<&str>) -> TokenStream {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expression, semi) => match into {
                Some(into) => {
                    let value = self.expression(expression);
                    self.line(format!("{into} = {};", value.cuda));
                    let host = value.host;
                    quote!(#host #semi)
                }
                None => {
                    let host = self.effect(expression);
                    quote!(#host #semi)
                }
            },
            Stmt::Item(item) => {
                self.item(item);
                TokenStream::new()
            }
            Stmt::Macro(call) => {
                self.errors
                    .at(&call.mac.path, "no macros in a kernel: write what the macro expands to");
                TokenStream::new()
            }
        }
    }

    /// `let x = 3;`, `let mut x: f32;`
    fn local(&mut self, local: &Local) -> TokenStream {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let init = local.init.as_ref();
        if let Some((_, diverges)) = init.and_then(|init| init.diverge.as_ref()) {
            self.errors.at(diverges, "no `let … else` in a kernel: compare the value by `if`");
            return TokenStream::new();
        }
        let value = init.map(|init| self.expression(&init.expr));
        let at = init.map_or_else(Span::call_site, |init| init.expr.span());
        let ident = match pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => &name.ident,
            Pat::Wild(_) => {
                let Some(Value { host, cuda }) = value else { return TokenStream::new() };
                self.line(format!("(void)({cuda});"));
                return quote!(let _ = #host;);
            }
            other => {
                self.errors.at(
                    other,
                    "a `let` in a kernel has one name: bind each value by a `let` of its own",
                );
                return TokenStream::new();
            }
        };
        let mutable = match pattern {
            Pat::Ident(name) => name.mutability,
            _ => None,
        };
        let (witness, number) = self.witness(Witness::Type);
        let ty = ty.map(|ty| quote!(: #ty));
        // After the value, which may name a variable that this one hides.
        let name = self.declare(ident);
        match value {
            Some(Value { host, cuda }) => {
                self.line(format!("W{number} {name} = {cuda};"));
                let host = typed(&witness, &host, at);
                quote!(let #mutable #ident #ty = #host;)
            }
            None => {
                self.line(format!("W{number} {name};"));
                // A value that is never used: it ties the type of the variable to the witness.
                let any =
                    typed(&witness, &quote!(::streamflow::__private::body::any()), ident.span());
                quote! {
                    let #mutable #ident #ty;
                    if false { #ident = #any; loop {} }
                }
            }
        }
    }

    /// An expression whose value has no use.
    pub(super) fn effect(&mut self, expression: &Expr) -> TokenStream {
        if let Some(host) = self.control(expression) {
            return host;
        }
        match expression {
            Expr::Assign(assign) => {
                let value = self.expression(&assign.right);
                let Value { host, cuda } = self.before_indices(&assign.left, value);
                let Some(place) = self.place(&assign.left) else { return TokenStream::new() };
                self.line(format!("{} = {cuda};{}", place.cuda, place.ends()));
                if !has_index(&assign.left) {
                    return place.assign(|to| quote!(#to = #host));
                }
                // Rust evaluates the right side first, and it may change the indices.
                let right = Ident::new("__right", Span::mixed_site());
                let assigned = place.assign(|to| quote!(#to = #right));
                quote!({ let #right = #host; #assigned })
            }
            Expr::Binary(binary) if assigned(&binary.op).is_some() => {
                let value = self.expression(&binary.right);
                let Value { host, cuda } = self.before_indices(&binary.left, value);
                let Some(place) = self.place(&binary.left) else { return TokenStream::new() };
                let name = assigned(&binary.op).unwrap_or_default();
                let fault = self.fault(name, binary.op.span());
                let ends = place.ends();
                self.line(format!("{0} = sf::{name}({0}, {cuda}{fault});{ends}", place.cuda));
                let called = function(name, binary.op.span());
                // Rust evaluates the right side first, and it may change the variable.
                let right = Ident::new("__right", Span::mixed_site());
                let assigned = place
                    .assign(|to| quote_spanned!(binary.op.span()=> #to = #called(#to, #right)));
                quote_spanned!(binary.op.span()=> { let #right = #host; #assigned })
            }
            Expr::Paren(inner) => self.effect(&inner.expr),
            Expr::Group(inner) => self.effect(&inner.expr),
            other => {
                let value = self.expression(other);
                self.line(format!("(void)({});", value.cuda));
                value.host
            }
        }
    }

    /// A `const` of the body. rustc's scope of an item is the whole block.
    fn item(&mut self, item: &Item) {
        match item {
            // The arguments and the body are open.
            Item::Const(_) if self.is_outermost() => self.items.push(item.to_token_stream()),
            Item::Const(_) => {
                let text = "a constant of a kernel is at the top of its body: move it there";
                self.errors.at(item, text);
            }
            _ => self.errors.at(item, "no items in a kernel: write it outside of the function"),
        }
    }

    /// The right side of an assignment, as a value before the tests of the indices of its left side.
    fn before_indices(&mut self, left: &Expr, value: Value) -> Value {
        if !has_index(left) {
            return value;
        }
        let name = self.temporary();
        self.line(format!("const auto {name} = {};", value.cuda));
        Value::new(value.host, name)
    }
}
