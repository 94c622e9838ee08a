//! The conditions `message_available`, `multi_message`, `room` and `host_done`, checked by the messages that
//! consumers receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamflow::prelude::*;
use streamflow::schedule::DropReason;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::layers::Blind;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, stalled};

use super::operators::{Gather, Sink, Source, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_node_runs_when_so_many_messages_wait", available)
        .seeded("messages_of_two_inputs_are_counted_together", sum)
        .seeded("messages_of_two_inputs_are_counted_each", each)
        .seeded("a_node_that_needs_more_messages_stalls_its_producer", full_behind)
        .seeded("a_node_waits_for_room_also_where_its_messages_would_be_dropped", room)
        .seeded("the_chain_of_a_stall_names_each_of_several_conditions", any_stalls)
        .contrasted("a_download_is_received_when_it_is_there", printed, printed_too_early)
}

/// An operator that counts the messages that it sends.
#[operator]
struct Counting {
    #[output]
    number: u64,
    sent: Arc<AtomicU64>,
}

impl Compute for Counting {
    fn compute(&mut self, io: CountingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        io.number.emit(cx.tick())
    }
}

/// An operator that notes each number, and how many messages the producer had sent by then.
#[operator]
struct Behind {
    #[input]
    number: u64,
    sent: Arc<AtomicU64>,
    seen: Seen<(u64, u64)>,
}

impl Compute for Behind {
    fn compute(&mut self, io: BehindIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        push_seen(&self.seen, (number, self.sent.load(Ordering::Relaxed)));
        Ok(())
    }
}

macro_rules! behind {
    ($name:ident, $needed:ident, $($condition:tt)*) => {
        graph! {
            struct $name($needed: usize, sent: Arc<AtomicU64>, seen: Seen<(u64, u64)>) {
                #[when(count(5))]
                let source: Counting = Counting::new(sent.clone());
                $($condition)*
                let behind: Behind = Behind::new(sent, seen);
                #[capacity($needed)]
                source.number >> behind.number;
            }
        }
    };
}

behind!(OfThree, needed, #[when(message_available(number, needed))]);
behind!(OfOne, needed,);
behind!(Flushed, needed, #[when(any(message_available(number, needed), expiring(number, 1us)))]);

fn available(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let text = stalled(OfThree::new(platform, 3, Arc::default(), seen.clone())?.run())?;
    // With workers, the producer may have sent more by then.
    let enough = |(number, sent): &(u64, u64)| *sent >= number + 3;
    let taken = take(&seen);
    check(taken.len() == 3 && taken.iter().all(enough), || format!("{taken:?}"))?;
    let of_three = OfThree::new(platform, 3, Arc::default(), seen.clone())?;
    stalled(greedy(of_three)?.run())?;
    check_equal(take(&seen), vec![(0, 3), (1, 4), (2, 5)])?;
    check_text(
        &text,
        &[
            "`behind`, after 3 ticks, has the message of `source.number >> behind.number`, but waits for more: \
             2 of 3 messages of `source.number >> behind.number`, condition `message_available(number, needed)` \
             (`any(…, expiring(…))` or `#[operator(flush)]` would also take the last ones) → `source` is done: its `count` of 5 is reached",
        ],
    )?;
    greedy(OfOne::new(platform, 3, Arc::default(), seen.clone())?)?.run()?;
    check_equal(take(&seen), (0..5).map(|number| (number, number + 1)).collect())?;
    // When the source is done, the messages that are left are received because they expire.
    Flushed::new(platform, 3, Arc::default(), seen.clone())?.run()?;
    check_equal(take(&seen).iter().map(|(number, _)| *number).collect(), vec![0, 1, 2, 3, 4])
}

type Gathered = Seen<(u64, Option<u64>, Option<u64>)>;

macro_rules! gathered {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(seen: Gathered) {
                #[when(count(4), periodic(10ms))]
                let a: Source = Source::new(Seen::default(), Vec::new());
                #[when(count(2), periodic(20ms))]
                let b: Source = Source::new(Seen::default(), Vec::new());
                $($condition)*
                let gather: Gather = Gather::new(seen);
                #[capacity(3)]
                a.number >> gather.a;
                #[capacity(3)]
                b.number >> gather.b;
            }
        }
    };
}

