//! Functions that execute a model (a loom test) in the interleavings of its threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Plain, MutexGuard as PlainGuard, PoisonError};

use loom::sync::atomic::AtomicUsize;

/// Executes a model in every interleaving of its threads, and prints how many there are. Fails if there is only one, since then
/// no two threads of the model meet.
pub(crate) fn explore(model: impl Fn() + Send + Sync + 'static) {
    explored(loom::model::Builder::new(), model);
}

#[allow(
    clippy::print_stdout,
    reason = "the number is shown for a test that fails, or with --show-output"
)]
fn explored(builder: loom::model::Builder, model: impl Fn() + Send + Sync + 'static) {
    let runs = Arc::new(AtomicU64::new(0));
    let counted = runs.clone();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let runs = runs.load(Ordering::Relaxed);
    println!("{runs} interleavings");
    assert!(runs > 1, "no two threads meet");
}

/// Like [`explore`], but explores fewer orders of atomic operations, and so ends sooner. That suffices for code behind locks,
/// and for atomics that no thread both stores and loads.
pub(crate) fn explore_sections(model: impl Fn() + Send + Sync + 'static) {
    crate::sync::in_sections(|| explore(model));
}

/// Like [`explore_sections`], twice: with a driver that accepts notes, and with a driver that accepts none, as in most
/// release builds. The library's code branches on that. The model's argument says whether the driver accepts notes.
pub(crate) fn explore_watched_or_not(model: impl Fn(bool) + Clone + Send + Sync + 'static) {
    for watches in [true, false] {
        let model = model.clone();
        explore_sections(move || model(watches));
    }
}

/// Like [`explore_sections`], with at most `at_most` preemptions (switches from a thread that could go on). Used for
/// threads that make many steps. A separate test tries the workers' state in every order of its events.
pub(crate) fn explore_switches(at_most: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(at_most);
    crate::sync::in_sections(|| explored(builder, model));
}

/// Executes a model of one thread, which has only one interleaving. Used for a rule about the effect of a single call.
pub(crate) fn execute(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

/// Like [`execute`], for a model that makes many calls.
pub(crate) fn execute_long(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 200_000;
    crate::sync::in_sections(|| builder.check(model));
}

/// Calls a model of code with a deliberate mistake. The model must panic with a message that contains `expected`.
pub(crate) fn must_fail(expected: &str, model: fn()) {
    let Err(panic) = std::panic::catch_unwind(model) else {
        panic!("no interleaving of the model finds the mutant");
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
    assert!(text.contains(expected), "the model fails for another reason: {text}");
}

/// A value of the models' driver. loom explores all orders of the accesses to the value, but no access synchronises
/// threads.
#[derive(Default)]
pub(crate) struct Observed<T> {
    accesses: AtomicUsize,
    pub(crate) value: Plain<T>,
}

impl<T> Observed<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { accesses: AtomicUsize::new(0), value: Plain::new(value) }
    }

    pub(crate) fn get(&self) -> PlainGuard<'_, T> {
        self.accesses.fetch_add(1, Ordering::Relaxed);
        plain(&self.value)
    }
}

/// Locks a mutex of the standard library. loom does not know this mutex: locking it synchronises no threads of a model,
/// and no thread of a model is interrupted while it holds one.
pub(crate) fn plain<T>(mutex: &Plain<T>) -> PlainGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
