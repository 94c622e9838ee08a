//! Single polls between the ticks of a graph, with the wakes that they cause.

use std::task::Poll;

use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::{Task, put, service};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .both("a_full_sink_waits_until_the_graph_has_taken_a_message", full_sink)
        .both("a_full_stream_stops_the_graph_until_a_message_is_read", full_stream)
        .both("a_future_that_is_dropped_half_way_loses_no_message", dropped)
        .both("a_message_without_room_is_refused_and_loses_no_other", refused)
        .both("a_closed_sink_is_closed_when_the_graph_has_all_messages", closed)
        .both("a_port_without_its_condition_is_named", without_conditions)
        .plain("a_capacity_that_nothing_has_is_an_error", capacities)
}

/// Ticks until nothing can run.
fn tick_all(graph: &mut impl FnMut() -> Result<Stepped, Error>) -> Result<(), Failed> {
    while graph()? == Stepped::Ran {}
    Ok(())
}

fn full_sink(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 2, 99)?;
    let task = Task::new();
    for number in 0..2 {
        check(matches!(task.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
        put(&mut sink, number)?;
    }
    for _ in 0..3 {
        check(task.ready(&mut sink).is_pending(), || "room for a third message".into())?;
    }
    check_equal(task.wakes(), 0)?;
    check_equal(graph.tick()?, Stepped::Ran)?;
    // Polled three times, and woken once.
    check_equal(task.wakes(), 1)?;
    check(matches!(task.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
    put(&mut sink, 2)?;
    drop(sink);
    tick_all(&mut || graph.tick())?;
    let (reader, mut values) = (Task::new(), Vec::new());
    while let Poll::Ready(Some(next)) = reader.next(&mut stream) {
        values.extend_from_slice(next?.wait_blocking()?);
        tick_all(&mut || graph.tick())?;
    }
    // No one waits in the sink any more.
    check_equal((values, task.wakes()), (vec![1.0, 2.0, 3.0], 1))
}

fn full_stream(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let task = Task::new();
    // The stream has room for one, the two edges for one each, and the sink for one.
    for number in 0..4 {
        check(matches!(task.ready(&mut sink), Poll::Ready(Ok(()))), || format!("{number}"))?;
        put(&mut sink, number)?;
        tick_all(&mut || graph.tick())?;
    }
    check(task.ready(&mut sink).is_pending(), || "the fifth message has room".into())?;
    let reader = Task::new();
    for number in 0..4_u8 {
        let Poll::Ready(Some(next)) = reader.next(&mut stream) else {
            return Err(Failed::msg(format!("message {number} is not there")));
        };
        check_equal(next?.wait_blocking()?[0], f32::from(number) + 1.0)?;
        tick_all(&mut || graph.tick())?;
    }
    check(reader.next(&mut stream).is_pending(), || "a fifth message".into())?;
    check_equal((task.wakes(), reader.wakes()), (1, 0))?;
    put(&mut sink, 4)?;
    tick_all(&mut || graph.tick())?;
    check_equal(reader.wakes(), 1)?;
    check(matches!(reader.next(&mut stream), Poll::Ready(Some(Ok(_)))), || "no message".into())
}

/// A waker stays behind, and neither a message nor a place is gone with the future.
fn dropped(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let (first, second) = (Task::new(), Task::new());
    check(first.next(&mut stream).is_pending(), || "a message".into())?;
    // A `send` that is dropped between its two calls, with its message.
    check(matches!(first.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
    check(matches!(second.ready(&mut sink), Poll::Ready(Ok(()))), || "the room is gone".into())?;
    put(&mut sink, 7)?;
    // One that waits for room.
    check(first.ready(&mut sink).is_pending(), || "room".into())?;
    check(second.ready(&mut sink).is_pending(), || "room".into())?;
    // The future that polled is gone. Another one polls, and it alone is woken.
    check(second.next(&mut stream).is_pending(), || "a message".into())?;
    tick_all(&mut || graph.tick())?;
    // For the room, and for the message.
    check_equal((first.wakes(), second.wakes()), (0, 2))?;
    check(matches!(first.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
    let Poll::Ready(Some(next)) = first.next(&mut stream) else {
        return Err(Failed::msg("the message is gone"));
    };
    check_equal(next?.wait_blocking()?[0], 8.0)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    put(&mut sink, 1)?;
    let is_handle = |error: &Error| matches!(error, Error::Handle { handle: "PortSink", .. });
    let error = check_error("a second message", put(&mut sink, 2), is_handle)?;
    check_text(&error, &["it is full", "`poll_ready`"])?;
    let task = Task::new();
    check(task.close(&mut sink).is_pending(), || "it is closed".into())?;
    let error = check_error("a message at the end", put(&mut sink, 3), is_handle)?;
    check_text(&error, &["it is closed"])?;
    graph.run()?;
    check_equal(task.rest(&mut stream)?, (vec![2.0], true))
}

fn closed(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 2, 99)?;
    let task = Task::new();
    put(&mut sink, 1)?;
    put(&mut sink, 2)?;
    check(task.flush(&mut sink).is_ready(), || "no flush".into())?;
    check(task.close(&mut sink).is_pending(), || "it is closed".into())?;
    graph.tick()?;
    check(task.close(&mut sink).is_pending(), || "it is closed".into())?;
    graph.tick()?;
    check(matches!(task.close(&mut sink), Poll::Ready(Ok(()))), || "it is open".into())?;
    let report = graph.run()?;
    check_equal(report.ticks("numbers"), Some(2))?;
    check_equal(task.rest(&mut stream)?, (vec![2.0, 3.0], true))
}

graph! {
    struct NoConditions(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        let numbers: FromSink<u64> = numbers;
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

fn without_conditions(platform: &Platform) -> Result<(), Failed> {
    for (messages, node, wanted) in [
        (1, "numbers", "condition(numbers.arrived())"),
        (3, "copies", "condition(copies.has_room())"),
    ] {
        let ((from, mut sink), (to, _stream)) = (FromSink::channel(3)?, IntoStream::channel(2)?);
        (0..messages).try_for_each(|number| put(&mut sink, number))?;
        let done = NoConditions::new(platform, from, to)?.run();
        let error = check_error(node, done, |_| true)?;
        check_text(&error, &[node, wanted])?;
    }
    Ok(())
}

fn capacities() -> Result<(), Failed> {
    for capacity in [0, usize::MAX, usize::MAX / 64] {
        check_error("a sink", FromSink::<u64>::channel(capacity), |error| {
            matches!(error, Error::Handle { handle: "PortSink", .. })
        })?;
        check_error("a stream", IntoStream::<u64>::channel(capacity), |error| {
            matches!(error, Error::Handle { handle: "PortStream", .. })
        })?;
    }
    Ok(())
}
