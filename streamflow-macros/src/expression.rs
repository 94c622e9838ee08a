//! Writes the code that evaluates the user's expressions in an expansion.
//!
//! If control flow may leave an expression early, as with `return`, the expression becomes the body of its own closure. So a
//! `return` or a `?` leaves the closure and not a generated function, and `break`, `continue` and labels reach no generated loop.
//! The closure returns a `Result`, so `?` takes any error. Any other expression is put in a block, since rustc's time for
//! closures grows with the square of their number: a graph of 2,000 nodes took 19 s to compile with closures, and 8 s with
//! blocks.
//!
//! The names of the generated code are hygienic. An expression can use the names that the user has declared, and `platform` in a
//! graph's `new`. An expression of a constant is written unchanged, since control flow can't leave a constant.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprGroup, ExprLit, ExprParen, Lit};

/// Writes code that evaluates an expression of type `ty`. The code has a `?`, so it must be in a function that can return a
/// `Failure`. The tokens of the type have the span of the expression, since rustc also underlines the expected type if the types
/// differ.
pub(crate) fn evaluate(value: &Expr, ty: impl ToTokens) -> TokenStream {
    let (name, written) = (value_name(value), written(value));
    in_own_frame(value, quote!(let #name: #ty = #written;), &ty, &name)
}

/// Writes code that evaluates an expression and drops its value.
pub(crate) fn evaluate_and_drop(value: &Expr) -> TokenStream {
    let written = written(value);
    let evaluated = in_own_frame(value, quote!(let _ = #written;), quote!(()), quote!(()));
    quote!(#evaluated;)
}

/// Writes code that evaluates a call which has a user's expression among its arguments.
pub(crate) fn evaluate_call(
    value: &Expr,
    call: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    let (name, call) = (value_name(value), call(written(value)));
    in_own_frame(value, quote!(let #name = #call;), quote!(_), &name)
}

/// Writes code that evaluates an expression and borrows its value, as a reference of type `ty`. `made` writes the code that uses
/// the reference.
pub(crate) fn evaluate_borrowed(
    value: &Expr,
    ty: impl ToTokens,
    made: impl FnOnce(&Ident) -> TokenStream,
) -> TokenStream {
    let name = value_name(value);
    let (first, last) = first_and_last(value);
    let borrow = quote_spanned!(first=> &);
    // The expression is in parentheses, since an operator in it may bind less closely than `&`.
    let mut operand = Group::new(Delimiter::Parenthesis, written(value));
    operand.set_span(last);
    let borrowed = quote! {
        #[allow(clippy::needless_borrow)]
        let #name: #ty = #borrow #operand;
    };
    in_own_frame(value, borrowed, quote!(_), made(&name))
}

/// Writes a scope with the statement `declared` and then `made`. If control flow may leave `value` early, the scope is a closure,
/// so that a `return` or a `?` of the expression leaves only the scope.
fn in_own_frame(
    value: &Expr,
    declared: TokenStream,
    ty: impl ToTokens,
    made: impl ToTokens,
) -> TokenStream {
    if !may_be_left(value.to_token_stream()) {
        return quote!({ #declared #made });
    }
    // If a `break` or a `return` is wrong, rustc underlines the head or the return type of the closure, so these have the user's
    // spans.
    let (first, _) = first_and_last(value);
    let (bars, lead, end) =
        (quote_spanned!(first=> ||), quote_spanned!(first=> ::), quote_spanned!(first=> >));
    quote! {
        ::streamflow::__private::evaluate(
            #bars -> #lead core::result::Result<#ty, ::streamflow::__private::Failure #end {
                #declared
                // After a `todo!()` in the expression, the `return` is unreachable.
                #[allow(unreachable_code)]
                return ::core::result::Result::Ok(#made);
            }
        )?
    }
}

/// Whether control flow may leave an expression with these tokens early. A macro may expand to anything, so a `!` counts.
fn may_be_left(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => may_be_left(group.stream()),
        TokenTree::Ident(word) => {
            ["return", "break", "continue", "yield", "become"].iter().any(|leaves| word == leaves)
        }
        TokenTree::Punct(sign) => ['?', '!', '#', '\''].contains(&sign.as_char()),
        TokenTree::Literal(_) => false,
    })
}

/// Returns the name of the variable that gets the value. rustc shows this name if a `return` has another type than the
/// expression.
fn value_name(value: &Expr) -> Ident {
    Ident::new("__value", Span::mixed_site().located_at(first_and_last(value).0))
}

/// Returns the tokens of an expression, or a `compile_error!` if an attribute stands before it.
pub(crate) fn written(value: &Expr) -> TokenStream {
    match attribute_before(value) {
        Some(error) => error.into_compile_error(),
        None => value.to_token_stream(),
    }
}

/// Returns the error for an expression with an attribute before it. rustc permits an attribute in few of the places where the
/// expansion puts an expression, and a `#[cfg(…)]` there would remove the expression from the generated code.
pub(crate) fn attribute_before(value: &Expr) -> Option<syn::Error> {
    let mut tokens = value.to_token_stream().into_iter();
    let (hash, brackets) = (tokens.next()?, tokens.next()?);
    let is_attribute = matches!(&hash, TokenTree::Punct(hash) if hash.as_char() == '#')
        && matches!(&brackets, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    let text = "an attribute can't stand before this expression; remove it, or write a block with statements, which \
                may have attributes: `{ #[…] let value = …; value }`";
    is_attribute.then(|| syn::Error::new_spanned(quote!(#hash #brackets), text))
}

/// Returns the value of an expression that is a literal whole number, as `3`.
pub(crate) fn whole_number(value: &Expr) -> Option<u64> {
    match literal(value)? {
        Lit::Int(number) => number.base10_parse().ok(),
        _ => None,
    }
}

/// Returns the literal if the expression is one. Parentheses around it are ignored, also the invisible ones of a `macro_rules!`
/// argument.
pub(crate) fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Group(ExprGroup { expr, .. }) | Expr::Paren(ExprParen { expr, .. }) => literal(expr),
        _ => None,
    }
}

/// Returns the spans of the first and the last token.
pub(crate) fn first_and_last(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn an_expression_that_something_may_leave_is_in_a_closure() {
        let leaves: [Expr; 10] = [
            parse_quote!({ return Ok(1) }),
            parse_quote!(loop {
                break;
            }),
            parse_quote!([a, b[{ continue }]]),
            parse_quote!('a: { 1 }),
            parse_quote!(make(&text)?),
            parse_quote!(vec![1]),
            parse_quote!(|| { return 1 }),
            parse_quote!(macros::call!()),
            parse_quote!(
                #[cfg(any())]
                1
            ),
            parse_quote!(!is_on),
        ];
        let stays: [Expr; 4] = [
            parse_quote!(Camera::new(width / 2, "return?", 'b', || x)),
            parse_quote!({
                let a = 1;
                a..=self.returned
            }),
            parse_quote!(match x {
                Some(x) => -x,
                None => 0,
            }),
            parse_quote!(Limits { high: u8::MAX, low: 1 }),
        ];
        let in_closure =
            |value: &Expr| evaluate(value, quote!(u8)).to_string().contains("evaluate");
        assert!(leaves.iter().all(in_closure));
        assert!(!stays.iter().any(in_closure));
    }

    #[test]
    fn whole_numbers_are_read_behind_parentheses() {
        assert_eq!(whole_number(&parse_quote!((0_u64))), Some(0));
        assert_eq!(whole_number(&parse_quote!(1 - 1)), None);
        assert_eq!(whole_number(&parse_quote!(0.0)), None);
    }
}
