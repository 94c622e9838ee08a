//! The messages of each edge in the report: sent = received + dropped + left, however a run ends. Operators count, too, and the
//! report must agree.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use streamflow::message::Policy;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, EdgeReport, End, Report, Stepped, Workers};
use streamflow::testing::Explorer;
use streamflow::time::Clock;
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_report_counts_the_messages_of_each_edge", figures)
        .plain("each_sent_message_is_received_dropped_or_left_at_each_end::host", ends)
        .both("a_report_so_far_accounts_for_each_message", so_far)
        .both("messages_that_a_failed_tick_has_not_taken_are_counted", failed)
        .both("the_report_of_a_run_that_did_not_start_has_no_figures_of_the_last_one", not_started)
}

/// How many messages operators have sent at each output and received at each input.
#[derive(Clone, Default)]
struct Tally(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Tally {
    fn add(&self, port: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(port).or_default() += 1;
    }

    fn of(&self, port: &str) -> u64 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(port).copied().unwrap_or_default()
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// How the source ends the run, in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Finish,
    StopGraph,
    Fail,
    Panic,
    /// The run goes on, and each tick takes a millisecond.
    TakesTime,
    /// The run goes on.
    Goes,
}

const LAST: u64 = 17;

#[operator]
struct Source {
    #[output]
    n: u64,
    tally: Tally,
    how: How,
}

impl Compute for Source {
    #[allow(clippy::panic, reason = "a run that ends by a panic")]
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // A tick that fails sends nothing.
        io.n.emit(cx.tick())?;
        if self.how == How::TakesTime {
            cx.sleep(Duration::from_millis(1));
        }
        if cx.tick() == LAST {
            match self.how {
                How::Finish => cx.finish(),
                How::StopGraph => cx.stop_graph(),
                How::Fail => return Err(Failure::msg("as asked")),
                How::Panic => std::panic::panic_any("as asked"),
                How::TakesTime | How::Goes => {}
            }
        }
        self.tally.add("source.n");
        Ok(())
    }
}

/// Sends each second message on.
#[operator]
struct Thin {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    tally: Tally,
}

impl Compute for Thin {
    fn compute(&mut self, io: ThinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let n = io.n.receive().into_data();
        self.tally.add("thin.n");
        if cx.tick().is_multiple_of(2) {
            return Ok(());
        }
        self.tally.add("thin.out");
        io.out.emit(*n)
    }
}

/// Takes a message in each tick, or leaves it for one tick before.
#[operator]
struct Slow {
    #[input]
    n: &u64,
    leaves: bool,
    port: &'static str,
    tally: Tally,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.leaves && cx.tick().is_multiple_of(2) {
            io.n.leave();
        } else {
            io.n.discard();
            self.tally.add(self.port);
        }
        Ok(())
    }
}

#[operator]
struct Pairs {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    tally: Tally,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        self.tally.add("pairs.a");
        self.tally.add("pairs.b");
        if a == b { Ok(()) } else { Err(Failure::msg("messages without a partner")) }
    }
}

/// Adds each message to what it sent before.
#[operator]
struct Sum {
    #[input]
    n: &u64,
    #[input]
    before: &u64,
    #[output]
    sum: u64,
    tally: Tally,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        let sum = io.n.receive().into_data() + io.before.receive().into_data();
        ["sum.n", "sum.before", "sum.sum"].into_iter().for_each(|port| self.tally.add(port));
        io.sum.emit(sum)
    }
}

/// Takes batches from one edge of two, and holds all messages back until it is flushed.
#[operator(flush)]
struct Merge {
    #[input(many)]
    all: &u64,
    #[output]
    n: u64,
    held: u64,
    tally: Tally,
}

impl Compute for Merge {
    fn compute(&mut self, io: MergeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.all.receive().into_data().for_each(|_| self.tally.add("merge.all"));
        self.held += 1;
        Ok(())
    }
}

