//! Runs that end while tasks wait for them. Each task must learn of the end, and messages that were not received
//! are counted.

use std::pin::Pin;
use std::task::Poll;

use streamflow::operators::futures::{FromSink, IntoStream, PortSink};
use streamflow::prelude::*;
use streamflow::schedule::{End, Stepped, StoppedBy};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::{Task, put, service};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .both("a_run_that_fails_cuts_the_stream_and_ends_the_sink", failed)
        .both("a_run_that_does_not_start_cuts_the_stream_and_ends_the_sink", not_started)
        .both("each_run_that_does_not_start_cuts_the_stream", never_started)
        .both("a_run_that_is_stopped_cuts_the_stream_and_ends_the_sink", stopped)
        .both("the_next_run_takes_what_a_run_has_left", again)
        .both("each_run_ends_the_stream_once_and_it_waits_for_the_next", once)
        .both("a_send_fails_only_if_its_message_was_not_taken", sends)
        .both("a_graph_that_is_dropped_cuts_the_stream_and_ends_the_sink", graph_dropped)
        .both("a_stream_that_is_dropped_ends_its_node", stream_dropped)
        .both("a_sink_that_is_dropped_ends_its_node_after_its_messages", sink_dropped)
        .both("the_end_of_a_run_is_awaited_again_after_its_future_was_dropped", ended)
}

/// Sends 0, 1, 2, … until the run takes no more. Returns how many messages are left in the sink.
fn left(task: &Task, sink: &mut PortSink<u64>) -> Result<usize, Failed> {
    for number in 0.. {
        match task.block_on(|task| task.ready(sink))? {
            // The run may end between `ready` and `put`. The next call of `ready` then returns the error.
            Ok(()) => _ = put(sink, number),
            Err(Error::SinkOver { left }) => return Ok(left),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failed::msg("the run has no end"))
}

fn failed(platform: &Platform) -> Result<(), Failed> {
    let (graph, (mut sink, mut stream)) = service(platform, 2, 2)?;
    let mut running = graph.spawn()?;
    let task = Task::new();
    // The run is not joined before its tasks know of its end. The task fills the sink until then.
    let left = left(&task, &mut sink)?;
    check(left <= 2, || format!("{left} messages are left"))?;
    let (values, is_whole) = task.rest(&mut stream)?;
    check([1.0, 2.0].starts_with(&values) && !is_whole, || format!("{values:?}, {is_whole}"))?;
    task.end(&mut running.ended())?;
    match running.join() {
        Ok(report) => Err(Failed::msg(format!("no error: {report}"))),
        Err(error) => check_text(&error.to_string(), &["`add`", "the number 2"]),
    }
}

/// An operator that fails in `start`.
#[operator]
struct Broken {
    #[output]
    nothing: u64,
}

impl Compute for Broken {
    fn start(&mut self, _: BrokenStreams<'_>, _: &ExecutionContext) -> Result<()> {
        Err(Failure::msg("out of paper"))
    }

    fn compute(&mut self, io: BrokenIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.nothing.emit(cx.tick())
    }
}

graph! {
    struct NeverStarts(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        let broken: Broken = Broken::new();
        #[when(condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        #[when(condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        broken.nothing >> _;
        numbers.message >> copies.message;
    }
}

fn not_started(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    put(&mut sink, 3)?;
    let running = NeverStarts::new(platform, from, to)?.spawn()?;
    let task = Task::new();
    check_equal(left(&task, &mut sink)?, 1)?;
    let first = task.block_on(|task| task.next(&mut stream))?;
    check(matches!(first, Some(Err(Error::StreamCut))), || format!("{first:?}"))?;
    check(task.block_on(|task| task.next(&mut stream))?.is_none(), || "no end".into())?;
    match running.join() {
        Ok(report) => Err(Failed::msg(format!("no error: {report}"))),
        Err(error) => check_text(&error.to_string(), &["`broken`", "out of paper"]),
    }
}

fn never_started(platform: &Platform) -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut graph = NeverStarts::new(platform, from, to)?;
    put(&mut sink, 3)?;
    let task = Task::new();
    for run in 1..=3 {
        check(task.next(&mut stream).is_pending(), || "an end before its run".into())?;
        check_error("a start", graph.run(), |error| error.to_string().contains("out of paper"))?;
        check_equal(task.wakes(), run)?;
        let first = task.next(&mut stream);
        check(matches!(first, Poll::Ready(Some(Err(Error::StreamCut)))), || format!("{first:?}"))?;
        check(matches!(task.next(&mut stream), Poll::Ready(None)), || "no end".into())?;
        let ready = task.ready(&mut sink);
        let is_over = matches!(ready, Poll::Ready(Err(Error::SinkOver { left: 1 })));
        check(is_over, || format!("{ready:?}"))?;
    }
    Ok(())
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let mut running = graph.spawn()?;
    let task = Task::new();
    task.send(&mut sink, 1)?;
    let first = task.block_on(|task| task.next(&mut stream))?;
    check(matches!(first, Some(Ok(_))), || format!("{first:?}"))?;
    running.stop();
    check_equal(task.rest(&mut stream)?, (Vec::new(), false))?;
    task.end(&mut running.ended())?;
    check_equal(left(&task, &mut sink)?, 0)?;
    check_equal(running.join()?.end, End::Stopped { by: StoppedBy::Handle })
}

