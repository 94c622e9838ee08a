//! Exploring a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Executes a model in every interleaving, and prints how many there are. A model with one interleaving has no two
/// threads that meet, and is an error.
#[allow(
    clippy::print_stdout,
    reason = "the number is shown for a test that fails, or with --show-output"
)]
pub(crate) fn explore(model: impl Fn() + Send + Sync + 'static) {
    let runs = Arc::new(AtomicU64::new(0));
    let counted = runs.clone();
    loom::model(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let runs = runs.load(Ordering::Relaxed);
    println!("{runs} interleavings");
    assert!(runs > 1, "no two threads meet");
}

/// Executes a model of one thread, which has one interleaving: for a rule about what a single call does.
pub(crate) fn execute(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

/// Calls a model of changed code, which must fail with a message that contains `expected`.
pub(crate) fn must_fail(expected: &str, model: fn()) {
    let Err(panic) = std::panic::catch_unwind(model) else {
        panic!("no interleaving of the model finds the mutant");
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
    assert!(text.contains(expected), "the model fails for another reason: {text}");
}
