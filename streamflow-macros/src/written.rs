//! Writes the expansions of the macros to files, in the directory that `STREAMFLOW_EXPAND` names.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::{File, Item};

/// The environment variable that names the directory.
pub(crate) const VARIABLE: &str = "STREAMFLOW_EXPAND";

/// Whether a value of the variable is a switch, as `1` or `on`, which the user took for the name of no directory.
pub(crate) fn is_switch(value: &OsStr) -> bool {
    let switches = ["", "0", "1", "true", "false", "yes", "no", "on", "off"];
    switches.iter().any(|switch| value.eq_ignore_ascii_case(switch))
}

/// The source location of a use of a macro.
pub(crate) struct Location {
    /// The path of the file, as rustc names it.
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// Writes an expansion to a file, as formatted code. The file is named after the source location and the expansion's first item.
pub(crate) fn write(
    directory: &Path,
    location: &Location,
    tokens: TokenStream,
) -> io::Result<PathBuf> {
    let spaced = tokens.to_string();
    let (name, text) = match syn::parse2::<File>(tokens) {
        Ok(file) => (name(&file), prettyplease::unparse(&file)),
        // The tokens are no items: the attribute stands on something else. The expansion has an error that reports this.
        Err(_) => (String::from("unreadable"), spaced),
    };
    let stem = Path::new(&location.file).file_stem().unwrap_or_default().to_string_lossy();
    std::fs::create_dir_all(directory)?;
    let path = directory.join(format!("{stem}-{}-{name}.rs", location.line));
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Returns the name of the first struct, function or enum, and `impls` if there is none.
fn name(file: &File) -> String {
    let named = file.items.iter().find_map(|item| match item {
        Item::Struct(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Enum(item) => Some(&item.ident),
        _ => None,
    });
    named.map_or_else(|| String::from("impls"), ToString::to_string)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use quote::quote;

    use super::*;

    #[test]
    fn an_expansion_is_formatted() {
        let directory = tempfile::tempdir().unwrap();
        let tokens = crate::operator::operator(
            quote!(),
            quote! {
                pub struct Blur { #[input] image: Tensor<f32>, radius: usize }
            },
        );
        let location = Location { file: String::from("src/blur.rs"), line: 7 };
        let path = write(&directory.path().join("new"), &location, tokens).unwrap();
        assert_eq!(path.file_name().unwrap(), "blur-7-Blur.rs");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("pub struct Blur {\n    radius: usize,\n}\n"), "{text}");
        assert!(
            text.contains("    pub image: ::streamflow::__private::In<'t, Tensor<f32>>,\n"),
            "{text}"
        );
    }

    #[test]
    fn a_switch_is_no_directory() {
        assert!(["1", "true", "ON", ""].iter().all(|value| is_switch(OsStr::new(value))));
        assert!(["expanded", "/tmp/1", "10"].iter().all(|value| !is_switch(OsStr::new(value))));
    }

    #[test]
    fn tokens_that_are_no_item_are_written_unformatted() {
        let directory = tempfile::tempdir().unwrap();
        let location = Location { file: String::new(), line: 1 };
        let path = write(directory.path(), &location, quote!(fn)).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "fn");
    }
}
