//! Tests what a handle does to a run, and which states of the run it shows.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{Activity, DropReason, End, RunHandle, RunPhase, Running, StoppedBy};
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::gate::{Gate, Gated, Latch, gate};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("stop_lets_the_tick_finish_and_counts_what_waits", stop)
        .both("the_thread_of_a_run_has_the_name_of_the_graph", name)
        .both("status_shows_each_node_also_while_a_hook_runs", status)
        .both("pause_takes_effect_between_ticks_and_resume_ends_it", pause)
        .both("stop_ends_a_pause", stop_while_paused)
        .both("a_report_so_far_counts_ticks_and_drops", report)
        .plain("a_report_of_a_run_whose_hook_hangs_is_an_error_that_names_it", report_of_a_hook)
        .both("join_timeout_names_the_hook_and_gives_the_run_back", timeout)
        .both("join_with_graph_gives_a_graph_that_runs_again", again)
        .both("a_stepped_run_goes_on_after_spawn", stepped)
        .both("a_handle_of_a_run_that_is_over_says_so", over)
        .both("stop_and_the_end_of_the_run_at_once", stop_or_end)
        .both("handles_on_many_threads_lose_nothing", many_threads)
        .both("many_rounds_of_spawn_and_stop", rounds)
        .plain("a_running_graph_is_send_and_sync", || {
            fn is_shared<T: Send + Sync>() {}
            is_shared::<Running<Numbers>>();
            is_shared::<RunHandle>();
            Ok(())
        })
}

/// Counts its numbers, and notes the name of the thread that runs it.
#[operator]
struct Count {
    #[input]
    number: u64,
    count: Arc<AtomicU64>,
    thread: Option<String>,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        self.count.fetch_add(1, Ordering::SeqCst);
        self.thread = thread::current().name().map(Into::into);
        Ok(())
    }
}

graph! {
    /// A graph whose source has no end.
    struct Numbers(count: Arc<AtomicU64>) {
        let numbers: Counter = Counter::new();
        let count: Count = Count::new(count, None);
        numbers.number >> count.number;
    }
}

graph! {
    struct Counted(ticks: u64, count: Arc<AtomicU64>) {
        #[when(count(ticks))] let numbers: Counter = Counter::new();
        let count: Count = Count::new(count, None);
        numbers.number >> count.number;
    }
}

graph! {
    struct GatedNumbers(latch: Latch, count: Arc<AtomicU64>) {
        let gated: Gated = Gated::new(latch);
        let count: Count = Count::new(count, None);
        #[capacity(4)] gated.number >> count.number;
    }
}

/// Waits until another thread has done something. The wait is for a condition, not for a time.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::yield_now();
    }
}

fn stop(platform: &Platform) -> Result<(), Failed> {
    let (gate, latch) = gate();
    let counted = stopped(gate, GatedNumbers::new(platform, latch, Arc::default())?)?;
    check(counted <= 2, || format!("{counted} ticks of the consumer"))?;
    // The second tick has finished and no other has begun: the tick's message still waits.
    let (gate, latch) = self::gate();
    let graph = GatedNumbers::new(platform, latch, Arc::default())?;
    check_equal(stopped(gate, greedy(graph)?)?, 1)
}

/// Stops a run in the second tick of its source. Returns how many ticks the consumer has run.
fn stopped(gate: Gate, graph: GatedNumbers) -> Result<u64, Failed> {
    let running = graph.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    gate.pass("compute", 0)?;
    gate.wait("compute", 1)?;
    running.stop();
    check_equal(running.status().phase, RunPhase::Stopping)?;
    gate.open();
    gate.pass("stop", 2)?;
    let report = running.join()?;
    check_equal(report.end.clone(), End::Stopped { by: StoppedBy::Handle })?;
    check_text(&report.to_string(), &["the run ended: its handle stopped it"])?;
    check_equal(report.ticks("gated"), Some(2))?;
    let counted = report.ticks("count").unwrap_or_default();
    // Each message was received, or is counted as dropped.
    let dropped: Vec<_> = report.dropped.iter().map(|it| (it.messages, it.reason)).collect();
    let waits = (counted < 2).then(|| (2 - counted, DropReason::RunEnded));
    check_equal(dropped, waits.into_iter().collect())?;
    Ok(counted)
}

