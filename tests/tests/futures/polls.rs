//! Single polls of a graph's futures between ticks, with the wakes that they cause.

use std::task::Poll;

use streamflow::operators::futures::{FromSink, IntoStream, PortSink, PortStream};
use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow_tests::stereo::Counter;
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
        .both("a_tick_that_a_port_has_nothing_for_is_named", anyway)
        .both("a_node_that_ends_before_its_run_is_told_at_the_end_of_the_run", counted)
        .plain("a_capacity_that_nothing_has_is_an_error", capacities)
}

/// Ticks the graph until no node can run.
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
    // The task has polled three times, and the tick has woken it once.
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
    // No task waits at the sink any more, so there is no further wake.
    check_equal((values, task.wakes()), (vec![1.0, 2.0, 3.0], 1))
}

fn full_stream(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let task = Task::new();
    // Four messages find room: one in the stream, one in each of the two edges, and one in the sink.
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

/// Checks that a future which is dropped leaves its waker behind, but takes neither a message nor room with it.
fn dropped(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let (first, second) = (Task::new(), Task::new());
    check(first.next(&mut stream).is_pending(), || "a message".into())?;
    // A `send` is dropped after it has got room and before it has put its message.
    check(matches!(first.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
    check(matches!(second.ready(&mut sink), Poll::Ready(Ok(()))), || "the room is gone".into())?;
    put(&mut sink, 7)?;
    // Each task polls a `send` that waits for room.
    check(first.ready(&mut sink).is_pending(), || "room".into())?;
    check(second.ready(&mut sink).is_pending(), || "room".into())?;
    // The future that the first task has polled is dropped. The second task polls the stream, and only this task is
    // woken.
    check(second.next(&mut stream).is_pending(), || "a message".into())?;
    tick_all(&mut || graph.tick())?;
    // The second task was woken once for the room and once for the message.
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
    struct SinkAlone(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        let numbers: FromSink<u64> = numbers;
        #[when(condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

graph! {
    struct StreamAlone(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        #[when(condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

const WAITS_FOR_A_MESSAGE: &str = "`#[when(condition(numbers.arrived()))]`";
const WAITS_FOR_ROOM: &str = "`#[when(condition(copies.has_room()))]`";

/// Checks graphs without the conditions `arrived` and `has_room`: each run fails in `start`, the graph can be run
/// again, and both ends of the program learn that the run is over.
fn without_conditions(platform: &Platform) -> Result<(), Failed> {
    let task = Task::new();
    let ends = || Ok::<_, Error>((FromSink::channel(3)?, IntoStream::channel(2)?));
    let is_told = |sink: &mut PortSink<u64>, stream: &mut PortStream<u64>| {
        let (ready, cut, end) = (task.ready(sink), task.next(stream), task.next(stream));
        let is_told = matches!(ready, Poll::Ready(Err(Error::SinkOver { left: 1 })))
            && matches!(cut, Poll::Ready(Some(Err(Error::StreamCut))))
            && matches!(end, Poll::Ready(None));
        check(is_told, || format!("{ready:?}, {cut:?}, {end:?}"))
    };
    let ((from, mut sink), (to, mut stream)) = ends()?;
    put(&mut sink, 1)?;
    let mut graph = SinkAlone::new(platform, from, to)?;
    for _ in 0..2 {
        let error = check_error("no `arrived`", graph.run(), |_| true)?;
        check_text(&error, &["`numbers` failed in `start`", WAITS_FOR_A_MESSAGE])?;
        is_told(&mut sink, &mut stream)?;
    }
    let ((from, mut sink), (to, mut stream)) = ends()?;
    put(&mut sink, 1)?;
    let mut graph = StreamAlone::new(platform, from, to)?;
    for _ in 0..2 {
        let error = check_error("no `has_room`", graph.run(), |_| true)?;
        check_text(&error, &["`copies` failed in `start`", WAITS_FOR_ROOM])?;
        is_told(&mut sink, &mut stream)?;
    }
    Ok(())
}

graph! {
    /// A graph whose conditions permit a tick without a message or without room.
    struct Anyway(numbers: FromSink<u64>, copies: IntoStream<u64>, ticks: u64) {
        #[when(any(condition(numbers.arrived()), count(ticks)))]
        let numbers: FromSink<u64> = numbers;
        #[when(any(condition(copies.has_room()), count(9)))]
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

fn anyway(platform: &Platform) -> Result<(), Failed> {
    for (messages, ticks, node, wanted) in
        [(1, 9, "numbers", WAITS_FOR_A_MESSAGE), (3, 3, "copies", WAITS_FOR_ROOM)]
    {
        let ((from, mut sink), (to, _stream)) = (FromSink::channel(3)?, IntoStream::channel(2)?);
        (0..messages).try_for_each(|number| put(&mut sink, number))?;
        let done = Anyway::new(platform, from, to, ticks)?.run();
        let error = check_error(node, done, |_| true)?;
        check_text(&error, &[&format!("`{node}` has a tick without"), wanted])?;
    }
    Ok(())
}

graph! {
    /// A graph in which a node ends before the run does, while the run's clock goes on.
    struct Counted(numbers: FromSink<u64>, copies: IntoStream<u64>, sent: u64, read: u64) {
        #[when(count(sent), condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        #[when(count(read), condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        let clock: Counter = Counter::new();
        numbers.message >> copies.message;
        clock.number >> _;
    }
}

fn counted(platform: &Platform) -> Result<(), Failed> {
    for (sent, read) in [(1, 9), (9, 1)] {
        let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
        let mut graph = Counted::new(platform, from, to, sent, read)?;
        let (sender, reader) = (Task::new(), Task::new());
        put(&mut sink, 1)?;
        (0..9).try_for_each(|_| graph.tick().map(drop))?;
        let next = reader.next(&mut stream);
        check(matches!(next, Poll::Ready(Some(Ok(1)))), || format!("{next:?}"))?;
        if sent == 1 {
            put(&mut sink, 2)?;
            (0..9).try_for_each(|_| graph.tick().map(drop))?;
            check(sender.ready(&mut sink).is_pending(), || "room".into())?;
            graph.end_run()?;
            check_equal(sender.wakes(), 1)?;
            let ready = sender.ready(&mut sink);
            let is_told = matches!(ready, Poll::Ready(Err(Error::SinkOver { left: 1 })));
            check(is_told, || format!("{ready:?}"))?;
        } else {
            (0..9).try_for_each(|_| graph.tick().map(drop))?;
            check(reader.next(&mut stream).is_pending(), || "an end".into())?;
            graph.end_run()?;
            check_equal(reader.wakes(), 1)?;
            let next = reader.next(&mut stream);
            check(matches!(next, Poll::Ready(Some(Err(Error::StreamCut)))), || {
                format!("{next:?}")
            })?;
        }
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
