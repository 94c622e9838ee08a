//! A source without an end of its own sends to edges that drop messages. Its run must end when no node takes its messages
//! any more, as it does without a dropping policy.

use std::time::Duration;

use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, Dropped, End, Report, Workers};
use streamflow::testing::{Explorer, yield_now};
use streamflow::time::Clock;
use streamflow_tests::relays::{Join, Pass};
use streamflow_tests::{Failed, Suite, Tier, check, check_equal, check_text};

use super::operators::Overlay;
use super::timing::{dropped, sum};
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_consumer_that_has_ended_ends_its_run_behind_each_policy::host", each_end)
        .plain("a_seed_repeats_a_run_that_ends_for_nobody::host", repeated)
        .plain("a_consumer_that_still_takes_keeps_a_run_going::host", still_takes)
        .plain("a_source_with_an_end_does_all_its_ticks_for_nobody::host", with_end)
        .plain("a_run_ends_behind_a_chain_and_beside_another_endless_source::host", far)
        .plain("a_run_ends_also_while_threads_look_at_a_node_in_vain::host", held)
        .plain(
            "no_order_of_threads_keeps_a_node_behind_an_endless_source_from_its_ticks::host",
            in_turn,
        )
        .plain("a_thread_beside_a_graph_ends_it_behind_pop::host", beside_a_thread)
}

/// A run that goes on for so long has no end: the consumers below need a few ticks.
const FOR_EVER: u64 = 3_000_000;

/// Sends its ticks, and fails when the run does not end.
#[operator]
pub(crate) struct Endless {
    #[output]
    number: u64,
}

impl Compute for Endless {
    fn compute(&mut self, io: EndlessIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < FOR_EVER {
            // This tick makes no driver call. In an explored test of a release build, no other thread would get the turn until
            // the patience of turns is over, 10 s in each run.
            streamflow::testing::yield_now();
            return io.number.emit(cx.tick());
        }
        Err(Failure::msg("the run has no end"))
    }
}

/// Takes each number, and finishes or fails in its last tick.
#[operator]
struct Sink {
    #[input]
    number: &u64,
    last: u64,
    fails: bool,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        if cx.tick() + 1 < self.last {
            return Ok(());
        }
        cx.finish();
        if self.fails { Err(Failure::msg("the side has failed")) } else { Ok(()) }
    }
}

const NEVER: u64 = u64::MAX;

/// Defines a graph for each way to end, with one policy and one kind of source.
macro_rules! graphs {
    ($module:ident, [$($policy:tt)*], [$($when:tt)*], $most:expr) => {
        mod $module {
            use super::*;

            graph! {
                pub(super) struct Counted {
                    $($when)* let source: Endless = Endless::new();
                    #[when(count(5))] let sink: Sink = Sink::new(NEVER, false);
                    $($policy)* source.number >> sink.number;
                }
            }
            graph! {
                pub(super) struct Finished(fails: bool) {
                    $($when)* let source: Endless = Endless::new();
                    #[on_failure(skip)] let sink: Sink = Sink::new(5, fails);
                    $($policy)* source.number >> sink.number;
                }
            }
            graph! {
                pub(super) struct Credited(credits: AsyncHandle) {
                    $($when)* let source: Endless = Endless::new();
                    #[when(asynchronous(credits))] let sink: Sink = Sink::new(NEVER, false);
                    $($policy)* source.number >> sink.number;
                }
            }
            graph! {
                pub(super) struct Joined {
                    $($when)* let source: Endless = Endless::new();
                    #[when(count(5))] let other: Endless = Endless::new();
                    let sink: Join = Join::new();
                    $($policy)* source.number >> sink.a;
                    other.number >> sink.b;
                }
            }
            graph! {
                pub(super) struct Optional {
                    $($when)* let source: Endless = Endless::new();
                    #[when(count(5))] let other: Endless = Endless::new();
                    let sink: Overlay = Overlay::new(0);
                    $($policy)* source.number >> sink.o;
                    other.number >> sink.a;
                }
            }
            runs!(Counted, Finished, Credited, Joined, Optional);

            /// How many ticks the source does at most.
            const MOST: u64 = $most;

            /// Runs each graph, with the expected result and the text of its cause.
            pub(super) fn each() -> Result<(), Failed> {
                let sink = || End::Finished { nodes: vec!["sink".to_owned()] };
                let count = "`sink` is done: its `count` of 5 is reached";
                let other = "`other` is done: its `count` of 5 is reached";
                in_each_order(1, Counted::new, |_, done| ended(&done?, &End::SourcesDone, count, MOST))?;
                for fails in [false, true] {
                    let make = |platform: &Platform| Finished::new(platform, fails);
                    in_each_order(1, make, |_, done| ended(&done?, &sink(), "`sink` has finished", MOST))?;
                }
                for (closes, reason) in [(true, "closed"), (false, "dropped")] {
                    let make = |platform: &Platform| {
                        let credits = AsyncHandle::new();
                        let graph = Credited::new(platform, credits.clone())?;
                        (0..5).try_for_each(|_| credits.notify())?;
                        if closes {
                            credits.close();
                        }
                        Ok(graph)
                    };
                    in_each_order(1, make, |_, done| ended(&done?, &sink(), reason, MOST))?;
                }
                in_each_order(1, Joined::new, |_, done| ended(&done?, &End::SourcesDone, other, MOST))?;
                in_each_order(1, Optional::new, |graph, done| {
                    let report = done?;
                    let lost = sum(&dropped(&report, "source.number >> sink.o"));
                    check_equal(Some(graph.overlay_taken() + lost), report.ticks("source"))?;
                    left(&report, &End::SourcesDone, other, MOST)
                })
            }

            impl Optional {
                fn overlay_taken(&self) -> u64 {
                    self.sink().taken
                }
            }
        }
    };
}

