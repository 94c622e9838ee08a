//! Writes the calls that make the conditions of a node.
//!
//! The code evaluates the conditions of all nodes before any operator: a condition borrows its handle or allocator, and the
//! expression of an operator may consume that handle or allocator.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;

use super::paths::parenthesized;
use crate::expression::{evaluate, evaluate_borrowed, evaluate_call};
use crate::graph::conditions::{CatchUp, Condition, ConditionKind, Time};
use crate::graph::parts::unraw_name;
use crate::graph::spans::first_and_last;

/// Writes `when::all(…)` with these conditions of a node. Returns `None` if there are none.
pub(super) fn make_conditions(conditions: &[Condition]) -> Option<TokenStream> {
    let made = conditions.iter().map(make_condition);
    (!conditions.is_empty())
        .then(|| quote!(::streamflow::__private::when::all(::std::vec![#(#made,)*])))
}

fn make_condition(condition: &Condition) -> TokenStream {
    use ConditionKind::{
        Any, Asynchronous, Blocks, Boolean, Bytes, Count, Each, Expiring, HostDone,
        MessageAvailable, Own, Periodic, Room, SameSequence, StreamDone, Sum,
    };
    let text = condition.text();
    let (function, args) = match &condition.kind {
        Any(any) => {
            let made = any.iter().map(make_condition);
            ("any", quote!(::std::vec![#(#made,)*]))
        }
        Count(count) => ("count", typed(count, quote!(::core::primitive::u64))),
        Periodic { interval, catch_up } => {
            let (interval, catch_up) = (duration(interval), policy(catch_up));
            ("periodic", quote!(#interval, #catch_up))
        }
        MessageAvailable { input, messages } => {
            let (input, messages) =
                (unraw_name(input), typed(messages, quote!(::core::primitive::usize)));
            ("message_available", quote!(#input, #messages))
        }
        Sum { inputs, sum } => {
            let (inputs, sum) =
                (inputs.iter().map(unraw_name), typed(sum, quote!(::core::primitive::usize)));
            ("sum_of_messages", quote!(&[#(#inputs,)*], #sum))
        }
        Each { inputs, each } => {
            let inputs = inputs.iter().map(unraw_name);
            let each = each.iter().map(|number| typed(number, quote!(::core::primitive::usize)));
            ("messages_of_each", quote!(&[#(#inputs,)*], &[#(#each,)*]))
        }
        SameSequence(inputs) => {
            let inputs = inputs.iter().map(unraw_name);
            ("same_sequence", quote!(&[#(#inputs,)*]))
        }
        Expiring { input, timeout } => {
            let (input, timeout) = (unraw_name(input), duration(timeout));
            ("expiring", quote!(#input, #timeout))
        }
        Room(output) => ("room", unraw_name(output).to_token_stream()),
        Bytes { allocator, bytes } => return memory("memory_bytes", &text, allocator, bytes),
        Blocks { allocator, blocks } => return memory("memory_blocks", &text, allocator, blocks),
        Boolean(handle) => {
            return borrowing(
                "boolean",
                &text,
                handle,
                quote!(::streamflow::__private::BooleanHandle),
                None,
            );
        }
        Asynchronous(handle) => {
            return borrowing(
                "asynchronous",
                &text,
                handle,
                quote!(::streamflow::__private::AsyncHandle),
                None,
            );
        }
        StreamDone(input) => ("stream_done", unraw_name(input).to_token_stream()),
        HostDone(input) => ("host_done", unraw_name(input).to_token_stream()),
        Own(value) => {
            // The call has the spans of the value: rustc reports at the value that its type is no condition.
            let (first, last) = first_and_last(value);
            let lead = quote_spanned!(first=> ::streamflow::__private::when::own);
            return evaluate_call(value, |value| {
                let args = parenthesized(last, quote!(#text, #value));
                quote!(#lead #args)
            });
        }
    };
    let function = Ident::new(function, Span::call_site());
    quote!(::streamflow::__private::when::#function(#text, #args))
}

/// Writes a value of type `ty`. If the user's expression has another type, rustc reports that at the expression.
fn typed(value: &Expr, ty: TokenStream) -> TokenStream {
    evaluate(value, respanned(ty, first_and_last(value).0))
}

/// Writes the call that makes a condition which borrows its first argument.
fn borrowing(
    function: &str,
    text: &str,
    value: &Expr,
    ty: TokenStream,
    amount: Option<TokenStream>,
) -> TokenStream {
    let function = Ident::new(function, Span::call_site());
    let ty = respanned(quote!(&#ty), first_and_last(value).0);
    evaluate_borrowed(
        value,
        ty,
        |value| quote!(::streamflow::__private::when::#function(#text, #value, #amount)),
    )
}

fn memory(function: &str, text: &str, allocator: &Expr, amount: &Expr) -> TokenStream {
    let amount = typed(amount, quote!(::core::primitive::u64));
    borrowing(function, text, allocator, quote!(::streamflow::__private::Allocator), Some(amount))
}

pub(super) fn duration(time: &Time) -> TokenStream {
    match time {
        Time::Literal(nanoseconds) => quote!(::core::time::Duration::from_nanos(#nanoseconds)),
        Time::Value(value) => typed(value, quote!(::core::time::Duration)),
    }
}

fn policy(catch_up: &CatchUp) -> TokenStream {
    let policy = match catch_up {
        CatchUp::Skip => quote!(Skip),
        CatchUp::Spaced => quote!(Spaced),
        CatchUp::AtMost(most) => {
            let most = typed(most, quote!(::core::primitive::u64));
            quote!(AtMost(#most))
        }
    };
    quote!(::streamflow::__private::when::CatchUp::#policy)
}

fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: proc_macro2::TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(respan).collect()
}
