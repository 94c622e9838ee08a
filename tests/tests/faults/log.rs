//! The errors and warnings that a thread logs. An error in `Drop` is reported there.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use streamflow_tests::EachLine;
use tracing::Level;
use tracing::level_filters::LevelFilter;

thread_local! {
    static LINES: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Whether all threads share one log. This is so for a trial that runs alone, with workers in its graph.
pub(crate) static IS_SHARED: AtomicBool = AtomicBool::new(false);

static OF_ALL: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// A logged event.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) is_error: bool,
    /// The line's fields, as `name=value`.
    pub(crate) text: String,
}

/// Returns the lines that this thread has logged since the last call, and removes them. The first call begins the
/// log.
pub(crate) fn take() -> Vec<Line> {
    static START: Once = Once::new();
    START.call_once(|| {
        // No other code of this process sets a subscriber, so this can't fail.
        let _set = tracing::subscriber::set_global_default(EachLine {
            level: LevelFilter::WARN,
            line: keep,
        });
    });
    if IS_SHARED.load(Ordering::Relaxed) {
        std::mem::take(&mut *OF_ALL.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        LINES.take()
    }
}

fn keep(level: Level, fields: &str) {
    let line = Line { is_error: level == Level::ERROR, text: fields.trim_start().to_owned() };
    if IS_SHARED.load(Ordering::Relaxed) {
        OF_ALL.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    } else {
        LINES.with_borrow_mut(|lines| lines.push(line));
    }
}
