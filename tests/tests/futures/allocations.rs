//! Checks that messages between a task and a graph allocate no memory.

use std::task::Poll;

use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow_tests::allocations::count;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::{Copies, Task, put};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite.both("messages_of_a_task_make_no_heap_allocations", no_allocations)
}

fn no_allocations(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut graph = Copies::new(platform, from, to)?;
    let (sender, reader) = (Task::new(), Task::new());
    let mut round = |number: u64| -> Result<(), Failed> {
        check(reader.next(&mut stream).is_pending(), || "a message".into())?;
        put(&mut sink, number)?;
        check(sender.ready(&mut sink).is_pending(), || "room".into())?;
        graph.tick()?;
        check(matches!(sender.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
        let next = reader.next(&mut stream);
        check(matches!(next, Poll::Ready(Some(Ok(n))) if n == number), || format!("{next:?}"))
    };
    (0..100).try_for_each(&mut round)?;
    let (allocations, done) = count(|| (100..300).try_for_each(&mut round));
    done?;
    // Each round has woken both tasks, and made no allocation.
    check_equal((allocations, sender.wakes(), reader.wakes()), (0, 300, 300))
}
