//! Errors of a run in an explored test that no thread can wake: all threads of the test have ended or wait.

use crate::context::{Activity, RunControl};
use crate::error::Error;
use crate::turns;

/// Returns the error of a run whose nodes wait for conditions, when no thread is left that could change these conditions.
pub(super) fn waiting(run: &RunControl) -> Error {
    let cells = run.nodes().iter().filter(|cell| cell.word().activity() == Activity::Waiting);
    let (mut nodes, mut remedy) = (Vec::new(), "let a thread of the test wake it");
    for cell in cells {
        let condition = cell.condition(cell.word());
        nodes.push(match condition {
            Some(condition) => format!("`{condition}` of `{}`", cell.name()),
            None => format!("another thread in `{}`", cell.name()),
        });
        if condition.is_some_and(|condition| condition.contains("asynchronous")) {
            remedy = "call `close()`, or drop the handles";
        }
    }
    error(format!(
        "runs a graph that waits for {}, and every thread of this test has ended or waits: nothing can notify it; \
         {remedy}",
        nodes.join(" and ")
    ))
}

/// Returns the error of a run that is paused, when no thread is left that could resume it.
pub(super) fn paused() -> Error {
    let problem = "runs a graph that is paused, and every thread of this test has ended or waits: nothing can resume it; \
                   call `resume` or `stop`";
    error(problem.to_owned())
}

fn error(problem: String) -> Error {
    Error::Thread { thread: turns::explain_sleep(&problem), problem }
}
