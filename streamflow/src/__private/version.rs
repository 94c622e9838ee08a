//! The check that a macro and the library are of the same version.
//!
//! The code of a macro names items of this module, and each version may change these items. Cargo's requirement `=` keeps the
//! two crates at the same version. A program can still have two versions: if it names both crates in its manifest, patches one
//! of them, or has two versions of streamflow, one of them renamed. Each expansion therefore calls this macro. rustc expands it
//! before it looks for the items, so the error of this macro is the first one. In the program it leaves nothing.

/// Expands to nothing if the argument is this crate's version. Without an argument, expands to that version.
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