fn name(platform: &Platform) -> Result<(), Failed> {
    let name_of = |graph: Counted| -> Result<Option<String>> {
        let (graph, done) = graph.spawn()?.join_with_graph()?;
        done?;
        Ok(graph.count().thread.clone())
    };
    let graph = || Counted::new(platform, 1, Arc::default());
    check_equal(name_of(greedy(graph()?)?)?.as_deref(), Some("Counted"))?;
    // The thread name of a further worker ends with a number.
    let name = name_of(graph()?)?.unwrap_or_default();
    let number = name.strip_prefix("Counted").map(|number| number.replace('-', ""));
    let is_right = number.is_some_and(|number| number.is_empty() || number.parse::<u64>().is_ok());
    check(is_right, || name)
}

fn status(platform: &Platform) -> Result<(), Failed> {
    let (gate, latch) = gate();
    let running = greedy(GatedNumbers::new(platform, latch, Arc::default())?)?.spawn()?;
    let gate = gate;
    let shown = |phase, gated: (u64, Activity), count: (u64, Activity)| {
        let status = running.status();
        let [a, b] = &status.nodes[..] else { return Err(Failure::msg(status)) };
        check_equal((a.name.as_str(), b.name.as_str()), ("gated", "count"))?;
        check_equal(status.phase, phase)?;
        check_equal(((a.ticks, a.activity), (b.ticks, b.activity)), (gated, count))
    };
    use Activity::{Computing, Done, Idle, NotStarted, Starting, Stopping};
    gate.wait("start", 0)?;
    shown(RunPhase::Active, (0, Starting), (0, NotStarted))?;
    gate.open();
    gate.wait("compute", 0)?;
    shown(RunPhase::Active, (0, Computing), (0, Idle))?;
    let first = running.status().nodes[0].since;
    check_equal(running.status().nodes[0].since, first)?;
    gate.open();
    gate.wait("compute", 1)?;
    shown(RunPhase::Active, (1, Computing), (1, Idle))?;
    check_text(&running.status().to_string(), &["the run is running", "gated", "in `compute`"])?;
    running.pause()?;
    shown(RunPhase::Paused, (1, Computing), (1, Idle))?;
    running.stop();
    gate.open();
    gate.wait("stop", 2)?;
    let stopped = running.status();
    // The other node has run once more or not at all. The node's own `stop` comes before the run's end.
    check_equal(stopped.nodes[1].activity, Done)?;
    check_equal((stopped.nodes[0].ticks, stopped.nodes[0].activity), (2, Stopping))?;
    check(!running.is_over(), || "it is over before `stop` has returned".into())?;
    let handle = running.handle();
    gate.open();
    running.join()?;
    check_equal(handle.status().phase, RunPhase::Over)?;
    check(handle.status().nodes.iter().all(|node| node.activity == Done), || {
        handle.status().to_string()
    })?;
    Ok(())
}

fn pause(platform: &Platform) -> Result<(), Failed> {
    let (gate, latch) = gate();
    let count = Arc::<AtomicU64>::default();
    paused(gate, GatedNumbers::new(platform, latch, count.clone())?, &count, 0..=2)?;
    let (gate, latch) = self::gate();
    let count = Arc::<AtomicU64>::default();
    // The first node again: the pass was ended by the pause.
    paused(gate, greedy(GatedNumbers::new(platform, latch, count.clone())?)?, &count, 1..=1)
}

/// Pauses a run in the first tick of its source. `counts` are the numbers of ticks that the consumer may have run by the
/// third one.
fn paused(
    gate: Gate,
    graph: GatedNumbers,
    count: &AtomicU64,
    counts: RangeInclusive<u64>,
) -> Result<(), Failed> {
    let running = graph.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    gate.wait("compute", 0)?;
    running.pause()?;
    running.pause()?;
    gate.open();
    // The scheduler answers a request for a report between two ticks, and also while it is paused.
    let report = running.report()?;
    check_equal((report.ticks("gated"), report.ticks("count")), (Some(1), Some(0)))?;
    check_equal(running.status().phase, RunPhase::Paused)?;
    for _ in 0..10 {
        check_equal(running.report()?.ticks("count"), Some(0))?;
    }
    check(gate.entered.try_recv().is_err(), || "a tick has begun during a pause".into())?;
    running.resume()?;
    running.resume()?;
    gate.pass("compute", 1)?;
    gate.wait("compute", 2)?;
    let counted = count.load(Ordering::SeqCst);
    check(counts.contains(&counted), || format!("{counted}, not {counts:?}"))?;
    drop(gate);
    running.stop();
    running.join()?;
    Ok(())
}

