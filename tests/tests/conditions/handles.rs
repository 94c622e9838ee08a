//! The conditions `boolean` and `asynchronous`: their handles, clones of the handles, and how they end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use streamflow::operator::{AsyncHandle, BooleanHandle};
use streamflow::prelude::*;
use streamflow::schedule::End;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, take};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

use super::operators::{Gather, Sink, Source, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_node_that_is_off_waits_and_is_not_done", off_waits)
        .seeded("one_handle_switches_several_nodes", shared_switch)
        .both("a_source_whose_handle_was_dropped_while_it_is_off_ends", dropped_off)
        .both("messages_in_front_of_a_node_without_handles_stall_the_run", abandoned)
        .both("a_handle_that_is_on_may_be_dropped", dropped_on)
        .both("each_notice_permits_one_tick", notices)
        .both("notices_wait_for_the_messages_of_their_node", notices_and_messages)
        .both("each_notice_of_two_nodes_is_for_one_of_them", shared_notices)
        .both("each_notice_of_two_graphs_is_for_one_of_them", two_graphs)
        .both("a_notice_beside_a_reason_of_its_own_is_used_up", any_notice)
        .both("what_waits_for_a_closed_node_is_dropped", closed_consumer)
        .seeded("a_count_among_several_conditions_ends_nothing", count_in_any)
        .both("a_node_that_lacks_messages_does_not_wait_for_its_handle", lacks_messages)
        .both("a_handle_of_a_graph_that_was_dropped_is_an_error", dropped_graph)
}

