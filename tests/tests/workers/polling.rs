//! The worker that polls the device. If its query fails, the run reports the error.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::schedule::Activity;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::{CallKind, FailNth, NotYet};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .host("a_query_that_fails_once_ends_the_run", fails_once)
        .host("the_node_whose_query_fails_is_shown_as_failed", shown_as_failed)
}

#[operator(streams(out))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.out)?;
        let mut image = cx.tensor([4], &stream)?;
        stream.launch::<fill>(4, (&mut image, 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Sink {
    #[input]
    image: Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.discard();
        Ok(())
    }
}

graph! {
    struct Awaited {
        #[when(count(1))] let source: Source = Source::new();
        #[when(stream_done(image))] let sink: Sink = Sink::new();
        source.image >> sink.image;
    }
}

/// Returns a driver whose device data is never complete, and on which one query fails.
fn failing(platform: &Platform) -> Arc<FailNth> {
    let not_yet = Arc::new(NotYet::new(platform.driver().clone()));
    Arc::new(FailNth::new(not_yet, CallKind::QueryEvent, 1_000))
}

fn shown_as_failed(platform: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(failing(platform))?;
    let mut graph = Awaited::new(&platform)?;
    graph.workers(2)?;
    let running = graph.spawn()?;
    let handle = running.handle();
    check_error("a query that fails", running.join(), |_| true)?;
    let nodes = handle.status().nodes;
    let shown: Vec<_> = nodes.iter().map(|node| (&*node.name, node.ticks, node.activity)).collect();
    check_equal(shown, vec![("source", 1, Activity::Done), ("sink", 0, Activity::Failed)])
}

/// Checks that the polling worker's failed query ends the run, since the data is never complete.
fn fails_once(platform: &Platform) -> Result<(), Failed> {
    let once = failing(platform);
    // A second failing query ends a run that goes on in spite of the first.
    let later = Arc::new(FailNth::new(once.clone(), CallKind::QueryEvent, 2_000));
    let platform = Platform::builder().driver(later.clone())?;
    let run = Awaited::new(&platform)?.workers(2)?.run();
    let text = check_error(
        "a query that fails",
        run,
        |error| matches!(error, Error::Operator { node, hook: "readiness", tick: 0, .. } if node == "sink"),
    )?;
    check_text(&text, &["query_event", "INJECTED"])?;
    check(once.has_failed() && !later.has_failed(), || "the first failure is lost".into())
}