fn stop_while_paused(platform: &Platform) -> Result<(), Failed> {
    let running = Numbers::new(platform, Arc::default())?.spawn()?;
    running.pause()?;
    running.report()?;
    running.stop();
    let is_late = |error: &Error| matches!(error, Error::RunOver { .. });
    check_error("pause", running.pause(), is_late)?;
    check_error("resume", running.resume(), is_late)?;
    check_equal(running.join()?.end, End::Stopped { by: StoppedBy::Handle })
}

/// Leaves each message in its queue for one tick. The edge's policy drops messages.
#[operator]
struct Slow {
    #[input]
    number: u64,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            io.number.leave();
        } else {
            io.number.discard();
        }
        Ok(())
    }
}

graph! {
    struct Lossy(latch: Latch) {
        let gated: Gated = Gated::new(latch);
        let slow: Slow = Slow::new();
        #[policy(pop)] gated.number >> slow.number;
    }
}

fn report(platform: &Platform) -> Result<(), Failed> {
    let (gate, latch) = gate();
    reported(gate, Lossy::new(platform, latch)?, None)?;
    let (gate, latch) = self::gate();
    // One of every two messages sent is lost.
    reported(gate, greedy(Lossy::new(platform, latch)?)?, Some(2))
}

/// Two threads request a report during a tick. `lost` says that one of this many messages is lost.
fn reported(gate: Gate, graph: Lossy, lost: Option<u64>) -> Result<(), Failed> {
    let running = graph.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    (0..8).try_for_each(|tick| gate.pass("compute", tick))?;
    gate.wait("compute", 8)?;
    // The report is requested during this tick, and made after it.
    let handle = running.handle();
    let asked = thread::spawn(move || handle.report());
    let (handle, stopping) = (running.handle(), mpsc::channel());
    let other = thread::spawn(move || {
        let report = handle.report();
        let _ = stopping.0.send(());
        report
    });
    gate.open();
    gate.wait("compute", 9)?;
    gate.open();
    drop(gate);
    let _ = stopping.1.recv();
    let threads = [asked.join(), other.join()];
    for report in threads {
        let report = report.map_err(|_| Failure::msg("it panicked"))??;
        check_equal(report.end.clone(), End::NotYet)?;
        check(report.ticks("gated") >= Some(9), || format!("{report}"))?;
        let Some(lost) = lost else { continue };
        let ticks = report.ticks("gated").unwrap_or_default();
        let [dropped] = &report.dropped[..] else { return Err(Failure::msg(report)) };
        check(dropped.messages.abs_diff(ticks / lost) <= 1, || format!("{report}"))?;
    }
    running.stop();
    running.join()?;
    Ok(())
}

fn report_of_a_hook() -> Result<(), Failed> {
    let platform = &Platform::host().build()?;
    let (gate, latch) = gate();
    let running = GatedNumbers::new(platform, latch, Arc::default())?.spawn()?;
    let gate = gate;
    gate.wait("start", 0)?;
    let is_right = |error: &Error| matches!(error, Error::StillRunning { .. });
    let text = check_error("a report", running.report(), is_right)?;
    check_text(&text, &["`GatedNumbers`", "node `gated` has not returned from `start`, tick 0"])?;
    drop(gate);
    running.report()?;
    drop(running);
    Ok(())
}

fn timeout(platform: &Platform) -> Result<(), Failed> {
    let (gate, latch) = gate();
    let count = Arc::<AtomicU64>::default();
    let mut running = GatedNumbers::new(platform, latch, count)?.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    gate.wait("compute", 0)?;
    running.stop();
    for _ in 0..3 {
        let before = running.status().nodes[0].since;
        match running.join_timeout(Duration::from_micros(10)) {
            Err(Error::StillRunning { graph: "GatedNumbers", in_hook }) => {
                check_text(&in_hook, &["node `gated` has not returned from `compute`, tick 0"])?;
                check_equal(running.status().nodes[0].since, before)?;
            }
            other => return Err(Failure::msg(format!("{other:?}"))),
        }
    }
    gate.open();
    gate.wait("stop", 1)?;
    let is_right = |error: &Error| match error {
        Error::StillRunning { in_hook, .. } => in_hook.contains("not returned from `stop`"),
        _ => false,
    };
    check_error("`stop`", running.join_timeout(Duration::ZERO), is_right)?;
    gate.open();
    let report = running.join_timeout(Duration::from_secs(60))?;
    check_equal(report.ticks("gated"), Some(1))?;
    // The result is returned only once, and the graph still exists.
    let is_over = |error: &Error| matches!(error, Error::RunOver { .. });
    check_error("twice", running.join_timeout(Duration::ZERO), is_over)?;
    let (mut graph, done) = running.join_with_graph()?;
    check_error("the result", done, is_over)?;
    drop(gate);
    check_equal(graph.run_for(3)?.ticks("count"), Some(3))
}

