//! `tick` and `end_run`: a program runs a graph step by step.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{End, Stepped, StoppedBy};
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::allocations;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, stalled};

use super::both::Both;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("each_tick_of_a_graph_is_one_pass", one_pass)
        .both("a_stepped_run_that_is_over_stays_over", stays_over)
        .both("run_goes_on_with_a_stepped_run", run_after_ticks)
        .both("end_run_stops_a_stepped_run_and_counts_what_waits", ended_early)
        .both("end_run_without_a_tick_is_an_error", never_begun)
        .both("end_run_returns_that_the_run_has_stalled", has_stalled)
        .both("a_tick_that_fails_ends_the_run_with_its_hooks", fails)
        .both("a_tick_never_waits_for_the_device", never_waits)
        .both("a_graph_that_is_dropped_between_ticks_releases_its_messages", dropped)
        .host("a_tick_says_until_when_nothing_happens", until)
        .both("a_warm_tick_of_a_graph_allocates_nothing", allocates_nothing)
}

/// An operator that notes its hooks, and the numbers that it receives.
#[operator]
struct Log {
    #[input]
    number: u64,
    seen: Seen<String>,
    fails_at: u64,
}

impl Compute for Log {
    fn start(&mut self, _: LogStreams<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, "start".into());
        Ok(())
    }

    fn compute(&mut self, io: LogIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        if number == self.fails_at {
            return Err(Failure::msg("it is this number"));
        }
        push_seen(&self.seen, number.to_string());
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, "stop".into());
        Ok(())
    }
}

graph! {
    struct Logged(count: u64, seen: Seen<String>, fails_at: u64) {
        #[when(count(count))] let numbers: Counter = Counter::new();
        let log: Log = Log::new(seen, fails_at);
        #[capacity(2)] numbers.number >> log.number;
    }
}

const NEVER: u64 = u64::MAX;

fn one_pass(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 3, seen.clone(), NEVER)?;
    check_equal(all(&seen).len(), 0)?;
    for expected in [&["start", "0"][..], &["start", "0", "1"], &["start", "0", "1", "2"]] {
        check_equal(graph.tick()?, Stepped::Ran)?;
        check_equal(all(&seen), expected.iter().map(ToString::to_string).collect())?;
    }
    check_equal(graph.tick()?, Stepped::Over)?;
    let report = graph.end_run()?;
    check_equal(report.end, End::SourcesDone)?;
    check_equal(report.nodes.iter().map(|node| node.ticks).collect::<Vec<_>>(), vec![3, 3])?;
    check_equal(all(&seen).last().map(String::as_str), Some("stop"))
}

fn stays_over(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 1, seen.clone(), NEVER)?;
    for _ in 0..2 {
        check_equal(graph.tick()?, Stepped::Ran)?;
        for _ in 0..3 {
            check_equal(graph.tick()?, Stepped::Over)?;
        }
        // `run` ends a run that is over, and starts a new one.
        check_equal(graph.run()?.ticks("log"), Some(1))?;
    }
    check_equal(all(&seen), ["start", "0", "stop"].repeat(2).into_iter().map(Into::into).collect())
}

fn run_after_ticks(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 5, seen.clone(), NEVER)?;
    graph.tick()?;
    graph.tick()?;
    let report = graph.run()?;
    check_equal((report.ticks("log"), report.end), (Some(5), End::SourcesDone))?;
    check_equal(all(&seen).join(" ").as_str(), "start 0 1 2 3 4 stop")?;
    graph.tick()?;
    // The limit counts from this call: one tick was done before, and two more may follow.
    let report = graph.run_for(2)?;
    check_equal((report.ticks("log"), report.end), (Some(3), End::TicksDone))
}

fn ended_early(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 5, seen.clone(), NEVER)?;
    graph.tick()?;
    let report = graph.end_run()?;
    check_equal(report.end, End::Stopped { by: StoppedBy::EndRun })?;
    check_equal(all(&seen).join(" ").as_str(), "start 0 stop")?;
    // The ticks of the next run begin at 0.
    graph.tick()?;
    graph.end_run()?;
    check_equal(all(&seen).join(" ").as_str(), "start 0 stop start 0 stop")
}

fn never_begun(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Logged::new(platform, 1, Seen::default(), NEVER)?;
    let is_right = |error: &Error| matches!(error, Error::NotStepped);
    check_error("no tick", graph.end_run(), is_right)?;
    graph.run()?;
    check_error("a run that has ended", graph.end_run(), is_right).map(drop)
}

graph! {
    struct Unequal {
        #[when(count(1))] let a: Counter = Counter::new();
        #[when(count(2))] let b: Counter = Counter::new();
        let both: Both = Both::new();
        a.number >> both.a;
        b.number >> both.b;
    }
}

fn has_stalled(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Unequal::new(platform)?;
    while graph.tick()? != Stepped::Over {}
    let stepped = stalled(graph.end_run())?;
    check_equal(stepped, stalled(graph.run())?)
}

