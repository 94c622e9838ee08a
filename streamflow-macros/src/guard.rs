//! Runs a macro. Catches the macro's panics, adds a check of the library's version to the expansion, and writes the expansion to
//! a file if `STREAMFLOW_EXPAND` is set.

use proc_macro::TokenStream;
use quote::quote;

use crate::written;

/// Returns the expansion that `expand` makes. If `expand` panics, the result is an error that blames streamflow, and the
/// unchanged `item`.
pub(crate) fn guarded(item: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    let whole = |expanded: TokenStream| {
        let expanded = [expanded, version()].into_iter().collect();
        let unwritten = write(&expanded);
        [expanded, unwritten].into_iter().collect()
    };
    caught(item, || whole(expand()))
}

/// As [`guarded`], for a macro whose expansion is a value.
pub(crate) fn guarded_value(expand: impl FnOnce() -> TokenStream) -> TokenStream {
    let whole = |expanded: TokenStream| {
        let unwritten = write(&expanded);
        let parts: proc_macro2::TokenStream =
            [version(), unwritten, expanded].into_iter().collect::<TokenStream>().into();
        quote!({ #parts }).into()
    };
    caught(TokenStream::new(), || whole(expand()))
}

fn caught(item: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    let expanded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(expand));
    expanded.unwrap_or_else(|_| {
        let text = "this is a bug in streamflow: the macro panicked; please report it together with the \
                    code here";
        [item, error(text)].into_iter().collect()
    })
}

/// Writes a macro call that checks that the library has the version of this crate. That call expands to nothing in the program.
fn version() -> TokenStream {
    let of_macros = env!("CARGO_PKG_VERSION");
    quote!(::streamflow::__private::version! { #of_macros }).into()
}

/// Writes an expansion into the directory that `STREAMFLOW_EXPAND` names, and returns an error if that fails. Without this
/// variable, no file is read or written.
fn write(expanded: &TokenStream) -> TokenStream {
    let Some(directory) = std::env::var_os(written::VARIABLE) else { return TokenStream::new() };
    if written::is_switch(&directory) {
        return error(&format!(
            "`{0}` is `{1}`, which is no folder; write the path of one, as `{0}=$PWD/expanded`",
            written::VARIABLE,
            directory.display()
        ));
    }
    let here = proc_macro::Span::call_site();
    let location = written::Location { file: here.file(), line: here.line() };
    match written::write(directory.as_ref(), &location, expanded.clone().into()) {
        Ok(_) => TokenStream::new(),
        Err(why) => error(&format!(
            "the expansion can't be written to `{}`, which `{}` names: {why}",
            directory.display(),
            written::VARIABLE
        )),
    }
}

fn error(text: &str) -> TokenStream {
    syn::Error::new(proc_macro2::Span::call_site(), text).into_compile_error().into()
}
