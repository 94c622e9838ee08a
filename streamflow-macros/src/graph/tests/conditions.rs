//! The names of the conditions in this crate: the compiler asks for the name of each kind, and these tests for the rest.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;
use crate::graph::editor::WHEN;
use crate::graph::parse::{CONDITIONS, read_condition};

/// The forms that the text of a condition has, as `periodic(50ms, skip)`.
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
            // The parts that stand for others.
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