fn fails(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 5, seen.clone(), 1)?;
    for _ in 0..2 {
        graph.tick()?;
        let is_right = |error: &Error| matches!(error, Error::Operator { tick: 1, .. });
        check_error("the second tick", graph.tick(), is_right)?;
        check_error("the run", graph.end_run(), |error| matches!(error, Error::NotStepped))?;
    }
    check_equal(all(&seen).join(" ").as_str(), "start 0 stop start 0 stop")
}

/// A source that fills a tensor by a slow kernel.
#[operator(streams(fill))]
struct SlowSource {
    #[output]
    image: Tensor<f32>,
    times: u64,
}

impl Compute for SlowSource {
    fn compute(&mut self, io: SlowSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([16], &stream)?;
        stream.launch::<slow_fill>(16, (&mut image, cx.tick() as f32, self.times))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// A sink that reads data that is complete.
#[operator]
struct Reader {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        push_seen(&self.seen, values.wait_blocking()?[15]);
        Ok(())
    }
}

graph! {
    struct Awaited(count: u64, times: u64, seen: Seen<f32>) {
        #[when(count(count))] let source: SlowSource = SlowSource::new(times);
        #[when(stream_done(image))] let reader: Reader = Reader::new(seen);
        source.image >> reader.image;
    }
}

/// Checks that `tick` never waits: after the source has run, each call returns at once without a tick, until the
/// device has finished.
fn never_waits(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Awaited::new(platform, 3, 200_000, seen.clone())?;
    let (mut ran, mut waited) = (0, 0);
    loop {
        match graph.tick()? {
            Stepped::Ran => ran += 1,
            Stepped::Waiting { until } => {
                check_equal(until, None)?;
                waited += 1;
            }
            Stepped::Over => break,
        }
    }
    check(ran >= 3, || format!("{ran} passes have run, {waited} have waited"))?;
    graph.end_run()?;
    check_equal(all(&seen), vec![0.0, 1.0, 2.0])
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Awaited::new(platform, 3, 20_000, seen.clone())?;
    graph.tick()?;
    drop(graph);
    let seen = Seen::default();
    let mut graph = Logged::new(platform, 3, seen.clone(), NEVER)?;
    graph.tick()?;
    drop(graph);
    // No further hook was called, and only the test still owns the list.
    check_equal(all(&seen).join(" ").as_str(), "start 0")?;
    check_equal(std::sync::Arc::strong_count(&seen), 1)
}

/// A source that sends nothing before a moment of the clock.
#[operator]
struct Never {
    #[output]
    number: u64,
}

impl Compute for Never {
    fn compute(&mut self, io: NeverIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.now().0 < 1_000_000 {
            return Ok(());
        }
        cx.finish();
        io.number.emit(7)
    }
}

graph! {
    struct Later(seen: Seen<String>) {
        let never: Never = Never::new();
        let log: Log = Log::new(seen, NEVER);
        never.number >> log.number;
    }
}

/// Checks that only the program moves the clock.
fn until(_: &Platform) -> Result<(), Failed> {
    let clock = Clock::simulated();
    let platform = Platform::host().clock(&clock).build()?;
    let seen = Seen::default();
    let mut graph = Later::new(&platform, seen.clone())?;
    check_equal(graph.tick()?, Stepped::Waiting { until: None })?;
    for _ in 0..100 {
        let stepped = graph.tick()?;
        check(matches!(stepped, Stepped::Waiting { .. }), || format!("{stepped:?}"))?;
    }
    // The source has sent nothing for so long that it pauses before its next tick.
    check_equal(graph.tick()?, Stepped::Waiting { until: Some(Timestamp(1_000)) })?;
    check_equal(clock.now(), Timestamp(0))?;
    clock.advance(Duration::from_millis(1));
    check_equal(graph.tick()?, Stepped::Ran)?;
    check_equal(graph.tick()?, Stepped::Over)?;
    check_equal(graph.end_run()?.end, End::Finished { nodes: vec!["never".into()] })?;
    check_equal(all(&seen).join(" ").as_str(), "start 7 stop")
}

/// A sink that receives numbers, and ignores them.
#[operator]
struct Ignore {
    #[input]
    number: u64,
}

impl Compute for Ignore {
    fn compute(&mut self, io: IgnoreIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Quiet {
        let numbers: Counter = Counter::new();
        let ignore: Ignore = Ignore::new();
        numbers.number >> ignore.number;
    }
}

fn allocates_nothing(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Quiet::new(platform)?;
    let tick = |graph: &mut Quiet| (0..100).try_for_each(|_| graph.tick().map(drop));
    tick(&mut graph)?;
    let (count, done) = allocations::count(|| tick(&mut graph));
    done?;
    // The race checker of debug builds may grow a list once.
    check(count <= 2, || format!("{count} allocations in 100 ticks"))
}
