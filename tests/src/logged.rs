//! Collects the lines that the code under test logs.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Level, Metadata, Subscriber};

/// Calls a function. Returns its result, and the errors and warnings that this thread has logged meanwhile. Each line has
/// the level, and each field as `name=value`.
pub fn logged<R>(call: impl FnOnce() -> R) -> (R, Vec<String>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let line = move |level: Level, fields: &str| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{level}{fields}"));
    };
    let result = with_default(EachLine { level: LevelFilter::WARN, line }, call);
    let lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
    (result, lines)
}

/// A subscriber that calls `line` for each logged line up to a level. The line has its level and its fields: each a space
/// and `name=value`.
pub struct EachLine<F> {
    /// The highest level whose lines are passed to the function.
    pub level: LevelFilter,
    /// The function that gets each line.
    pub line: F,
}

impl<F: Fn(Level, &str) + Send + Sync + 'static> Subscriber for EachLine<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        (self.line)(*event.metadata().level(), &fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _infallible = write!(self.0, " {}={value:?}", field.name());
    }
}
