//! The errors and warnings that a thread logs: errors in `Drop` are reported there.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

thread_local! {
    static LINES: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Whether all threads share one log: a trial whose graph has workers, and which runs alone.
pub(crate) static IS_SHARED: AtomicBool = AtomicBool::new(false);

static OF_ALL: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// One event.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) is_error: bool,
    /// Its fields, as `name=value`.
    pub(crate) text: String,
}

/// Takes what this thread has logged since the last call. The first call begins the log.
pub(crate) fn take() -> Vec<Line> {
    static START: Once = Once::new();
    START.call_once(|| {
        // Only this sets one in this process.
        let _set = tracing::subscriber::set_global_default(Log);
    });
    if IS_SHARED.load(Ordering::Relaxed) {
        std::mem::take(&mut *OF_ALL.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        LINES.take()
    }
}

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let is_error = *event.metadata().level() == Level::ERROR;
        let line = Line { is_error, text: text.0 };
        if IS_SHARED.load(Ordering::Relaxed) {
            OF_ALL.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        } else {
            LINES.with_borrow_mut(|lines| lines.push(line));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _infallible = write!(self.0, "{}={value:?} ", field.name());
    }
}
