//! Helpers that count the log events of a thread, or call a function at one.

use std::sync::atomic::AtomicU32;

use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Level, Metadata, Subscriber};

use super::*;

/// A subscriber of the log that calls a function at each event of one level.
struct AtEach<F> {
    level: Level,
    call: F,
}

impl<F: Fn() + Send + Sync + 'static> Subscriber for AtEach<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == self.level
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        (self.call)();
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Runs `run`, and returns how many errors this thread logs meanwhile.
pub(super) fn errors_in(run: impl FnOnce()) -> u32 {
    let errors = Arc::new(AtomicU32::new(0));
    let counted = errors.clone();
    let call = move || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    with_default(AtEach { level: Level::ERROR, call }, run);
    errors.load(Ordering::Relaxed)
}

/// Runs `run`, and calls `job` at the first warning that this thread logs meanwhile.
pub(super) fn at_first_warning(job: impl FnOnce() + Send + 'static, run: impl FnOnce()) {
    let job = Mutex::new(Some(job));
    let call = move || {
        let job = job.lock().unwrap().take();
        job.into_iter().for_each(|job| job());
    };
    with_default(AtEach { level: Level::WARN, call }, run);
}
