//! Reductions within `expr!`: `image.mean(axis = 1)`, an operand whose elements are made first.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall};

use super::expr::{made, shown};
use super::outside::{is_variable, taken};
use super::translate::Translator;
use super::value::{Value, bare};
use crate::diagnostic::Errors;

/// The methods that reduce, and the types of `streamflow::kernel::reductions`.
const REDUCTIONS: &[(&str, &str)] = &[
    ("sum", "Sum"),
    ("mean", "Mean"),
    ("min", "Min"),
    ("max", "Max"),
    ("arg_min", "ArgMin"),
    ("arg_max", "ArgMax"),
];

/// Whether a call is a reduction: `a.max()` or `a.max(axis = 1)`, and not `a.max(b)`.
fn is_reduction(call: &ExprMethodCall) -> bool {
    let name = call.method.to_string();
    let is_known = name == "reduce" || REDUCTIONS.iter().any(|(known, _)| *known == name);
    is_known && (call.args.iter().all(|arg| matches!(arg, Expr::Assign(_))) || !is_method(&name))
}

/// Whether numbers have a method of this name, too.
fn is_method(name: &str) -> bool {
    matches!(name, "min" | "max")
}

/// The kernel's type.
fn kernel(call: &ExprMethodCall, errors: &mut Errors) -> TokenStream {
    let name = call.method.to_string();
    let span = call.method.span();
    match (REDUCTIONS.iter().find(|(known, _)| *known == name), &call.turbofish) {
        (Some((_, kernel)), None) => {
            let kernel = format_ident!("{kernel}", span = span);
            quote_spanned!(span=> ::streamflow::kernel::reductions::#kernel<_>)
        }
        (Some(_), Some(turbofish)) => {
            errors.at(turbofish, format!("`{name}` has no type arguments"));
            TokenStream::new()
        }
        (None, Some(turbofish)) if turbofish.args.len() == 1 => turbofish.args.to_token_stream(),
        (None, _) => {
            errors.push(syn::Error::new(span, "write the reduction as `reduce::<energy>(axis = 1)`, a function with `#[kernel(reduce(identity = 0.0))]`"));
            TokenStream::new()
        }
    }
}

/// The axis, and whether the dimensions are kept.
fn along(call: &ExprMethodCall, errors: &mut Errors) -> TokenStream {
    let (mut axis, mut keepdims) = (None, None);
    for argument in &call.args {
        let option = match argument {
            Expr::Assign(assign) => match assign.left.to_token_stream().to_string().as_str() {
                "axis" => Some((&mut axis, assign)),
                "keepdims" => Some((&mut keepdims, assign)),
                _ => None,
            },
            _ => None,
        };
        match option {
            Some((option, assign)) if option.is_none() => *option = Some(&assign.right),
            Some((_, assign)) => {
                errors.at(assign, format!("`{}` is given twice", assign.left.to_token_stream()))
            }
            None => {
                let method = &call.method;
                errors.at(argument, format!("write `{method}()`, `{method}(axis = 1)`, or `{method}(axis = 1, keepdims = true)`"));
            }
        }
    }
    let keepdims = keepdims.map_or_else(|| quote!(false), ToTokens::to_token_stream);
    // At the user's token: rustc names the macro as the origin of an error otherwise.
    let along = |span| quote_spanned!(span=> ::streamflow::__private::expression::Along);
    match axis {
        Some(axis) => {
            let along = along(axis.span());
            quote_spanned!(axis.span()=> #along::axis(#axis, #keepdims))
        }
        None => {
            let along = along(call.method.span());
            quote_spanned!(call.method.span()=> #along::all(#keepdims))
        }
    }
}

impl Translator<'_> {
    /// The element of a reduction's results, if the translation is that of an expression and this is a reduction.
    pub(super) fn reduction(&mut self, call: &ExprMethodCall) -> Option<Value> {
        self.outside.as_ref()?;
        if !is_reduction(call) {
            return None;
        }
        let options = call.args.iter().filter_map(|argument| match argument {
            Expr::Assign(assign) => Some(&*assign.right),
            _ => None,
        });
        let mut values = std::iter::once(&*call.receiver).chain(options);
        if let Some(own) = values.find_map(|value| self.own_name(value.to_token_stream())) {
            let text = format!(
                "a reduction is of operands, and `{own}` is a variable of the expression: reduce its value outside of the block"
            );
            self.errors.at(&own, text);
            return Some(Value::wrong());
        }
        let taken = reduced(call, self.errors);
        let operands = self.outside.as_mut()?;
        Some(operands.element(&Expr::MethodCall(call.clone()), || taken))
    }

    /// A variable of the expression, and not a field or a function of that name.
    fn own_name(&self, tokens: TokenStream) -> Option<Ident> {
        let mut tokens = tokens.into_iter().peekable();
        let mut is_after_dot = false;
        while let Some(token) = tokens.next() {
            let is_called = matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
            let is_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
            let found = match token {
                TokenTree::Ident(ident) => {
                    let is_variable = !is_after_dot && !is_called && self.find(&ident).is_some();
                    is_variable.then_some(ident)
                }
                TokenTree::Group(group) => self.own_name(group.stream()),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
            is_after_dot = is_dot;
        }
        None
    }
}

/// The Rust text of a reduction as an operand.
fn reduced(call: &ExprMethodCall, errors: &mut Errors) -> TokenStream {
    let (kernel, along) = (kernel(call, errors), along(call, errors));
    let source = match bare(&call.receiver) {
        Expr::MethodCall(inner) if is_reduction(inner) => reduced(inner, errors),
        variable if is_variable(variable) => taken(variable),
        expression => {
            let made = made(expression, errors);
            quote!(::streamflow::__private::expression::evaluated(#made))
        }
    };
    let name = shown(&call.receiver);
    let called = quote_spanned!(call.method.span()=> ::streamflow::__private::expression::reduced);
    quote_spanned!(call.span()=> #called::<#kernel, _>(#source, #name, #along))
}
