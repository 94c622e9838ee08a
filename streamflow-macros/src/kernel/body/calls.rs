//! Calls of functions and methods, and casts.

use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprCast, ExprMethodCall, Path, PathArguments, Type};

use super::generics::mentions;
use super::tables::cuda_type;
use super::translate::{Translator, function, typed};
use super::value::{Value, Witness};
use super::{methods, refuse};

/// Rust's own types to which no kernel casts.
const OTHERS: [&str; 5] = ["bool", "char", "i128", "isize", "u128"];

impl Translator<'_> {
    /// The call of a function with `#[kernel_fn]`.
    pub(super) fn call(&mut self, call: &ExprCall) -> Value {
        if let Some(value) = self.sequence(call) {
            return value;
        }
        let Expr::Path(path) = &*call.func else {
            refuse::expression(&Expr::Call(call.clone()), self.errors);
            return Value::wrong();
        };
        let first = path.path.segments.first().map(|first| first.ident.to_string());
        if first.as_deref().and_then(cuda_type).is_some() {
            let text = "a kernel calls a number's functions as methods, as `x.sqrt()` or `a.max(b)`, and casts by `as`";
            self.errors.at(&call.func, text);
            return Value::wrong();
        }
        let operands: Vec<&Expr> = call.args.iter().collect();
        let values = self.operands(&operands);
        // Each call has a witness of its own, since two calls may be of two instances.
        let (witness, number) = self.witness(Witness::Function);
        let plain = without_arguments(&path.path);
        let written = |path: &Path| path.to_token_stream().to_string();
        if !self.functions.iter().any(|known| written(known) == written(&plain)) {
            self.functions.push(plain);
        }
        let line = self.line_of_report(path.span());
        let cuda: String = values.iter().map(|value| format!(", {}", value.cuda)).collect();
        let host = values.iter().map(|value| &value.host);
        Value::new(
            quote_spanned!(path.span()=> #path::__call(#(#host),*).tell(&#witness)),
            format!("C{number}({line}{cuda})"),
        )
    }

    /// `x as T`
    pub(super) fn cast(&mut self, cast: &ExprCast) -> Value {
        let Value { host, cuda } = self.expression(&cast.expr);
        let ty = &*cast.ty;
        let is_other = |path: &Path| OTHERS.iter().any(|other| path.is_ident(other));
        let problem = match ty {
            Type::Path(named) if !is_other(&named.path) => None,
            Type::Infer(_) => Some("a cast in a kernel has the name of its type, as `as f32`"),
            _ => Some("a kernel casts to a number of at most 64 bits, as `as f32`"),
        };
        if let Some(text) = problem {
            self.errors.at(ty, text);
            return Value::wrong();
        }
        let (witness, number) = self.witness(Witness::Type);
        let is_literal = matches!(&*cast.expr, Expr::Lit(_));
        let names_parameter = mentions(ty.to_token_stream(), &self.type_params);
        // Rust has no `as` for a type parameter, and an expression may be within a generic function. A literal has the type of its
        // cast.
        let may_be_generic = !self.type_params.is_empty() || self.outside.is_some();
        let host = if names_parameter || (may_be_generic && !is_literal) {
            let called = function("cast", ty.span());
            quote_spanned!(ty.span()=> #called::<_, #ty>(#host))
        } else {
            quote_spanned!(ty.span()=> ((#host) as #ty))
        };
        Value::new(typed(&witness, &host, ty.span()), format!("sf::cast<W{number}>({cuda})"))
    }

    /// `x.sqrt()`
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Value {
        if let Some(value) = self.window_method(call).or_else(|| self.reduction(call)) {
            return value;
        }
        if call.method == "len" && call.args.is_empty() && call.turbofish.is_none() {
            return self.len(&call.receiver, call.method.span());
        }
        if !methods::check(call, self.errors) {
            return Value::wrong();
        }
        let operands: Vec<&Expr> = std::iter::once(&*call.receiver).chain(&call.args).collect();
        let values = self.operands(&operands);
        let called = function(&call.method.to_string(), call.method.span());
        let host = values.iter().map(|value| &value.host);
        let cuda: Vec<&str> = values.iter().map(|value| &*value.cuda).collect();
        let (cuda, fault) =
            (cuda.join(", "), self.fault(&call.method.to_string(), call.method.span()));
        let cuda = format!("sf::{}({cuda}{fault})", call.method);
        Value::new(quote_spanned!(call.method.span()=> #called(#(#host),*)), cuda)
    }
}

/// A path without its type arguments.
fn without_arguments(path: &Path) -> Path {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|segment| segment.arguments = PathArguments::None);
    path
}
