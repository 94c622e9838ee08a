//! The parts of Rust that a kernel can't have, each with what to write instead.

use quote::ToTokens;
use syn::Expr;

use crate::diagnostic::Errors;

/// Reports an expression outside of the subset.
pub(super) fn expression(expression: &Expr, errors: &mut Errors) {
    // The call of a closure or of another value: that value is the mistake.
    if let Expr::Call(call) = expression {
        let mut called = &*call.func;
        while let Expr::Paren(inner) = called {
            called = &inner.expr;
        }
        if !matches!(called, Expr::Path(_)) {
            return self::expression(called, errors);
        }
    }
    let text = match expression {
        Expr::Closure(_) => "no closures in a kernel: write the expression where it is used",
        Expr::Return(_) => "a kernel's body ends at its end: put the rest into an `if`",
        Expr::Reference(_) => "no references in a kernel: pass the value",
        Expr::Try(_) => "no `?` in a kernel: it has no errors",
        Expr::Await(_) | Expr::Async(_) => "a kernel does not wait: no `async` here",
        Expr::Macro(_) => "no macros in a kernel: write what the macro expands to",
        Expr::Range(_) => "a range stands in a `for` alone: write `for i in 0..n`",
        Expr::Struct(_) => "no structs in a kernel: use one variable for each field",
        Expr::Tuple(_) => "no tuples in a kernel: use one variable for each value",
        Expr::Let(_) => "no `if let` in a kernel: compare values by `==` or by `match`",
        Expr::Unsafe(_) => "a kernel with one body has nothing `unsafe`: remove the word",
        Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
            "a loop has no value in a kernel: assign to a variable in the loop"
        }
        Expr::Lit(_) => "a kernel has integers, floats and `bool`s: no text, bytes or characters",
        Expr::Const(_) => "write the constant as an item: `const N: u32 = …;`",
        _ => {
            "this is outside of what a kernel with one body can have; write it otherwise, or give `unsafe cuda = \"…\"`"
        }
    };
    errors.at(expression.to_token_stream(), text);
}
