//! Wakers that panic. The panic changes nothing for the graph and the tasks, and no message is lost.

use std::mem::forget;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use futures_sink::Sink;
use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow_tests::wakers::{Part, calling};
use streamflow_tests::{Failed, Suite, check, check_equal, logged};

use super::{Copies, Task, put};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .both("a_waker_of_a_port_that_panics_loses_no_message", of_ports)
        .both("a_task_that_is_polled_on_the_thread_of_its_run_does_not_join_it", joins)
        .both("a_waker_that_panics_at_the_end_of_a_run_keeps_its_result", of_runs)
}

/// Returns a waker that panics in one of its functions.
fn panics(in_part: Part) -> Waker {
    calling(move |part| assert!(part != in_part, "in {part:?}"))
}

/// Checks that exactly one line of the log says that a waker has panicked.
fn check_line(lines: &[String], part: Part) -> Result<(), Failed> {
    let words = ["ERROR", "a waker panicked", &format!("in {part:?}")];
    let is_right = matches!(lines, [line] if words.iter().all(|word| line.contains(word)));
    check(is_right, || format!("not one line with {words:?}: {lines:?}"))
}

fn of_ports(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut graph = Copies::new(platform, from, to)?;
    let task = Task::new();
    for number in 0..3 {
        put(&mut sink, number)?;
        let wakes = panics(Part::Wake);
        let ready = pin!(&mut sink).poll_ready(&mut Context::from_waker(&wakes));
        check(ready.is_pending(), || format!("{ready:?}"))?;
        // The node with the sink's messages calls the waker, which panics.
        let (ticked, lines) = logged(|| graph.tick());
        check_equal(ticked?, Stepped::Ran)?;
        check_line(&lines, Part::Wake)?;
        let next = task.next(&mut stream);
        check(matches!(next, Poll::Ready(Some(Ok(n))) if n == number), || format!("{next:?}"))?;

        let next = pin!(&mut stream).poll_next(&mut Context::from_waker(&wakes));
        check(next.is_pending(), || format!("{next:?}"))?;
        put(&mut sink, 10 + number)?;
        // The node with the stream's messages calls the waker, which panics.
        let (ticked, lines) = logged(|| graph.tick());
        check_equal(ticked?, Stepped::Ran)?;
        check_line(&lines, Part::Wake)?;
        let drops = panics(Part::Drop);
        let next = task.next(&mut stream);
        check(matches!(next, Poll::Ready(Some(Ok(n))) if n == 10 + number), || {
            format!("{next:?}")
        })?;
        let next = pin!(&mut stream).poll_next(&mut Context::from_waker(&drops));
        check(next.is_pending(), || format!("{next:?}"))?;
        // The task's waker replaces this one, whose drop panics.
        let (next, lines) = logged(|| task.next(&mut stream));
        check(next.is_pending(), || format!("{next:?}"))?;
        check_line(&lines, Part::Drop)?;
        forget(drops);
    }
    let wakes = panics(Part::Wake);
    let next = pin!(&mut stream).poll_next(&mut Context::from_waker(&wakes));
    check(next.is_pending(), || format!("{next:?}"))?;
    let (ended, lines) = logged(|| graph.end_run());
    check_equal(ended?.ticks("numbers"), Some(6))?;
    check_line(&lines, Part::Wake)?;
    check(matches!(task.next(&mut stream), Poll::Ready(Some(Err(Error::StreamCut)))), || {
        "no cut".into()
    })
}

/// Checks an executor that polls within the call of `wake`.
fn joins(platform: &Platform) -> Result<(), Failed> {
    let ((from, sink), (to, _stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut running = Copies::new(platform, from, to)?.spawn()?;
    let task = Box::pin(async move {
        running.ended().await;
        running.join()
    });
    let task = Arc::new(Mutex::new(Some(task)));
    let (polled, (joins, joined)) = (task.clone(), channel());
    let waker = calling(move |part| {
        if part == Part::Wake
            && let Some(mut task) = polled.lock().ok().and_then(|mut task| task.take())
        {
            let _is_heard = joins.send(task.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        }
    });
    let mut slot = task.lock().map_err(|_| Failed::msg("a waker panicked"))?;
    let task = slot.as_mut().ok_or_else(|| Failed::msg("it was not woken"))?;
    let end = task.as_mut().poll(&mut Context::from_waker(&waker));
    check(end.is_pending(), || format!("{end:?}"))?;
    drop((slot, sink));
    let end = joined.recv()?;
    check(matches!(end, Poll::Ready(Err(Error::StillRunning { .. }))), || format!("{end:?}"))
}

fn of_runs(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(2)?, IntoStream::channel(2)?);
    let mut running = Copies::new(platform, from, to)?.spawn()?;
    let (woken, wakes) = channel();
    {
        let mut ended = pin!(running.ended());
        let drops = panics(Part::Drop);
        let end = ended.as_mut().poll(&mut Context::from_waker(&drops));
        check(end.is_pending(), || "an end".into())?;
        forget(drops);
        let waker = calling(move |part| {
            let _is_heard = woken.send(part);
            assert!(part != Part::Wake, "in {part:?}");
        });
        let mut cx = Context::from_waker(&waker);
        let (end, lines) = logged(|| ended.as_mut().poll(&mut cx));
        check(end.is_pending(), || "an end".into())?;
        check_line(&lines, Part::Drop)?;
        check_equal(wakes.recv()?, Part::Clone)?;
        put(&mut sink, 1)?;
        drop(sink);
        let next = Task::new().block_on(|task| task.next(&mut stream))?;
        check(matches!(next, Some(Ok(1))), || format!("{next:?}"))?;
        check_equal(wakes.recv()?, Part::Wake)?;
    }
    check_equal(running.join()?.ticks("numbers"), Some(1))
}
