//! `#[on_failure(restart(n, back_off))]`: a node whose hook fails gets a new operator, at most `n` times, after a
//! wait.

use std::time::Duration;
use streamflow::prelude::*;
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::numbers::{
    Camera, Fault, Filter, Keep, Log, Numbers, Planned, Shared, check_operators, locked, log, lost,
    without,
};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_restart_makes_a_fresh_operator_and_keeps_the_queues", fresh)
        .both("the_waits_before_restarts_are_doubled", back_off)
        .both("after_too_many_restarts_in_a_row_the_run_ends", too_many)
        .both("a_constructor_or_a_start_that_fails_counts_as_a_failure", failing_restart)
        .both("a_stop_or_a_drop_that_fails_does_not_end_the_run", failing_stop)
        .both("the_first_start_is_not_repeated", first_start)
        .both("a_source_is_restarted", source)
        .both("a_run_begins_with_a_fresh_operator_if_the_last_one_failed", next_run)
        .both("an_expression_may_consume_the_parameters", parameters)
        .both("values_that_were_set_are_kept_by_a_fresh_operator", set_values)
        .both("the_streams_of_a_node_are_kept", streams)
}

const BACK_OFF: Duration = Duration::from_millis(20);

graph! {
    struct Restarts(count: u64, most: u32, log: Shared) {
        #[when(count(count))] let numbers: Numbers = Numbers::new();
        #[on_failure(restart(most, BACK_OFF))] let filter: Filter = Filter::new(log)?;
        let keep: Keep = Keep::new(Vec::new());
        #[capacity(3)]
        numbers.number >> (filter.number, filter.other);
        filter.out >> keep.number;
    }
}

graph! {
    struct RestartsSource(count: u64, most: u32, log: Shared) {
        #[when(count(count))] #[on_failure(restart(most, 20ms))] let camera: Camera = Camera::new(log);
        let keep: Keep = Keep::new(Vec::new());
        camera.number >> keep.number;
    }
}

/// Returns a platform with the driver of `platform` and a simulated clock, and that clock.
fn timed(platform: &Platform) -> Result<(Platform, Clock), Error> {
    let clock = Clock::simulated();
    let builder = Platform::builder().clock(&clock);
    Ok((builder.driver(platform.driver().clone())?, clock))
}

fn milliseconds(times: &[Timestamp]) -> Vec<u64> {
    times.iter().map(|time| time.0 / 1_000_000).collect()
}

fn fresh(platform: &Platform) -> Result<(), Failed> {
    let (platform, _) = timed(platform)?;
    let faults = [(2, Fault::Late), (5, Fault::Panic), (6, Fault::Early)];
    let log = log(&faults);
    let mut graph = Restarts::new(&platform, 10, 2, log.clone())?;
    let report = graph.run()?;
    let expected = without(10, &faults);
    check(graph.keep().seen == expected, || format!("{:?}", graph.keep().seen))?;
    // Each new operator counts its own ticks from 0, while the ticks of the node go on. An entry has both numbers.
    let done = [(0, 0, 0), (1, 1, 1), (3, 3, 0), (4, 4, 1), (7, 7, 0), (8, 8, 1), (9, 9, 2)];
    check(locked(&log).done == done, || format!("{:?}", locked(&log).done))?;
    let filter = report.nodes.iter().find(|node| node.name == "filter");
    let counts = filter.map(|node| (node.ticks, node.failures, node.restarts));
    check(counts == Some((10, 3, 3)), || report.to_string())?;
    check_text(&report.to_string(), &["restarts  first failure"])?;
    // The failed tick had received one input's message, and the message of the other input is lost with it.
    check_equal(lost(&report), vec![("numbers.number >> filter.other", 1)])?;
    check_operators(&log, [4, 4, 4, 3])?;
    drop(graph);
    check_operators(&log, [4, 4, 4, 4])
}

fn back_off(platform: &Platform) -> Result<(), Failed> {
    let (platform, clock) = timed(platform)?;
    let faults: Vec<_> =
        (1..10).map(|tick| (tick, Fault::Late)).chain([(12, Fault::Late)]).collect();
    let log = log(&faults);
    Restarts::new(&platform, 14, 9, log.clone())?.run()?;
    // The waits begin at 20 ms and double up to 64 times that. After a tick that succeeds, they begin at 20 ms
    // again.
    let waits = [20, 40, 80, 160, 320, 640, 1280, 1280, 1280, 20];
    let sums: Vec<u64> = waits
        .iter()
        .scan(0, |sum, wait| {
            *sum += wait;
            Some(*sum)
        })
        .collect();
    let starts = milliseconds(&locked(&log).starts);
    check(starts[0] == 0 && starts[1..] == sums, || format!("{starts:?}, not {sums:?}"))?;
    check(clock.now().0 == 5_120_000_000, || format!("{:?}", clock.now()))
}

