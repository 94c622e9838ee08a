//! The operands of an expression: the variables of the program that it names.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprField, ExprIndex, Member};

use super::translate::Translator;
use super::value::{Value, bare};

/// The number of the element in CUDA.
const IOTA: &str = "streamflow_iota__0";

/// Whether an expression names a variable, or a field of one: `image` or `self.gain`.
pub(super) fn is_variable(expression: &Expr) -> bool {
    match bare(expression) {
        Expr::Path(path) => path.qself.is_none() && path.path.get_ident().is_some(),
        Expr::Field(field) => {
            is_variable(&field.base)
                && matches!(field.member, Member::Named(_) | Member::Unnamed(_))
        }
        _ => false,
    }
}

/// The Rust text that takes a variable as an operand.
pub(super) fn taken(variable: &Expr) -> TokenStream {
    let called = quote_spanned!(variable.span()=> ::streamflow::__private::expression::operand);
    quote_spanned!(variable.span()=> #called(&#variable))
}

impl Translator<'_> {
    /// The element of an operand, if the translation is that of an expression and this names one.
    pub(super) fn operand(&mut self, written: &Expr) -> Option<Value> {
        let operands = self.outside.as_mut()?;
        is_variable(written).then(|| operands.element(written, || taken(written)))
    }

    /// Reports an index into an operand, if the translation is that of an expression.
    pub(super) fn is_indexed_outside(&mut self, whole: &ExprIndex) -> bool {
        let is_own = match &*whole.expr {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|ident| self.find(ident).is_some())
            }
            _ => false,
        };
        let is_outside = self.outside.is_some() && !is_own && is_variable(&whole.expr);
        if is_outside {
            let text = "nothing is indexed in an expression: an operand stands for its element; `#[kernel(map)]` has tables";
            self.errors.at(whole, text);
        }
        is_outside
    }

    /// As `operand`, for a field that is no field of a variable of the expression.
    pub(super) fn outside_field(&mut self, whole: &ExprField) -> Option<Value> {
        self.outside.as_ref()?;
        let mut base = &*whole.base;
        while let Expr::Field(inner) = base {
            base = &inner.base;
        }
        let Expr::Path(path) = base else { return None };
        let is_own = path.path.get_ident().is_some_and(|ident| self.find(ident).is_some());
        if is_own { None } else { self.operand(&Expr::Field(whole.clone())) }
    }

    /// `iota()`, the number of the element, or `linspace(start, stop, count)`, if the translation is that of an expression.
    pub(super) fn sequence(&mut self, call: &ExprCall) -> Option<Value> {
        self.outside.as_ref()?;
        let Expr::Path(path) = &*call.func else { return None };
        let name = path.path.get_ident()?.to_string();
        let count = call.args.len();
        let wanted = match &*name {
            "iota" => 0,
            "linspace" => 3,
            _ => return None,
        };
        if count != wanted {
            let form = if wanted == 0 { "iota()" } else { "linspace(start, stop, count)" };
            self.errors.at(call, format!("write `{form}`"));
            return Some(Value::wrong());
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let values = self.operands(&arguments);
        let [start, stop, count] = &values[..] else {
            return Some(Value::new(quote!(__iota), IOTA));
        };
        let (a, b, n) = (&start.host, &stop.host, &count.host);
        Some(Value::new(
            quote!(::streamflow::__private::body::linspace(#a, #b, __iota, #n)),
            format!("sf::linspace({}, {}, {IOTA}, {})", start.cuda, stop.cuda, count.cuda),
        ))
    }
}