impl Flush for Merge {
    fn flush(&mut self, io: MergeFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.all.receive().into_data().for_each(|_: &u64| self.tally.add("merge.all"));
        if self.held == 0 {
            return Ok(Flushed::Done);
        }
        self.held -= 1;
        self.tally.add("merge.n");
        io.n.emit(self.held)?;
        Ok(Flushed::More)
    }
}

graph! {
    struct Everything(tally: Tally, how: How) {
        let source: Source = Source::new(tally.clone(), how);
        let thin: Thin = Thin::new(tally.clone());
        #[when(same_sequence)] let pairs: Pairs = Pairs::new(tally.clone());
        let popped: Slow = Slow::new(true, "popped.n", tally.clone());
        let rejected: Slow = Slow::new(true, "rejected.n", tally.clone());
        #[when(count(4))] let ended: Slow = Slow::new(true, "ended.n", tally.clone());
        let sum: Sum = Sum::new(tally.clone());
        let merge: Merge = Merge::new(0, tally.clone());
        let large: Slow = Slow::new(false, "large.n", tally.clone());
        #[capacity(3)] source.n >> pairs.a;
        source.n >> thin.n;
        thin.out >> pairs.b;
        #[policy(pop)] source.n >> popped.n;
        #[policy(reject)] source.n >> rejected.n;
        #[policy(pop)] source.n >> ended.n;
        #[capacity(2)] source.n >> sum.n;
        #[feedback(initial = 0)] sum.sum >> sum.before;
        #[capacity(100)] #[policy(reject)] sum.sum >> merge.all;
        #[capacity(2)] thin.out >> merge.all;
        #[capacity(100)] merge.n >> large.n;
    }
}

/// Each edge has all its messages, and as many as the operators have counted. Feedback edges began with one.
fn judge(report: &Report, tally: &Tally) -> Result<(), Failed> {
    let wrong = |edge: &EdgeReport, why: &str| format!("{why}: {edge:?}\n{report}");
    let mut received: BTreeMap<&str, u64> = BTreeMap::new();
    for edge in &report.edges {
        let EdgeReport { sent, dropped, left, .. } = *edge;
        let whole = edge.received + dropped + left;
        check(sent == whole, || wrong(edge, "a message is not accounted for"))?;
        let ports = edge.edge.split_once(" >> ");
        let (output, input) = ports.ok_or_else(|| Failed::msg("an edge has no name"))?;
        let begins = u64::from(input == "sum.before");
        check(sent == tally.of(output) + begins, || wrong(edge, "the producer counts others"))?;
        *received.entry(input).or_default() += edge.received;
        let reasons = report.dropped.iter().filter(|of| of.edge == edge.edge);
        let (at_end, others): (Vec<_>, _) =
            reasons.partition(|of| of.reason == DropReason::RunEnded);
        let sum = |of: Vec<&streamflow::schedule::Dropped>| of.iter().map(|of| of.messages).sum();
        let kept = if begins > 0 { left } else { 0 };
        check((dropped, left - kept) == (sum(others), sum(at_end)), || {
            wrong(edge, "the reasons are others")
        })?;
    }
    for (input, received) in received {
        check(received == tally.of(input), || {
            format!("{input}: {received} messages, and its operator counts {}", tally.of(input))
        })?;
    }
    check_equal(report.edges.len(), 11)
}

/// The way in which a run is ended from outside.
#[derive(Debug, Clone, Copy)]
enum Outside {
    Nothing,
    Ticks,
    Time,
    Handle,
    EndRun,
}