fn too_many(platform: &Platform) -> Result<(), Failed> {
    let (platform, _) = timed(platform)?;
    for most in [0, 1, 3] {
        let faults: Vec<_> = (4..20).map(|tick| (tick, Fault::Late)).collect();
        let log = log(&faults);
        let mut graph = Restarts::new(&platform, 10, most, log.clone())?;
        let run = graph.run().map(drop);
        // The node fails in the ticks 4 to `4 + most`. The failure of the last of these is the error of the run.
        let last = 4 + u64::from(most);
        check(run.as_ref().is_err_and(|error| error.find_cause() == Some(&Planned(last))), || {
            format!("{run:?}")
        })?;
        let is_right = |error: &Error| matches!(error, Error::Operator { hook: "compute", tick, .. } if *tick == last);
        check_error("run", run, is_right)?;
        check(graph.keep().seen == [0, 1, 2, 3], || format!("{:?}", graph.keep().seen))?;
        let made = most as usize + 1;
        check_operators(&log, [made, made, made, made - 1])?;
    }
    Ok(())
}

fn failing_restart(platform: &Platform) -> Result<(), Failed> {
    let (platform, _) = timed(platform)?;
    let run = |change: fn(&mut Log), most: u32| -> Result<_, Failed> {
        let log = log(&[(1, Fault::Late)]);
        change(&mut locked(&log));
        let mut graph = Restarts::new(&platform, 4, most, log.clone())?;
        let done = graph.run();
        let seen = graph.keep().seen.to_vec();
        Ok((done, seen, log))
    };
    let (done, seen, log) = run(|log| log.failing_constructors = 2, 3)?;
    let report = done?;
    check(seen == [0, 2, 3], || format!("{seen:?}"))?;
    check(report.nodes.iter().any(|node| (node.failures, node.restarts) == (3, 1)), || {
        report.to_string()
    })?;
    // The second start is at 140 ms, after waits of 20, 40 and 80 ms.
    check(milliseconds(&locked(&log).starts) == [0, 140], || format!("{:?}", locked(&log).starts))?;
    let (done, _, log) = run(|log| log.failing_constructors = 2, 2)?;
    let text = check_error("run", done, |error| {
        matches!(error, Error::Operator { hook: "new", tick: 2, .. })
    })?;
    check_text(&text, &["`filter`", "planned"])?;
    // The operator that failed was stopped, and no other operator was made.
    check_operators(&log, [3, 1, 1, 1])?;

    let (done, seen, log) = run(|log| log.failing_starts = 2, 3)?;
    done?;
    check(seen == [0, 2, 3], || format!("{seen:?}"))?;
    check_operators(&log, [4, 4, 4, 4])?;
    let (done, _, log) = run(|log| log.failing_starts = 2, 2)?;
    let text =
        check_error("run", done, |error| matches!(error, Error::Operator { hook: "start", .. }))?;
    check_text(&text, &["`filter`", "no licence"])?;
    check_operators(&log, [3, 3, 3, 3])
}

fn failing_stop(platform: &Platform) -> Result<(), Failed> {
    let (platform, _) = timed(platform)?;
    let log = log(&[(1, Fault::Late), (3, Fault::Late)]);
    locked(&log).panics_on_drop = true;
    locked(&log).fails_in_stop = true;
    let mut graph = Restarts::new(&platform, 5, 1, log.clone())?;
    let run = graph.run().map(drop);
    check(graph.keep().seen == [0, 2, 4], || format!("{:?}", graph.keep().seen))?;
    // A failure of `stop` at the end of the run is an error of the run.
    let text = check_error("run", run, |error| {
        matches!(error, Error::Operator { hook: "stop", tick: 5, .. })
    })?;
    check_text(&text, &["it does not stop"])?;
    check_operators(&log, [3, 3, 3, 2])
}

fn first_start(platform: &Platform) -> Result<(), Failed> {
    let log = log(&[]);
    {
        let mut log = locked(&log);
        log.started = 1;
        log.failing_starts = 1;
    }
    let run = Restarts::new(platform, 5, 3, log.clone())?.run();
    check_error("run", run, |error| {
        matches!(error, Error::Operator { hook: "start", tick: 0, .. })
    })?;
    check_operators(&log, [1, 2, 1, 1])
}

fn source(platform: &Platform) -> Result<(), Failed> {
    let (platform, clock) = timed(platform)?;
    let faults = [(1, Fault::Late), (2, Fault::Late), (5, Fault::Late)];
    let log = log(&faults);
    let mut graph = RestartsSource::new(&platform, 7, 2, log.clone())?;
    graph.run()?;
    check(graph.keep().seen == without(7, &faults), || format!("{:?}", graph.keep().seen))?;
    check(locked(&log).made == 4, || format!("{:?}", locked(&log)))?;
    check(clock.now().0 == 80_000_000, || format!("{:?}", clock.now()))
}

fn next_run(platform: &Platform) -> Result<(), Failed> {
    let (platform, _) = timed(platform)?;
    // The last tick fails. The operator is not replaced, since no message is left for another one.
    let log = log(&[(4, Fault::Late)]);
    let mut graph = Restarts::new(&platform, 5, 1, log.clone())?;
    graph.run()?;
    check_operators(&log, [1, 1, 1, 0])?;
    locked(&log).faults.clear();
    let report = graph.run()?;
    check_operators(&log, [2, 2, 2, 1])?;
    check(report.nodes.iter().all(|node| node.failures == 0), || report.to_string())?;
    check(graph.keep().seen == [0, 1, 2, 3, 0, 1, 2, 3, 4], || format!("{:?}", graph.keep().seen))
}