fn again(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 2, 99)?;
    let task = Task::new();
    put(&mut sink, 1)?;
    put(&mut sink, 2)?;
    check(task.close(&mut sink).is_pending(), || "it is closed".into())?;
    check_equal(graph.tick()?, Stepped::Ran)?;
    graph.end_run()?;
    let closed = task.close(&mut sink);
    check(matches!(closed, Poll::Ready(Err(Error::SinkOver { left: 1 }))), || {
        format!("{closed:?}")
    })?;
    // The task reads the end of this run only after the next run has begun.
    graph.run()?;
    check_equal(task.rest(&mut stream)?, (vec![2.0], false))?;
    check_equal(task.rest(&mut stream)?, (vec![3.0], true))?;
    let closed = task.close(&mut sink);
    check(matches!(closed, Poll::Ready(Ok(()))), || format!("{closed:?}"))
}

fn once(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 2, 99)?;
    let task = Task::new();
    // The reader begins to wait for each run before the run has begun.
    for run in 0..3_u8 {
        check(task.next(&mut stream).is_pending(), || format!("an end before run {run}"))?;
        check(graph.tick()? != Stepped::Ran, || "a tick".into())?;
        put(&mut sink, run.into())?;
        while graph.tick()? == Stepped::Ran {}
        graph.end_run()?;
        check_equal(task.rest(&mut stream)?, (vec![f32::from(run) + 1.0], false))?;
        check(task.next(&mut stream).is_pending(), || format!("a second end of run {run}"))?;
    }
    // Three runs end without the task reading their ends.
    for _ in 0..3 {
        check(graph.tick()? != Stepped::Ran, || "a tick".into())?;
        graph.end_run()?;
    }
    for _ in 0..3 {
        check_equal(task.rest(&mut stream)?, (Vec::new(), false))?;
    }
    check(task.next(&mut stream).is_pending(), || "a fourth end".into())?;
    let before = task.wakes();
    drop(graph);
    check_equal(task.wakes(), before + 1)?;
    for _ in 0..2 {
        check(matches!(task.next(&mut stream), Poll::Ready(None)), || "no end".into())?;
    }
    Ok(())
}

/// A `send` consists of `poll_ready`, `start_send` and `poll_flush`. The run ends between the last two.
fn sends(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, mut stream)) = service(platform, 3, 99)?;
    let task = Task::new();
    put(&mut sink, 1)?;
    graph.tick()?;
    check(matches!(task.ready(&mut sink), Poll::Ready(Ok(()))), || "no room".into())?;
    put(&mut sink, 2)?;
    graph.end_run()?;
    check(matches!(task.flush(&mut sink), Poll::Ready(Ok(()))), || "it was sent".into())?;
    // The sink accepts no further message.
    let ready = task.ready(&mut sink);
    check(matches!(ready, Poll::Ready(Err(Error::SinkOver { left: 1 }))), || format!("{ready:?}"))?;
    check(put(&mut sink, 3).is_err(), || "it was taken".into())?;
    check(matches!(task.flush(&mut sink), Poll::Ready(Ok(()))), || "nothing is lost".into())?;
    drop(sink);
    check_equal(task.rest(&mut stream)?, (vec![2.0], false))?;
    graph.run()?;
    check_equal(task.rest(&mut stream)?, (vec![3.0], true))
}

fn graph_dropped(platform: &Platform) -> Result<(), Failed> {
    let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let (sender, reader) = (Task::new(), Task::new());
    put(&mut sink, 1)?;
    check(sender.ready(&mut sink).is_pending(), || "room".into())?;
    check(reader.next(&mut stream).is_pending(), || "a message".into())?;
    drop(graph);
    check_equal((sender.wakes(), reader.wakes()), (1, 1))?;
    check_equal(left(&sender, &mut sink)?, 1)?;
    // The graph had no run, and will have none.
    let (sent, next) = (sender.ready(&mut sink), reader.next(&mut stream));
    let (Poll::Ready(Err(over)), Poll::Ready(Some(Err(cut)))) = (sent, next) else {
        return Err(Failed::msg("a task was not told"));
    };
    check_text(&over.to_string(), &["1 are left", "its graph was dropped"])?;
    check_text(&cut.to_string(), &["its graph was dropped before a run"])?;
    check(matches!(reader.next(&mut stream), Poll::Ready(None)), || "no end".into())?;
    check(matches!(reader.next(&mut stream), Poll::Ready(None)), || "a second end".into())
}

fn stream_dropped(platform: &Platform) -> Result<(), Failed> {
    let (mut graph, (mut sink, stream)) = service(platform, 2, 99)?;
    put(&mut sink, 1)?;
    put(&mut sink, 2)?;
    drop(stream);
    let report = graph.run()?.to_string();
    // These messages had not reached the node, so the report says that they were dropped.
    check_text(&report, &["finished by themselves: `sums`", "add.more >> sums.message"])
}

fn sink_dropped(platform: &Platform) -> Result<(), Failed> {
    let (graph, (mut sink, mut stream)) = service(platform, 2, 99)?;
    let running = graph.spawn()?;
    let task = Task::new();
    task.send(&mut sink, 1)?;
    task.send(&mut sink, 2)?;
    drop(sink);
    check_equal(task.rest(&mut stream)?, (vec![2.0, 3.0], true))?;
    check_equal(running.join()?.ticks("numbers"), Some(2))
}

fn ended(platform: &Platform) -> Result<(), Failed> {
    let (graph, (sink, mut stream)) = service(platform, 1, 99)?;
    let mut running = graph.spawn()?;
    let (first, second) = (Task::new(), Task::new());
    {
        let mut ended = running.ended();
        check(Pin::new(&mut ended).poll(&mut first.context()).is_pending(), || "an end".into())?;
    }
    drop(sink);
    second.end(&mut running.ended())?;
    // The first task had dropped its future, so it was not woken.
    check_equal(first.wakes(), 0)?;
    check(running.is_over(), || "it is not over".into())?;
    check_equal(second.rest(&mut stream)?, (Vec::new(), true))?;
    running.join()?;
    Ok(())
}