gathered!(AnyMessage,);
gathered!(SumOfThree, #[when(multi_message([a, b], sum(3)))]);
gathered!(TwoAndOne, #[when(multi_message([a, b], each(2, 1)))]);

fn sum(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    AnyMessage::new(&simulated(seed)?.0, seen.clone())?.run()?;
    // With workers, the two messages of one moment may be received in two ticks.
    let taken = take(&seen);
    let of_a = taken.iter().filter_map(|(ms, a, _)| a.map(|a| (*ms, a))).collect::<Vec<_>>();
    let of_b = taken.iter().filter_map(|(ms, _, b)| b.map(|b| (*ms, b))).collect::<Vec<_>>();
    check_equal((of_a, of_b), (vec![(0, 0), (10, 1), (20, 2), (30, 3)], vec![(0, 0), (20, 1)]))?;
    greedy(AnyMessage::new(&simulated(seed)?.0, seen.clone())?)?.run()?;
    let each = vec![
        (0, Some(0), Some(0)),
        (10, Some(1), None),
        (20, Some(2), Some(1)),
        (30, Some(3), None),
    ];
    check_equal(take(&seen), each)?;
    // At 10 ms, there are two messages of `a` and one of `b`. At 20 ms, one message of `a` is left, and each source
    // sends one more.
    let text = stalled(SumOfThree::new(&simulated(seed)?.0, seen.clone())?.run())?;
    check_equal(take(&seen), vec![(10, Some(0), Some(0)), (20, Some(1), Some(1))])?;
    let lack = "waits for more: 2 of 3 messages of `a.number >> gather.a` and `b.number >> gather.b`, condition \
                `multi_message([a, b], sum(3))`";
    check_text(&text, &[lack])
}

fn each(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let text = stalled(TwoAndOne::new(&simulated(seed)?.0, seen.clone())?.run())?;
    check_equal(take(&seen), vec![(10, Some(0), Some(0)), (20, Some(1), Some(1))])?;
    // Two messages of `a` are left, which would be enough of `a`.
    let lack = "waits for more: 0 of 1 messages of `b.number >> gather.b`, condition \
                `multi_message([a, b], each(2, 1))`";
    check_text(&text, &[lack])
}

graph! {
    struct NeverBoth(seen: Gathered) {
        #[when(count(9))]
        let a: Source = Source::new(Seen::default(), Vec::new());
        #[when(count(1))]
        let b: Source = Source::new(Seen::default(), Vec::new());
        #[when(message_available(a, 1), message_available(b, 1))]
        let gather: Gather = Gather::new(seen);
        a.number >> gather.a;
        b.number >> gather.b;
    }
}

/// Checks that the conditions make the two optional inputs required.
fn full_behind(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let text = stalled(NeverBoth::new(&simulated(seed)?.0, seen.clone())?.run())?;
    check_equal(take(&seen), vec![(0, Some(0), Some(0))])?;
    let chain = "`a`, after 2 of 9 ticks, waits for room in `a.number >> gather.a`, which is full (1 of 1) → \
                 `gather`, after 1 tick, has the message of `a.number >> gather.a`, but waits for more: 0 of 1 \
                 messages of `b.number >> gather.b`, condition `message_available(b, 1)` → `b` is done";
    check_text(&text, &[chain])
}

macro_rules! lossy {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(4), periodic(2ms) $($condition)*)]
                let source: Source = Source::new(Seen::default(), Vec::new());
                #[when(periodic(10ms))]
                let sink: Sink = Sink::new(seen);
                #[policy(pop)]
                source.number >> sink.number;
            }
        }
    };
}

lossy!(Lossy,);
lossy!(Lossless, , room(number));