/// An operator that emits a text, and fails in its second tick.
#[operator]
struct Speaker {
    #[output]
    text: HostData<String>,
    says: String,
    ticks: u64,
}

impl Compute for Speaker {
    fn compute(&mut self, io: SpeakerIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.ticks += 1;
        if self.ticks == 2 {
            return Err(Failure::msg("hoarse"));
        }
        io.text.emit(HostData(self.says.clone()))
    }
}

#[operator]
struct Listener {
    #[input]
    text: HostData<String>,
    heard: Vec<String>,
}

impl Compute for Listener {
    fn compute(&mut self, io: ListenerIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.heard.push(io.text.receive().into_data().0);
        Ok(())
    }
}

fn joined(words: Vec<String>, platform: &Platform) -> String {
    format!("{} on {}", words.join(" "), platform.name())
}

graph! {
    // A restart of `one` needs `words` again, and a restart of `two` needs `name`. `two` names it only in a format
    // string, and `heard` moves it.
    struct Speaks(words: Vec<String>, name: String, unused: Box<dyn Send>) {
        #[when(count(4))] #[on_failure(restart(5, Duration::ZERO))]
        let one: Speaker = Speaker::new(joined(words, platform), 0);
        #[when(count(4))] #[on_failure(restart(5, Duration::ZERO))]
        let two: Speaker = Speaker::new(format!("I am {name}"), 0);
        let heard: Listener = Listener::new(vec![name]);
        let also: Listener = Listener::new({ drop(unused); Vec::new() });
        one.text >> heard.text;
        two.text >> also.text;
    }
}

fn parameters(platform: &Platform) -> Result<(), Failed> {
    let words = vec!["a".to_owned(), "b".to_owned()];
    let mut graph = Speaks::new(platform, words.clone(), "Eve".to_owned(), Box::new(()))?;
    graph.run()?;
    let says = joined(words, platform);
    // Each operator fails in its second tick, so nothing is heard of the ticks 1 and 3.
    check(graph.heard().heard == ["Eve".to_owned(), says.clone(), says], || {
        format!("{:?}", graph.heard().heard)
    })?;
    check(graph.also().heard == ["I am Eve", "I am Eve"], || format!("{:?}", graph.also().heard))
}

/// An operator that emits the value of a parameter, and fails in its second tick.
#[operator]
struct Gain {
    #[output]
    value: u64,
    #[param]
    gain: u64,
    ticks: u64,
}

impl Compute for Gain {
    fn compute(&mut self, io: GainIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.ticks += 1;
        if self.ticks == 2 {
            return Err(Failure::msg("too loud"));
        }
        io.value.emit(self.gain)
    }
}

graph! {
    struct Gains() {
        #[when(count(5))] #[on_failure(restart(5, Duration::ZERO))]
        let gain: Gain = Gain::new(3, 0);
        let keep: Keep = Keep::new(Vec::new());
        gain.value >> keep.number;
    }
}

fn set_values(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Gains::new(platform)?;
    graph.params().gain().set_gain(7)?;
    let report = graph.run()?;
    check(graph.keep().seen == [7, 7, 7], || format!("{:?}", graph.keep().seen))?;
    check(report.parameters.len() == 1, || report.to_string())
}

/// An operator that fills a tensor with the number of its tick, on a declared stream. It fails in its second
/// tick, after the launch.
#[operator(streams(fill))]
struct Painter {
    #[output]
    image: Tensor<f32>,
    ticks: u64,
}

impl Compute for Painter {
    fn compute(&mut self, io: PainterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([64], &stream)?;
        stream.launch::<streamflow_tests::kernels::fill>(64, (&mut image, cx.tick() as f32))?;
        self.ticks += 1;
        io.image.set_cuda_stream(&stream).emit(image)?;
        if self.ticks == 2 { Err(Failure::msg("out of paint")) } else { Ok(()) }
    }
}

/// An operator that keeps the first value of each image.
#[operator]
struct Viewer {
    #[input]
    image: Tensor<f32>,
    seen: Vec<f32>,
}

impl Compute for Viewer {
    fn compute(&mut self, io: ViewerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.seen.push(cx.download(&image, &stream)?.wait_blocking()?[0]);
        Ok(())
    }
}

graph! {
    struct Paints(ticks: u64) {
        // The pool has one stream, so a second operator gets a stream only if the failed operator has returned its own.
        const ONE: CudaStreamPool = CudaStreamPool::new().max_size(1);
        #[streams(ONE)] #[when(count(ticks))] #[on_failure(restart(1, Duration::ZERO))]
        let painter: Painter = Painter::new(0);
        let viewer: Viewer = Viewer::new(Vec::new());
        painter.image >> viewer.image;
    }
}

fn streams(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Paints::new(platform, 6)?;
    graph.run()?;
    check(graph.viewer().seen == [0.0, 2.0, 4.0], || format!("{:?}", graph.viewer().seen))
}