graph! {
    struct Switched(records: BooleanHandle) {
        #[when(count(3), boolean(records))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

fn off_waits(platform: &Platform) -> Result<(), Failed> {
    let records = BooleanHandle::new(false);
    let mut graph = Switched::new(platform, records.clone())?;
    let report = thread::scope(|scope| {
        let button = scope.spawn(|| records.set(true));
        let report = graph.run();
        button.join().map_err(|_| Failure::msg("the thread panicked"))??;
        report
    })?;
    check_equal((report.ticks("source"), records.get()), (Some(3), true))?;
    check_equal(report.end, End::SourcesDone)
}

/// An operator that sets a handle to true in its last tick.
#[operator]
struct Switch {
    #[output]
    number: u64,
    handle: BooleanHandle,
}

impl Compute for Switch {
    fn compute(&mut self, io: SwitchIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 3 {
            self.handle.set(true)?;
        }
        io.number.emit(cx.tick())
    }
}

graph! {
    struct SharedSwitch(handle: BooleanHandle, one: Seen<(u64, u64)>, other: Seen<(u64, u64)>) {
        #[when(count(4), periodic(10ms))]
        let switch: Switch = Switch::new(handle.clone());
        #[when(boolean(handle))]
        let one: Sink = Sink::new(one);
        #[when(boolean(&handle))]
        let other: Sink = Sink::new(other);
        #[capacity(4)]
        switch.number >> (one.number, other.number);
    }
}

fn shared_switch(seed: u64) -> Result<(), Failed> {
    for (is_on, expected) in [
        (false, vec![(30, 0), (30, 1), (30, 2), (30, 3)]),
        (true, vec![(0, 0), (10, 1), (20, 2), (30, 3)]),
    ] {
        let (one, other) = (Seen::default(), Seen::default());
        let handle = BooleanHandle::new(is_on);
        SharedSwitch::new(&simulated(seed)?.0, handle, one.clone(), other.clone())?.run()?;
        check_equal((all(&one), all(&other)), (expected.clone(), expected))?;
    }
    Ok(())
}

fn dropped_off(platform: &Platform) -> Result<(), Failed> {
    let report = Switched::new(platform, BooleanHandle::new(false))?.run()?;
    check_equal(report.ticks("source"), Some(0))?;
    check_equal(report.end, End::Finished { nodes: vec!["source".into()] })?;
    let triggered = Triggered::new(platform, AsyncHandle::new())?.run()?;
    check_equal(triggered.ticks("source"), Some(0))
}

graph! {
    struct Abandoned(handle: BooleanHandle, seen: Seen<(u64, u64)>, ticks: u64) {
        #[when(count(ticks))]
        let source: Counter = Counter::new();
        #[when(boolean(handle))]
        let sink: Sink = Sink::new(seen);
        source.number >> sink.number;
    }
}

fn abandoned(platform: &Platform) -> Result<(), Failed> {
    for ticks in [1, 9] {
        let seen = Seen::default();
        let graph = Abandoned::new(platform, BooleanHandle::new(false), seen.clone(), ticks);
        let text = stalled(graph?.run())?;
        let chain = "`sink` has the message of `source.number >> sink.number`, but is done: its condition \
                     `boolean(handle)` can't hold again, since all its handles were dropped";
        check_text(&text, &[chain])?;
        check_equal(all(&seen), Vec::new())?;
    }
    Ok(())
}

fn dropped_on(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Abandoned::new(platform, BooleanHandle::new(true), seen.clone(), 9)?.run()?;
    check_equal(all(&seen).len(), 9)
}

graph! {
    struct Triggered(trigger: AsyncHandle) {
        #[when(asynchronous(trigger))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

fn notices(platform: &Platform) -> Result<(), Failed> {
    let trigger = AsyncHandle::new();
    trigger.notify()?;
    let mut graph = Triggered::new(platform, trigger.clone())?;
    trigger.notify()?;
    let report = thread::scope(|scope| {
        let threads = (0..4).map(|_| {
            let trigger = trigger.clone();
            scope.spawn(move || (0..250).try_for_each(|_| trigger.notify()))
        });
        let threads: Vec<_> = threads.collect();
        let trigger = trigger.clone();
        scope.spawn(move || {
            for thread in threads {
                let _notified = thread.join();
            }
            trigger.close();
        });
        graph.run()
    })?;
    check_equal(report.ticks("source"), Some(1002))?;
    check_equal(report.end, End::Finished { nodes: vec!["source".into()] })?;
    // A closed handle gives no further permission.
    let text =
        check_error("notify", trigger.notify(), |error| matches!(error, Error::Handle { .. }))?;
    check_text(&text, &["`AsyncHandle`", "it was closed", "make a new handle"])?;
    check_equal(graph.run()?.ticks("source"), Some(0))
}

graph! {
    struct Gated(trigger: AsyncHandle, seen: Seen<(u64, u64)>) {
        #[when(count(2), periodic(10ms))]
        let source: Source = Source::new(Seen::default(), Vec::new());
        #[when(asynchronous(trigger))]
        let sink: Sink = Sink::new(seen);
        source.number >> sink.number;
    }
}

/// Checks five notices that come before a run. The run uses two, and leaves three for the next run, which needs
/// only two.
fn notices_and_messages(platform: &Platform) -> Result<(), Failed> {
    let (trigger, seen) = (AsyncHandle::new(), Seen::default());
    let mut graph = Gated::new(platform, trigger.clone(), seen.clone())?;
    (0..5).try_for_each(|_| trigger.notify())?;
    for _ in 0..2 {
        graph.run()?;
        check_equal(take(&seen).iter().map(|(_, number)| *number).collect(), vec![0, 1])?;
    }
    // One notice is left. When it is used, the node waits for another one that can't come, and the run stalls.
    drop(trigger);
    let text = stalled(graph.run())?;
    check_equal(take(&seen).len(), 1)?;
    check_text(&text, &["`asynchronous(trigger)`", "all its handles were dropped"])
}

graph! {
    struct TwoTriggered(trigger: AsyncHandle) {
        #[when(asynchronous(trigger))]
        let one: Counter = Counter::new();
        #[when(asynchronous(trigger))]
        let other: Counter = Counter::new();
        one.number >> _;
        other.number >> _;
    }
}

fn shared_notices(platform: &Platform) -> Result<(), Failed> {
    let trigger = AsyncHandle::new();
    let mut graph = TwoTriggered::new(platform, trigger.clone())?;
    (0..7).try_for_each(|_| trigger.notify())?;
    trigger.close();
    let report = graph.run()?;
    let [one, other] = ["one", "other"].map(|node| report.ticks(node).unwrap_or(0));
    check(one + other == 7, || format!("{one} and {other} ticks"))
}

fn two_graphs(platform: &Platform) -> Result<(), Failed> {
    let trigger = AsyncHandle::new();
    let ran = AtomicU64::new(0);
    let run = |graph: &mut TwoTriggered| {
        let report = graph.run()?;
        let ticks = ["one", "other"].iter().filter_map(|node| report.ticks(node)).sum();
        ran.fetch_add(ticks, Ordering::Relaxed);
        Ok::<(), Error>(())
    };
    let run = &run;
    let mut graphs = [
        TwoTriggered::new(platform, trigger.clone())?,
        TwoTriggered::new(platform, trigger.clone())?,
    ];
    thread::scope(|scope| {
        let threads: Vec<_> =
            graphs.iter_mut().map(|graph| scope.spawn(move || run(graph))).collect();
        (0..500).try_for_each(|_| trigger.notify())?;
        trigger.close();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(Error::Other(Failure::msg("the thread panicked"))))
        };
        threads.into_iter().try_for_each(join)
    })?;
    check_equal(ran.load(Ordering::Relaxed), 500)
}

graph! {
    struct AnyNotice(trigger: AsyncHandle, seen: Seen<(u64, Option<u64>, Option<u64>)>) {
        #[when(count(2))]
        let source: Counter = Counter::new();
        #[when(any(asynchronous(trigger), message_available(a, 1)))]
        let gather: Gather = Gather::new(seen);
        source.number >> gather.a;
    }
}

/// Checks three notices: two of them are used in ticks with a message, and one in a tick without.
fn any_notice(platform: &Platform) -> Result<(), Failed> {
    let (trigger, seen) = (AsyncHandle::new(), Seen::default());
    let mut graph = AnyNotice::new(platform, trigger.clone(), seen.clone())?;
    (0..3).try_for_each(|_| trigger.notify())?;
    trigger.close();
    graph.run()?;
    // With workers, a notice may be used before a message arrives.
    let numbers: Vec<_> = take(&seen).iter().map(|(_, a, _)| *a).collect();
    let received: Vec<_> = numbers.iter().copied().flatten().collect();
    let is_right = received == [0, 1] && (3..=5).contains(&numbers.len());
    check(is_right, || format!("{numbers:?}"))?;
    let trigger = AsyncHandle::new();
    let mut graph = greedy(AnyNotice::new(platform, trigger.clone(), seen.clone())?)?;
    (0..3).try_for_each(|_| trigger.notify())?;
    trigger.close();
    graph.run()?;
    let numbers: Vec<_> = take(&seen).iter().map(|(_, a, _)| *a).collect();
    check_equal(numbers, vec![Some(0), Some(1), None])
}

graph! {
    struct Closed(trigger: AsyncHandle, seen: Seen<(u64, u64)>, ticks: u64) {
        #[when(count(ticks))]
        let source: Counter = Counter::new();
        #[when(asynchronous(trigger))]
        let sink: Sink = Sink::new(seen);
        source.number >> sink.number;
    }
}

/// Checks that messages which are left when a handle closes are dropped, as after `finish`.
fn closed_consumer(platform: &Platform) -> Result<(), Failed> {
    for ticks in [3, 9] {
        let (trigger, seen) = (AsyncHandle::new(), Seen::default());
        let mut graph = Closed::new(platform, trigger.clone(), seen.clone(), ticks)?;
        (0..2).try_for_each(|_| trigger.notify())?;
        trigger.close();
        let report = graph.run()?;
        check_equal(all(&seen).len(), 2)?;
        check_equal(report.end, End::Finished { nodes: vec!["sink".into()] })?;
        check_equal(report.dropped.iter().map(|dropped| dropped.messages).sum(), 1)?;
    }
    Ok(())
}

fn dropped_graph(platform: &Platform) -> Result<(), Failed> {
    let (records, trigger) = (BooleanHandle::new(false), AsyncHandle::new());
    // Both handles are used before a graph is made of them.
    records.set(true)?;
    trigger.notify()?;
    let switched = Switched::new(platform, records.clone())?;
    let triggered = Triggered::new(platform, trigger.clone())?;
    records.set(false)?;
    drop((switched, triggered));
    let is_handle = |error: &Error| matches!(error, Error::Handle { .. });
    let text = check_error("set", records.set(true), is_handle)?;
    check_text(&text, &["`BooleanHandle`", "its graph was dropped", "make the next graph before"])?;
    check(!records.get(), || "the handle was set".into())?;
    let text = check_error("notify", trigger.notify(), is_handle)?;
    check_text(&text, &["`AsyncHandle`", "its graph was dropped"])?;
    // The next graph of the same handles sees the value, and the notice that was left.
    let mut graph = Triggered::new(platform, trigger.clone())?;
    trigger.close();
    check_equal(graph.run()?.ticks("source"), Some(1))?;
    let mut graph = Switched::new(platform, records.clone())?;
    records.set(true)?;
    check_equal(graph.run()?.ticks("source"), Some(3))?;
    Ok(())
}

graph! {
    struct CountInAny(began: Seen<u64>, ticks: u64, handle: BooleanHandle) {
        #[when(count(4), any(count(ticks), periodic(10ms)))]
        let source: Source = Source::new(began, Vec::new());
        #[when(any(count(ticks), boolean(handle)))]
        let other: Counter = Counter::new();
        source.number >> _;
        other.number >> _;
    }
}

/// Checks a `count` in `any`: after the count is reached, the other condition decides alone. The node ends when
/// none of its conditions can hold again.
fn count_in_any(seed: u64) -> Result<(), Failed> {
    for (ticks, expected) in [(1, vec![0, 10, 20, 30]), (3, vec![0, 0, 0, 10]), (9, vec![0; 4])] {
        let began = Seen::default();
        let handle = BooleanHandle::new(false);
        let mut graph = CountInAny::new(&simulated(seed)?.0, began.clone(), ticks, handle)?;
        let report = graph.run()?;
        check_equal(all(&began), expected)?;
        check_equal(report.ticks("other"), Some(ticks))?;
        check_equal(report.end, End::Finished { nodes: vec!["other".into()] })?;
    }
    Ok(())
}

graph! {
    struct Lacks(handle: BooleanHandle, seen: Seen<(u64, u64)>) {
        #[when(count(2))]
        let source: Counter = Counter::new();
        #[when(boolean(handle), message_available(number, 3))]
        let sink: Sink = Sink::new(seen);
        #[capacity(3)]
        source.number >> sink.number;
    }
}

/// Checks that a run stalls for lack of messages although a handle is alive, since the handle could not change
/// that.
fn lacks_messages(platform: &Platform) -> Result<(), Failed> {
    let handle = BooleanHandle::new(false);
    let mut graph = Lacks::new(platform, handle.clone(), Seen::default())?;
    for is_on in [false, true] {
        handle.set(is_on)?;
        let text = stalled(graph.run())?;
        check_text(&text, &["2 of 3 messages", "condition `message_available(number, 3)`"])?;
    }
    Ok(())
}
