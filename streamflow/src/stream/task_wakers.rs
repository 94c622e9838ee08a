//! Calls of wakers. A waker is the program's code and may panic. This module then writes a line to the log, and the caller goes
//! on. A caller holds no lock during such a call.

use std::task::Waker;

use crate::caught::caught;
use crate::driver::report_in_drop;

/// Wakes a task, if there is one.
pub(crate) fn wake(task: Option<Waker>) {
    report("waking a task", || task.map(Waker::wake).unwrap_or_default());
}

/// Drops the waker of a task that does not wait any more.
pub(crate) fn forget(task: Option<Waker>) {
    report("dropping the waker of a task", || drop(task));
}

fn report(what: &'static str, call: impl FnOnce()) {
    let called = caught(call).map_err(|panic| format!("a waker panicked: {panic}"));
    report_in_drop(what, called);
}