fn run(mut graph: Everything, outside: Outside) -> Result<Report> {
    match outside {
        Outside::Ticks => return Ok(graph.run_for(9)?),
        Outside::Time => return Ok(graph.run_for(Duration::from_millis(9))?),
        Outside::EndRun => {
            for _ in 0..7 {
                check_equal(graph.tick()? == Stepped::Over, false)?;
            }
            return Ok(graph.end_run()?);
        }
        Outside::Nothing | Outside::Handle => {}
    }
    let running = graph.spawn()?;
    let handle = running.handle();
    if matches!(outside, Outside::Handle) {
        // Somewhere in the run.
        running.report()?;
        handle.stop();
    }
    let done = running.join();
    let report = handle.report()?;
    check_equal(matches!(report.end, End::Failed { .. }), done.is_err())?;
    Ok(report)
}

fn ends() -> Result<(), Failed> {
    let cases = [
        (How::Finish, Outside::Nothing),
        (How::StopGraph, Outside::Nothing),
        (How::Fail, Outside::Nothing),
        (How::Panic, Outside::Nothing),
        (How::Goes, Outside::Ticks),
        (How::TakesTime, Outside::Time),
        (How::Goes, Outside::Handle),
        (How::Goes, Outside::EndRun),
    ];
    for (how, outside) in cases {
        let once = |platform: &Platform, workers: Workers| -> Result<()> {
            let tally = Tally::default();
            let mut graph = Everything::new(platform, tally.clone(), how)?;
            graph.workers(workers)?;
            let report = run(graph, outside)?;
            let judged = judge(&report, &tally);
            judged.map_err(|wrong| Failure::msg(format!("{how:?}, {outside:?}: {wrong}")))
        };
        for workers in [Workers::none(), Workers::new(2), Workers::new(4)] {
            once(&Platform::host().clock(&Clock::simulated()).build()?, workers)?;
        }
        let found = Explorer::new().seeds(8).run(|platform| once(platform, Workers::new(2)))?;
        found.check()?;
    }
    Ok(())
}

/// The figures of one run, and of the next one on the same graph.
fn figures(platform: &Platform) -> Result<(), Failed> {
    let tally = Tally::default();
    let mut graph = greedy(Everything::new(platform, tally.clone(), How::Finish)?)?;
    for _ in 0..2 {
        tally.clear();
        let report = graph.run()?;
        judge(&report, &tally)?;
        let of = |edge: &str| {
            let EdgeReport { sent, received, dropped, left, .. } = *report.edge(edge)?;
            Some([sent, received, dropped, left])
        };
        let sent = LAST + 1;
        // Each second message has a partner.
        check_equal(of("source.n >> pairs.a"), Some([sent, sent / 2, sent / 2, 0]))?;
        check_equal(of("thin.out >> pairs.b"), Some([sent / 2, sent / 2, 0, 0]))?;
        check_equal(of("sum.sum >> sum.before"), Some([sent + 1, sent, 0, 1]))?;
        // The consumer has done its count of ticks, and took two messages.
        check_equal(of("source.n >> ended.n"), Some([sent, 2, sent - 3, 1]))?;
        check_equal(of("source.n >> absent.n"), None)?;
        let policy = DropReason::Policy(Policy::Pop);
        let popped = report.dropped.iter().find(|of| of.edge == "source.n >> ended.n");
        check_equal(popped.map(|of| (of.messages, of.reason)), Some((sent - 3, policy)))?;
        let text = report.to_string();
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        check(lines.contains(&"edge dropped of sent because".to_owned()), || text.clone())?;
        let line =
            format!("source.n >> pairs.a {} {sent} `same_sequence`: without a partner", sent / 2);
        check(lines.contains(&line), || text.clone())?;
    }
    Ok(())
}

/// While the nodes run on other threads.
fn so_far(platform: &Platform) -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let tally = Tally::default();
        let mut graph = Everything::new(platform, tally.clone(), How::Goes)?;
        graph.workers(workers)?;
        let running = graph.spawn()?;
        for _ in 0..20 {
            let report = running.report()?;
            check_equal(&report.end, &End::NotYet)?;
            let whole = |edge: &&EdgeReport| edge.sent == edge.received + edge.dropped + edge.left;
            let wrong = report.edges.iter().find(|edge| !whole(edge));
            check(wrong.is_none(), || format!("{wrong:?}\n{report}"))?;
        }
        running.stop();
        judge(&running.join()?, &tally)?;
    }
    Ok(())
}