fn room(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = Lossy::new(&simulated(seed)?.0, seen.clone())?.run()?;
    check_equal(take(&seen), vec![(0, 0), (10, 3)])?;
    let dropped = report.dropped.iter().map(|dropped| (dropped.messages, dropped.reason));
    check_equal(
        dropped.collect(),
        vec![(2, DropReason::Policy(streamflow::message::QueuePolicy::Pop))],
    )?;
    let report = Lossless::new(&simulated(seed)?.0, seen.clone())?.run()?;
    check_equal(take(&seen), vec![(0, 0), (10, 1), (20, 2), (30, 3)])?;
    check(report.dropped.is_empty(), || report.to_string())
}

graph! {
    struct Neither(seen: Gathered) {
        #[when(count(1))]
        let a: Source = Source::new(Seen::default(), Vec::new());
        #[when(count(1))]
        let b: Source = Source::new(Seen::default(), Vec::new());
        #[when(any(message_available(a, 2), message_available(b, 3)))]
        let gather: Gather = Gather::new(seen);
        #[capacity(2)]
        a.number >> gather.a;
        #[capacity(3)]
        b.number >> gather.b;
    }
}

fn any_stalls(seed: u64) -> Result<(), Failed> {
    let text = stalled(Neither::new(&simulated(seed)?.0, Seen::default())?.run())?;
    let lack = "waits for more: 1 of 2 messages of `a.number >> gather.a`, or more: 1 of 3 messages of \
                `b.number >> gather.b`, condition `any(message_available(a, 2), message_available(b, 3))`";
    check_text(&text, &[lack])
}

/// Two downloads that a slow kernel delays.
#[derive(Message)]
struct Results {
    small: Download<f32>,
    large: Vec<Download<f32>>,
}

#[operator(streams(work))]
struct Compare {
    #[output]
    results: Results,
}

impl Compute for Compare {
    fn compute(&mut self, io: CompareIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.buffer(64, &stream)?;
        stream.launch::<slow_fill>(64, (&mut data, 1.0 + cx.tick() as f32, 3_000_000))?;
        let small = cx.download(&data, &stream)?;
        io.results.emit(Results { small, large: vec![cx.download(&data, &stream)?] })
    }
}

/// An operator that notes whether the results are complete, without a wait or a query.
#[operator]
struct Print {
    #[input]
    results: &Results,
    blind: Blind,
    there: Seen<bool>,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let results = io.results.receive().into_data();
        let is_there = |download: &Download<f32>| {
            let right = |values: &[f32]| values == [1.0 + cx.tick() as f32; 64];
            self.blind.during(|| Ok::<_, Error>(download.try_get()?.is_some_and(right)))
        };
        let there = is_there(&results.large[0])? & is_there(&results.small)?;
        push_seen(&self.there, there);
        Ok(())
    }
}

macro_rules! printed {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, there: Seen<bool>) {
                #[when(count(4))]
                let compare: Compare = Compare::new();
                $($condition)*
                let print: Print = Print::new(blind.clone(), there.clone());
                $($condition)*
                let also_print: Print = Print::new(blind, there);
                compare.results >> (print.results, also_print.results);
            }
        }
    };
}

printed!(Printed, #[when(host_done(results))]);
printed!(PrintedTooEarly,);

fn is_printed(
    platform: &Platform,
    run: impl Fn(&Platform, Blind, Seen<bool>) -> Result<()>,
) -> Result<bool> {
    let (blind, there) = (Blind::new(platform.driver().clone()), Seen::default());
    // The race checker is off, since it would report the race before the data shows it.
    let builder = Platform::builder().race_check(false);
    run(&builder.driver(Arc::new(blind.clone()))?, blind, there.clone())?;
    Ok(take(&there) == [true; 8])
}

fn printed(platform: &Platform) -> Result<bool> {
    is_printed(platform, |platform, blind, there| {
        Printed::new(platform, blind, there)?.run().map(drop).map_err(Failed::from)
    })
}

fn printed_too_early(platform: &Platform) -> Result<bool> {
    is_printed(platform, |platform, blind, there| {
        PrintedTooEarly::new(platform, blind, there)?.run().map(drop).map_err(Failed::from)
    })
}
