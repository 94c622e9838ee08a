//! The one check that a macro and the library are of one version.
//!
//! The code of a macro names items of this module, which each version may change. Cargo's requirement `=` keeps the two crates
//! of one version together. A program can still have two: it names both crates in its manifest, patches one of them, or
//! has two versions of streamflow, one by another name. Each expansion therefore calls this macro. It is expanded
//! before rustc looks for the items, so its error is the first one, and it leaves nothing in the program.

/// Expands to nothing if its argument is this crate's version. Without an argument, it is that version.
#[doc(hidden)]
#[macro_export]
macro_rules! __streamflow_version {
    () => {
        "0.2.0"
    };
    ("0.2.0") => {};
    ($of_macros:literal) => {
        ::core::compile_error!(::core::concat!(
            "this macro is of streamflow-gpu-macros ",
            $of_macros,
            ", and `::streamflow` here is streamflow-gpu ",
            $crate::__streamflow_version!(),
            "; both must be of one version: `cargo tree --invert streamflow-gpu-macros` and `cargo tree --invert streamflow-gpu` list \
             who needs each, so remove one version, or the other crate's new name or patch, from Cargo.toml"
        ));
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_that_of_the_manifest() {
        assert_eq!(crate::__private::version!(), env!("CARGO_PKG_VERSION"));
    }
}