/// Fails in its second tick, before or after it has received `a`.
#[operator]
struct Fails {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    before: bool,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.before && cx.tick() == 1 {
            return Err(Failure::msg("before it has received"));
        }
        io.a.receive().into_data();
        if cx.tick() == 1 {
            return Err(Failure::msg("after it has received"));
        }
        io.b.receive().into_data();
        Ok(())
    }
}

graph! {
    struct Failing(before: bool) {
        #[when(count(3))] let a: Counter = Counter::new();
        #[when(count(3))] let b: Counter = Counter::new();
        #[on_failure(skip)] let skips: Fails = Fails::new(before);
        #[on_failure(restart(1, 1ms))] let restarts: Fails = Fails::new(before);
        a.number >> skips.a;
        b.number >> skips.b;
        a.number >> restarts.a;
        b.number >> restarts.b;
    }
}

fn failed(platform: &Platform) -> Result<(), Failed> {
    for before in [false, true] {
        let report = Failing::new(platform, before)?.run()?;
        let of = |edge: &str| {
            let EdgeReport { sent, received, dropped, left, .. } = *report.edge(edge)?;
            Some([sent, received, dropped, left])
        };
        let lost = |edge: &str| {
            let of = report.dropped.iter().filter(|of| of.edge == edge);
            of.map(|of| (of.messages, of.reason)).collect::<Vec<_>>()
        };
        let [all, two] = [Some([3, 3, 0, 0]), Some([3, 2, 1, 0])];
        let dropped = |is| if is { vec![(1, DropReason::TickFailed)] } else { Vec::new() };
        let edges = [
            ("a.number >> skips.a", before),
            ("b.number >> skips.b", true),
            ("a.number >> restarts.a", false),
            // A restart before it has received anything keeps the messages.
            ("b.number >> restarts.b", !before),
        ];
        for (edge, loses) in edges {
            check_equal((edge, of(edge)), (edge, if loses { two } else { all }))?;
            check_equal((edge, lost(edge)), (edge, dropped(loses)))?;
        }
        check_text(&report.to_string(), &["3  a tick of the consumer failed before it took them"])?;
    }
    Ok(())
}

/// Does not start a second time.
#[operator]
struct StartsOnce {
    #[output]
    number: u64,
    has_started: bool,
}

impl Compute for StartsOnce {
    fn start(&mut self, _: StartsOnceStreams<'_>, _: &ExecutionContext) -> Result<()> {
        if std::mem::replace(&mut self.has_started, true) {
            return Err(Failure::msg("no second time"));
        }
        Ok(())
    }

    fn compute(&mut self, io: StartsOnceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Starts(tally: Tally) {
        #[when(count(5))] let once: StartsOnce = StartsOnce::new(false);
        let slow: Slow = Slow::new(true, "slow.n", tally);
        #[policy(pop)] once.number >> slow.n;
    }
}

fn not_started(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Starts::new(platform, Tally::default())?;
    let first = graph.run()?;
    check_equal(first.edges.iter().map(|edge| edge.sent).sum::<u64>(), 5)?;
    let running = graph.spawn()?;
    let handle = running.handle();
    check(running.join().is_err(), || "it has started again".to_owned())?;
    let report = handle.report()?;
    check_text(&report.to_string(), &["no second time"])?;
    let figures: Vec<_> = report.edges.iter().map(|of| (of.sent, of.received, of.left)).collect();
    check_equal(figures, vec![(0, 0, 0)])?;
    check_equal((report.ticks("once"), report.ticks("slow")), (Some(0), Some(0)))?;
    check_equal(report.dropped.len(), 0)
}
