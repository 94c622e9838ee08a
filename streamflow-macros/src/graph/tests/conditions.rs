//! Tests that this crate knows each condition by name wherever it should. rustc finds a kind of condition without a name, and
//! these tests find a name that is missing in a list.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;
use crate::graph::editor::WHEN;
use crate::graph::parse::{CONDITIONS, read_condition};

/// Returns the forms that the text of a condition shows in backquotes, as `periodic(50ms, skip)`.
fn forms(name: &str, text: &'static str) -> Vec<&'static str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| code.split('(').next() == Some(name)).collect()
}

#[test]
fn each_form_of_a_condition_can_be_written() {
    for (name, text) in CONDITIONS {
        let forms = forms(name, text);
        assert!(!forms.is_empty(), "the text of `{name}` has no form of it");
        for form in forms {
            // In this form, `a` and `b` stand for any conditions.
            let form = form.replace("any(a, b)", "any(boolean(a), boolean(b))");
            let mut errors = Errors::default();
            let written: TokenStream = form.parse().unwrap();
            let read = read_condition(written, false, &mut errors);
            assert_eq!(errors.texts(), [] as [String; 0], "{form}");
            assert_eq!(read.unwrap().kind.name(), *name, "{form}");
        }
    }
}

#[test]
fn an_editor_completes_each_condition() {
    let known: BTreeSet<&str> = CONDITIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(WHEN.names().into_iter().collect::<BTreeSet<_>>(), known);
}
