//! Messages between a task and a graph that are never received. Each of them is counted in an error or in the
//! log.

use std::task::Poll;

use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow_tests::{Failed, Suite, check, check_equal, logged};

use super::{Copies, Task, put};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .both("messages_of_a_dropped_sink_that_no_run_takes_are_logged", sink)
        .both("messages_that_a_dropped_stream_has_not_read_are_logged", stream)
        .both("messages_that_a_stopped_run_has_not_taken_are_logged", stopped)
        .both("a_sink_that_outlives_its_graph_says_and_logs_what_is_left", outlives)
}

/// Returns the lines of a log that are about dropped messages.
fn dropped(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.contains(" are dropped: ")).collect()
}

/// Checks that the only line is a warning about this number of messages, of an end that this file has made.
fn check_line(lines: Vec<String>, messages: usize, end: &str) -> Result<(), Failed> {
    let words = ["WARN", &format!("messages={messages} "), file!(), &format!("`{end}`")];
    let lines = dropped(lines);
    let is_right = matches!(&*lines, [line] if words.iter().all(|word| line.contains(word)));
    check(is_right, || format!("not one line with {words:?}: {lines:?}"))
}

fn sink(platform: &Platform) -> Result<(), Failed> {
    for (ticks, left) in [(1, 2), (3, 0)] {
        let ((from, mut sink), (to, stream)) = (FromSink::channel(3)?, IntoStream::channel(3)?);
        let mut graph = Copies::new(platform, from, to)?;
        let (done, before) = logged(|| {
            (0..3).try_for_each(|number| put(&mut sink, number))?;
            drop(sink);
            for _ in 0..ticks {
                check_equal(graph.tick()?, Stepped::Ran)?;
            }
            // Ends the run. A later run could still receive these messages.
            graph.end_run()?;
            Ok::<(), Failed>(())
        });
        done?;
        check_equal(dropped(before), Vec::new())?;
        let mut stream = stream;
        let task = Task::new();
        let is_message = |next: &Poll<_>| matches!(next, Poll::Ready(Some(Ok(_))));
        while is_message(&task.next(&mut stream)) {}
        let ((), lines) = logged(|| drop((graph, stream)));
        match left {
            0 => check_equal(dropped(lines), Vec::new())?,
            left => check_line(lines, left, "PortSink")?,
        }
    }
    Ok(())
}

fn stream(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(3)?, IntoStream::channel(3)?);
    let mut graph = Copies::new(platform, from, to)?;
    (0..3).try_for_each(|number| put(&mut sink, number))?;
    drop(sink);
    graph.run()?;
    let task = Task::new();
    check(matches!(task.next(&mut stream), Poll::Ready(Some(Ok(0)))), || "no message".into())?;
    let ((), lines) = logged(|| {
        drop(stream);
        drop(graph);
    });
    // The entries of the stream that mark its end are not counted as messages.
    check_line(lines, 2, "PortStream")
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, stream)) = (FromSink::channel(4)?, IntoStream::channel(1)?);
    (0..4).try_for_each(|number| put(&mut sink, number))?;
    drop(sink);
    let running = Copies::new(platform, from, to)?.spawn()?;
    running.stop();
    let (done, lines) = logged(|| running.join());
    let taken = done?.ticks("numbers").unwrap_or_default();
    // The stream has room for one message, and so has the edge before it, so the run can't take all four.
    let left = 4_usize.saturating_sub(usize::try_from(taken)?);
    check(left >= 2, || format!("{taken} ticks"))?;
    check_line(lines, left, "PortSink")?;
    drop(stream);
    Ok(())
}

fn outlives(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, _stream)) = (FromSink::channel(2)?, IntoStream::channel(1)?);
    let graph = Copies::new(platform, from, to)?;
    (0..2).try_for_each(|number| put(&mut sink, number))?;
    let ((), lines) = logged(|| drop(graph));
    check_equal(dropped(lines), Vec::new())?;
    let task = Task::new();
    let flushed = task.flush(&mut sink);
    check(matches!(flushed, Poll::Ready(Ok(()))), || format!("{flushed:?}"))?;
    let closed = task.close(&mut sink);
    check(matches!(closed, Poll::Ready(Err(Error::SinkOver { left: 2 }))), || {
        format!("{closed:?}")
    })?;
    let ((), lines) = logged(|| drop(sink));
    check_line(lines, 2, "PortSink")
}