graphs!(popped, [#[policy(pop)]], [], FOR_EVER);
graphs!(rejected, [#[policy(reject)]], [], FOR_EVER);
graphs!(popped_by_time, [#[policy(pop)]], [#[when(periodic(1ms))]], 7);
// A consumer that lacks other messages leaves those of the source.
graphs!(rejected_by_time, [#[policy(reject)] #[capacity(9)]], [#[when(periodic(Duration::from_secs(10)))]], 7);

fn each_end() -> Result<(), Failed> {
    popped::each()?;
    rejected::each()?;
    popped_by_time::each()?;
    rejected_by_time::each()
}

/// Checks that the run has ended in this way, after at most `most` ticks of the source, and that the report says why the
/// source was left.
fn left(report: &Report, end: &End, cause: &str, most: u64) -> Result<(), Failed> {
    check_equal(&report.end, end)?;
    check(report.ticks("source").is_some_and(|ticks| ticks <= most), || report.to_string())?;
    check_equal(report.ticks("sink"), Some(5))?;
    let [waited] = &*report.waited else { return Err(Failed::msg(report)) };
    check_text(waited, &["`source`, after ", "waits for a node that takes messages of", cause])?;
    check_text(&report.to_string(), &["as timing decided, these waited at the end:\n  `source`"])
}

/// Makes the checks of [`left`], and checks that each message of each edge from the source was received, dropped or left.
fn ended(report: &Report, end: &End, cause: &str, most: u64) -> Result<(), Failed> {
    left(report, end, cause, most)?;
    let of_source = |dropped: &&Dropped| dropped.edge.starts_with("source.number");
    let lost: u64 = report.dropped.iter().filter(of_source).map(|lost| lost.messages).sum();
    check_equal(report.ticks("source"), Some(5 + lost))
}

/// Checks that two runs under one seed have equal reports, including the number of ticks whose messages no node took.
fn repeated() -> Result<(), Failed> {
    for seed in 0..16 {
        for workers in 1..4 {
            let run = || {
                let mut last = None;
                let explored = Explorer::new().first_seed(seed).seeds(1).run(|platform| {
                    let mut graph = popped::Counted::new(platform)?;
                    last = Some(graph.workers(workers)?.run()?);
                    Ok(())
                });
                explored?.check()?;
                last.ok_or_else(|| Failed::msg("no run"))
            };
            check_equal(run()?, run()?)?;
        }
    }
    Ok(())
}

graph! {
    struct StillTakes {
        let source: Endless = Endless::new();
        let short: Sink = Sink::new(5, false);
        let long: Sink = Sink::new(200, false);
        #[policy(pop)] source.number >> short.number;
        #[policy(reject)] source.number >> long.number;
    }
}

/// `short` ends, but `long` still gets its messages. The run ends after that.
fn still_takes() -> Result<(), Failed> {
    in_each_order(1, StillTakes::new, |_, done| {
        let report = done?;
        let ticks = ["short", "long"].map(|node| report.ticks(node));
        check_equal(ticks, [Some(5), Some(200)])?;
        let lost = |edge| sum(&dropped(&report, edge));
        let sent = report.ticks("source").unwrap_or_default();
        check_equal(5 + lost("source.number >> short.number"), sent)?;
        check_equal(200 + lost("source.number >> long.number"), sent)?;
        check_text(&report.waited.join("\n"), &["`source`, after ", "`long` has finished"])
    })
}

graph! {
    struct WithEnd(count: u64) {
        #[when(count(count))] let source: Endless = Endless::new();
        let sink: Sink = Sink::new(2, false);
        let other: Sink = Sink::new(NEVER, false);
        #[policy(pop)] source.number >> sink.number;
        source.number >> other.number;
    }
}

/// If the source has an end, timing decides neither about its ticks nor about those of its other consumer.
fn with_end() -> Result<(), Failed> {
    for count in [1, 2, 3, 500] {
        in_each_order(
            1,
            |platform| WithEnd::new(platform, count),
            |_, done| {
                let report = done?;
                let ticks = ["source", "other"].map(|node| report.ticks(node));
                check_equal(ticks, [Some(count); 2])?;
                let taken = report.ticks("sink").unwrap_or_default();
                check_equal(taken + sum(&dropped(&report, "source.number >> sink.number")), count)?;
                check_equal(&report.waited[..], &[])
            },
        )?;
    }
    Ok(())
}

graph! {
    struct Far {
        let source: Endless = Endless::new();
        let pass: Pass = Pass::new();
        let far: Sink = Sink::new(7, false);
        let second: Endless = Endless::new();
        #[when(count(3))] let counted: Endless = Endless::new();
        let join: Join = Join::new();
        let last: Sink = Sink::new(NEVER, false);
        source.number >> pass.i;
        #[policy(pop)] pass.o >> far.number;
        #[policy(reject)] second.number >> join.a;
        counted.number >> join.b;
        counted.number >> last.number;
    }
}

/// Two sources never wait, one of them sending through another node. Each keeps a worker busy.
fn far() -> Result<(), Failed> {
    in_each_order(1, Far::new, |_, done| {
        let report = done?;
        check_equal(report.end.clone(), End::Finished { nodes: vec!["far".to_owned()] })?;
        let ticks = ["far", "counted", "join", "last"].map(|node| report.ticks(node));
        check_equal(ticks, [7, 3, 3, 3].map(Some))?;
        let lost = |edge| sum(&dropped(&report, edge));
        let passed = report.ticks("pass").unwrap_or_default();
        check_equal(7 + lost("pass.o >> far.number"), passed)?;
        let sent = report.ticks("source").unwrap_or_default();
        check_equal(passed + lost("source.number >> pass.i"), sent)?;
        let second = report.ticks("second").unwrap_or_default();
        check_equal(3 + lost("second.number >> join.a"), second)?;
        let waited = report.waited.join("\n");
        check_text(&waited, &["`source`, after", "`second`, after", "`far` has finished"])
    })
}

/// A number of ticks that no order of threads needs in the runs below.
const TOO_MANY: u64 = 100_000;

/// As [`Endless`], and fails when it has run for too long in place of others.
#[operator]
struct Eager {
    #[output]
    number: u64,
}

impl Compute for Eager {
    fn compute(&mut self, io: EagerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < TOO_MANY {
            return io.number.emit(cx.tick());
        }
        Err(Failure::msg("the source runs in place of the others"))
    }
}

/// Sends each number on, after others had time.
#[operator]
struct PassLater {
    #[input]
    i: &u64,
    #[output]
    o: u64,
}

impl Compute for PassLater {
    fn compute(&mut self, io: PassLaterIo<'_>, _: &ExecutionContext) -> Result<()> {
        let i = *io.i.receive().into_data();
        (0..3).for_each(|_| yield_now());
        io.o.emit(i)
    }
}

graph! {
    struct InTurn {
        let source: Eager = Eager::new();
        let pass: PassLater = PassLater::new();
        let far: Sink = Sink::new(10, false);
        let short: Sink = Sink::new(3, false);
        #[policy(reject)] #[capacity(3)] source.number >> pass.i;
        pass.o >> far.number;
        #[policy(pop)] source.number >> short.number;
    }
}

/// Sends the numbers of `b`, each with one of `a`.
#[operator]
struct Pair {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    #[output]
    o: u64,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        let b = *io.b.receive().into_data();
        io.o.emit(b)
    }
}

graph! {
    struct Paired {
        let source: Eager = Eager::new();
        #[when(count(2))] let counted: Endless = Endless::new();
        let pair: Pair = Pair::new();
        let last: Sink = Sink::new(NEVER, false);
        #[policy(reject)] source.number >> pair.a;
        counted.number >> pair.b;
        pair.o >> last.number;
    }
}

/// In some orders a worker holds `pair`, which lacks messages of `counted`, each time that the scheduler checks whether
/// the run is over.
fn held() -> Result<(), Failed> {
    let seeds = Tier::from_env()?.cases(64);
    for workers in 2..5 {
        let explored = Explorer::new().seeds(seeds).run(|platform| {
            let report = Paired::new(platform)?.workers(workers)?.run()?;
            let ticks = ["counted", "pair", "last"].map(|node| report.ticks(node));
            check_equal(ticks, [Some(2); 3])
        });
        explored?.check()?;
    }
    Ok(())
}

/// In some orders a worker reaches `pass` only while `source` stands still because the scheduler checks whether the run
/// is over.
fn in_turn() -> Result<(), Failed> {
    let seeds = Tier::from_env()?.cases(64);
    for workers in 2..5 {
        let explored = Explorer::new().seeds(seeds).run(|platform| {
            let report = InTurn::new(platform)?.workers(workers)?.run()?;
            let ticks = ["far", "short"].map(|node| report.ticks(node));
            check_equal(ticks, [Some(10), Some(3)])
        });
        explored?.check()?;
    }
    Ok(())
}

/// Sends each number to a thread. The thread gives a credit for each.
#[operator]
struct ToThread {
    #[input]
    number: &u64,
    thread: std::sync::mpsc::Sender<u64>,
}

impl Compute for ToThread {
    fn compute(&mut self, io: ToThreadIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = *io.number.receive().into_data();
        Ok(self.thread.send(number)?)
    }
}

graph! {
    struct BesideThread(ready: AsyncHandle, thread: std::sync::mpsc::Sender<u64>) {
        let source: Endless = Endless::new();
        #[when(asynchronous(ready))] let sink: ToThread = ToThread::new(thread);
        #[policy(pop)] source.number >> sink.number;
    }
}

/// A thread receives four numbers, and then closes or drops its handle.
fn beside_a_thread() -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2), Workers::new(4)] {
        for closes in [true, false] {
            let platform = Platform::host().clock(&Clock::simulated()).build()?;
            let (sender, numbers) = std::sync::mpsc::channel();
            let ready = AsyncHandle::new();
            let mut graph = BesideThread::new(&platform, ready.clone(), sender)?;
            let thread = std::thread::spawn(move || {
                let taken = (0..4).map(|_| {
                    ready.notify()?;
                    Ok(numbers.recv()?)
                });
                let taken: Result<Vec<u64>> = taken.collect();
                if closes {
                    ready.close();
                }
                taken
            });
            let report = graph.workers(workers.clone())?.run()?;
            let taken = thread.join().map_err(|_| Failed::msg("the thread has panicked"))??;
            check(taken.is_sorted() && taken.len() == 4, || format!("{taken:?}"))?;
            check_equal(report.ticks("sink"), Some(4))?;
            let lost = dropped(&report, "source.number >> sink.number");
            check_equal(report.ticks("source"), Some(4 + sum(&lost)))?;
            check(lost.iter().any(|(reason, _)| *reason == DropReason::RunEnded), || {
                report.to_string()
            })?;
        }
    }
    Ok(())
}

runs!(StillTakes, WithEnd, Far);
