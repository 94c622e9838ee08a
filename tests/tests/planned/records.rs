//! Two facts that a plan must not change: the work of a hook is recorded when another stream needs it, and a run
//! ends after all its work.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::mixing::map;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, seen};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("an_operator_records_for_one_that_has_left_its_chain", left)
        .both("a_run_ends_after_the_work_on_each_planned_stream", ends)
        .both("an_operator_works_on_the_stream_that_its_message_came_on", out_of_step)
}

/// An operator with a stream of its own, which receives late.
#[operator]
struct Leaver {
    #[input]
    go: u32,
    #[input]
    image: &Tensor<u32>,
}

impl Compute for Leaver {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.internal_stream()?;
        Ok(())
    }

    fn compute(&mut self, io: LeaverIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.go.receive().into_data();
        io.image.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Left(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[when(count(4))] let go: Go = Go::new();
        #[streams(STREAMS)] #[when(count(2))] let source: Source = Source::new();
        #[streams(STREAMS)] let first: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let a: Step = Step::new(2, noted);
        #[streams(STREAMS)] let leaver: Leaver = Leaver::new();
        go.go >> leaver.go;
        source.image >> first.image;
        first.out >> a.image;
        a.out >> leaver.image;
    }
}

/// The plan puts `first`, `a` and `leaver` on one stream, so that no other stream needs a record of `a`. But
/// `leaver` works on another stream, and receives when `first` has queued work of the next tick. `leaver` must
/// not wait for that work.
fn left(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut graph = Left::new(&platform, planned(1), Noted::default())?;
    let plan = graph.plan()?;
    check(plan.streams().any(|nodes| nodes == ["first", "a", "leaver"]), || plan.mermaid())?;
    graph.workers(Workers::none())?.run()?;
    let calls = recorder.calls();
    let is_launch = |call: &Call| matches!(call, Call::Launch { .. });
    let launches: Vec<usize> = (0..calls.len()).filter(|&at| is_launch(&calls[at])).collect();
    // The launches of `source`, `first` and `a` in the first tick, and of `source` and `first` in the second.
    let [_, _, a, _, first, ..] = launches[..] else { return Err(Failed::msg(recorder.text())) };
    let stream = calls[a].stream();
    check(calls[first].stream() == stream, || recorder.text())?;
    let is_record =
        |call: &Call| matches!(call, Call::RecordEvent { .. }) && call.stream() == stream;
    check(calls[a..first].iter().any(is_record), || recorder.text())
}

/// An operator that queues work for which no other node waits.
#[operator]
struct Queues {
    #[input]
    image: &Tensor<u32>,
    noted: Noted,
}

impl Compute for Queues {
    fn compute(&mut self, io: QueuesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let mut out = cx.tensor([LEN], &stream)?;
        Ok(stream.launch::<map>(LEN, (&mut out, image, 1, 0))?)
    }
}

graph! {
    struct Unread(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(4))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Queues = Queues::new(noted);
        source.image >> a.image;
    }
}

fn ends(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    Unread::new(&platform, planned(2), Noted::default())?.run()?;
    let calls = recorder.calls();
    for (at, call) in calls.iter().enumerate() {
        let (true, Some(stream)) = (matches!(call, Call::Launch { .. }), call.stream()) else {
            continue;
        };
        let is_end = |call: &Call| {
            matches!(call, Call::SynchronizeStream { .. }) && call.stream() == Some(stream)
        };
        check(calls[at..].iter().any(is_end), || recorder.text())?;
    }
    Ok(())
}

/// An operator that works in each tick and sends in every second tick, always on the same set of two streams.
#[operator]
struct Gathers {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    noted: Noted,
}

impl Compute for Gathers {
    fn compute(&mut self, io: GathersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut out, image, 2, 0))?;
        if cx.tick().is_multiple_of(2) {
            return Ok(());
        }
        note(&self.noted, cx, &stream);
        io.out.emit(out)
    }
}

graph! {
    struct OutOfStep(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(12))] let source: Source = Source::new();
        #[streams(STREAMS)] let gathers: Gathers = Gathers::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> gathers.image;
        gathers.out >> sink.image;
    }
}

/// Checks nodes whose tick numbers differ. The sink finds its stream by the message, once it has received a
/// message on each of the two streams.
fn out_of_step(platform: &Platform) -> Result<(), Failed> {
    let (expected, got, noted) = (Got::default(), Got::default(), Noted::default());
    OutOfStep::new(platform, per_operator(), noted.clone(), expected.clone())?.run()?;
    seen::take(&noted);
    OutOfStep::new(platform, planned(2), noted.clone(), got.clone())?.run()?;
    check(seen::all(&got) == seen::all(&expected), || "other data".into())?;
    let (sent, received) = (streams_of(&noted, "gathers"), streams_of(&noted, "sink"));
    check(sent.len() == 6 && sent[2..] == received[2..], || format!("{sent:?} {received:?}"))
}