fn again(platform: &Platform) -> Result<(), Failed> {
    let count = Arc::<AtomicU64>::default();
    let mut graph = Counted::new(platform, 5, count.clone())?;
    for round in 1..4 {
        let (back, done) = graph.spawn()?.join_with_graph()?;
        graph = back;
        let report = done?;
        check_equal((report.ticks("count"), report.end), (Some(5), End::SourcesDone))?;
        check_equal(graph.run()?.ticks("count"), Some(5))?;
        check_equal(count.load(Ordering::SeqCst), 10 * round)?;
    }
    Ok(())
}

fn stepped(platform: &Platform) -> Result<(), Failed> {
    let count = Arc::<AtomicU64>::default();
    let mut graph = Counted::new(platform, 5, count.clone())?;
    graph.tick()?;
    graph.tick()?;
    let (mut graph, done) = graph.spawn()?.join_with_graph()?;
    check_equal(done?.ticks("count"), Some(5))?;
    check_equal(count.load(Ordering::SeqCst), 5)?;
    check_error("ended", graph.end_run(), |error| matches!(error, Error::NotStepped)).map(drop)
}

fn over(platform: &Platform) -> Result<(), Failed> {
    let running = Counted::new(platform, 3, Arc::default())?.spawn()?;
    let handle = running.handle();
    wait_until(|| running.is_over());
    // The last report is still available.
    check_equal(running.report()?.end, End::SourcesDone)?;
    running.stop();
    let is_late = |error: &Error| matches!(error, Error::RunOver { .. });
    let text = check_error("pause", handle.pause(), is_late)?;
    check_text(&text, &["`pause` came too late", "`Counted` has ended, or was told to stop"])?;
    check_equal(running.join()?.end, End::SourcesDone)?;
    check_error("resume", handle.resume(), is_late)?;
    handle.stop();
    check_equal(handle.report()?.ticks("count"), Some(3))
}

/// A run is stopped while it ends by itself. Whichever comes first, the report says which it was, and counts all ticks.
fn stop_or_end(platform: &Platform) -> Result<(), Failed> {
    for ticks in 1..60 {
        let count = Arc::<AtomicU64>::default();
        let running = Counted::new(platform, ticks, count.clone())?.spawn()?;
        let handle = running.handle();
        let other = thread::spawn(move || handle.stop());
        let report = running.join()?;
        let _ = other.join();
        let counted = Some(count.load(Ordering::SeqCst));
        check_equal(report.ticks("count"), counted)?;
        match report.end {
            End::SourcesDone => check_equal(counted, Some(ticks))?,
            End::Stopped { by: StoppedBy::Handle } => {}
            other => return Err(Failure::msg(format!("{other:?}"))),
        }
    }
    Ok(())
}

fn many_threads(platform: &Platform) -> Result<(), Failed> {
    let count = Arc::<AtomicU64>::default();
    let running = Numbers::new(platform, count.clone())?.spawn()?;
    let done = thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|thread| {
            let handle = running.handle();
            scope.spawn(move || -> Result<()> {
                let mut ticks = 0;
                for round in 0..200 {
                    match (round + thread) % 4 {
                        0 => handle.pause()?,
                        1 => handle.resume()?,
                        2 => {
                            let now = handle.report()?.ticks("numbers").unwrap_or_default();
                            if now < ticks {
                                return Err(Failure::msg(format!("{now} ticks after {ticks}")));
                            }
                            ticks = now;
                        }
                        _ => drop(handle.status()),
                    }
                }
                Ok(())
            })
        });
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => Err(Failure::msg("it panicked")),
        })
    });
    done?;
    running.stop();
    check_equal(running.join()?.ticks("count"), Some(count.load(Ordering::SeqCst)))
}

/// Runs many rounds: with 8 seeds, a thousand in total.
fn rounds(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Numbers::new(platform, Arc::default())?;
    for round in 0..125 {
        let running = graph.spawn()?;
        if round % 2 == 0 {
            wait_until(|| running.status().nodes[1].ticks > 0);
        }
        running.stop();
        let (back, done) = running.join_with_graph()?;
        check_equal(done?.end, End::Stopped { by: StoppedBy::Handle })?;
        graph = back;
    }
    Ok(())
}
