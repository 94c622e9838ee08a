//! The messages of each edge in the report, however a run ends: sent = received + dropped + left. Operators count
//! their messages, too, and the report must agree.

use std::collections::BTreeMap;
use std::time::Duration;

use streamflow::message::QueuePolicy;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, EdgeReport, End, Report, Stepped, Workers};
use streamflow::testing::Explorer;
use streamflow::time::Clock;
use streamflow_tests::greedy::greedy;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::counting::{How, LAST, Merge, Pairs, Slow, Source, Sum, Tally, Thin};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_report_counts_the_messages_of_each_edge", figures)
        .plain("each_sent_message_is_received_dropped_or_left_at_each_end::host", ends)
        .both("a_report_so_far_accounts_for_each_message", so_far)
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

/// Checks that the counts of each edge add up, and that they equal what the operators have counted. A feedback
/// edge begins with one message.
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

/// How a test ends a run from outside of its graph.
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
        // The report is made at some moment of the run.
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

/// Checks the counts of one run, and of the next run of the same graph.
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
        // Every second message of this edge has a partner, and the others are dropped.
        check_equal(of("source.n >> pairs.a"), Some([sent, sent / 2, sent / 2, 0]))?;
        check_equal(of("thin.out >> pairs.b"), Some([sent / 2, sent / 2, 0, 0]))?;
        check_equal(of("sum.sum >> sum.before"), Some([sent + 1, sent, 0, 1]))?;
        // The consumer was limited to two ticks, and received two messages.
        check_equal(of("source.n >> ended.n"), Some([sent, 2, sent - 3, 1]))?;
        check_equal(of("source.n >> absent.n"), None)?;
        let policy = DropReason::Policy(QueuePolicy::Pop);
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

/// Checks the counts in a report that is made while the nodes run on other threads.
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
