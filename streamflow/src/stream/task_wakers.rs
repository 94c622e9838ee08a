//! The wakers of tasks are the user's code, which may panic: the panic is a line in the log, and the work of the caller goes
//! on. They are called here under no lock.

use std::task::Waker;

use crate::caught::caught;
use crate::driver::report_in_drop;

/// Wakes a task.
pub(crate) fn wake(task: Option<Waker>) {
    report("waking a task", || task.map(Waker::wake).unwrap_or_default());
}

/// Drops the waker of a task that waits no more.
pub(crate) fn forget(task: Option<Waker>) {
    report("dropping the waker of a task", || drop(task));
}

fn report(what: &'static str, call: impl FnOnce()) {
    let called = caught(call).map_err(|panic| format!("a waker panicked: {panic}"));
    report_in_drop(what, called);
}
