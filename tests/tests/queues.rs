//! Queues of edges: their capacities and policies, and inputs with several producers.

mod with_data;

use streamflow::prelude::*;
use streamflow::schedule::Report;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::seen::{Seen, all, push_seen, take};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

const LEN: usize = 1003;
const SLOW: u64 = 5_000_000;

pub(crate) fn suite() -> Suite {
    with_data::add(Suite::new())
        .both("each_policy_keeps_its_messages_in_order", policies)
        .both("a_full_queue_with_policy_fault_ends_the_run", fault)
        .both("a_capacity_of_zero_is_an_error", capacity_zero)
        .ordered("memory_of_dropped_messages_is_recycled_after_their_writes", dropped)
        .both("pop_does_not_drop_an_awaited_message", awaited)
        .both("an_input_of_many_receives_the_messages_of_each_edge", many)
}

/// An operator that leaves its messages in the queue for `leaves` ticks, and then receives one in each tick.
#[operator]
struct Late {
    #[input]
    number: u64,
    leaves: u64,
    seen: Seen<u64>,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < self.leaves {
            io.number.leave();
        } else {
            push_seen(&self.seen, io.number.receive().into_data());
        }
        Ok(())
    }
}

macro_rules! queue {
    ($name:ident, $($policy:tt)*) => {
        graph! {
            struct $name(capacity: usize, seen: Seen<u64>) {
                #[when(count(10))] let numbers: Counter = Counter::new();
                let late: Late = Late::new(6, seen);
                #[capacity(capacity)]
                $($policy)*
                numbers.number >> late.number;
            }
        }
    };
}

/// An operator that notes each number that it sends.
#[operator]
struct Sender {
    #[output]
    number: u64,
    sent: Seen<u64>,
}

impl Compute for Sender {
    fn compute(&mut self, io: SenderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.sent, cx.tick());
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Waits(capacity: usize, leaves: u64, seen: Seen<u64>, sent: Seen<u64>) {
        #[when(count(10))] let numbers: Sender = Sender::new(sent);
        let late: Late = Late::new(leaves, seen);
        #[capacity(capacity)]
        numbers.number >> late.number;
    }
}

queue!(Pops, #[policy(pop)]);
queue!(Rejects, #[policy(reject)]);
queue!(Faults, #[policy(fault)]);

fn seen_by(
    run: impl FnOnce(usize, Seen<u64>) -> Result<(), Error>,
    capacity: usize,
) -> Result<Vec<u64>, Failed> {
    let seen = Seen::default();
    run(capacity, seen.clone())?;
    Ok(all(&seen))
}

/// Turns a stall into success: with workers, a late consumer may be left with nothing that can change.
fn may_stall(run: Result<Report, Error>) -> Result<(), Error> {
    match run {
        Err(Error::Stalled { .. }) => Ok(()),
        run => run.map(drop),
    }
}

/// Seven messages are sent before the consumer receives the first one.
fn policies(platform: &Platform) -> Result<(), Failed> {
    for capacity in [1, 2, 3] {
        let run = |leaves, seen| {
            greedy(Waits::new(platform, capacity, leaves, seen, Seen::default())?)?.run().map(drop)
        };
        let waits = seen_by(|_, seen| run(capacity as u64 - 1, seen), capacity)?;
        let sent = seen_by(
            |n, sent| {
                let run = Waits::new(platform, n, u64::MAX, Seen::default(), sent)?.run();
                Ok(stalled(run).map(drop)?)
            },
            capacity,
        )?;
        check(sent.len() == capacity, || format!("without a receive, {sent:?} were sent"))?;
        let run = |n: usize, seen| {
            may_stall(Waits::new(platform, n, n as u64 - 1, seen, Seen::default())?.run())
        };
        let all_in_order = (0..10).collect::<Vec<_>>();
        let received = seen_by(run, capacity)?;
        check(all_in_order.starts_with(&received), || format!("{capacity}: {received:?}"))?;
        // If the consumer never leaves its message, no message is lost.
        let run = |n, seen| Waits::new(platform, n, 0, seen, Seen::default())?.run().map(drop);
        check_equal(seen_by(run, capacity)?, all_in_order)?;
        // Under any scheduler, messages are received in order. `pop` keeps the newest message, and `reject` the oldest.
        let pops = seen_by(|n, seen| may_stall(Pops::new(platform, n, seen)?.run()), capacity)?;
        let rejects =
            seen_by(|n, seen| may_stall(Rejects::new(platform, n, seen)?.run()), capacity)?;
        check(pops.is_sorted() && pops.last().is_none_or(|last| *last == 9), || {
            format!("{pops:?}")
        })?;
        check(rejects.is_sorted() && rejects.first().is_none_or(|first| *first == 0), || {
            format!("{rejects:?}")
        })?;
        let pops =
            seen_by(|n, seen| greedy(Pops::new(platform, n, seen)?)?.run().map(drop), capacity)?;
        let rejects =
            seen_by(|n, seen| greedy(Rejects::new(platform, n, seen)?)?.run().map(drop), capacity)?;
        let last = capacity as u64;
        let latest: Vec<u64> = (7 - last..10).collect();
        // With `reject`, the queue keeps the oldest messages until it is full. Later, each receive makes room for one
        // more.
        let oldest: Vec<u64> = (0..last).chain(7..10).collect();
        check(waits == (0..10).collect::<Vec<_>>(), || format!("{capacity}: {waits:?}"))?;
        check(pops == latest, || format!("pop, {capacity}: {pops:?}"))?;
        check(rejects == oldest, || format!("reject, {capacity}: {rejects:?}"))?;
    }
    // With the policy `fault`, a queue that is large enough causes no failure.
    let run = |n, seen| greedy(Faults::new(platform, n, seen)?)?.run().map(drop);
    let faults = seen_by(run, 7)?;
    check(faults.len() == 10, || format!("{faults:?}"))
}

fn fault(platform: &Platform) -> Result<(), Failed> {
    let run = greedy(Faults::new(platform, 2, Seen::default())?)?.run();
    let text = check_error("a full queue", run, |_| true)?;
    let full = ["`numbers` failed in `compute`, tick 2", "`numbers.number >> late.number` is full"];
    check_text(&text, &full)?;
    check_text(&text, &["it holds 2", "`fault`", "`#[capacity(…)]`"])
}

fn capacity_zero(platform: &Platform) -> Result<(), Failed> {
    let made = Waits::new(platform, 0, 0, Seen::default(), Seen::default()).map(drop);
    let is_zero = |error: &Error| matches!(error, Error::CapacityZero { .. });
    check_text(&check_error("new", made, is_zero)?, &["`numbers.number >> late.number`"])
}

/// An operator that sends a buffer full of the tick's number, which a slow kernel writes.
#[operator(streams(fill))]
struct Filler {
    #[output]
    data: Buffer<f32>,
}

impl Compute for Filler {
    fn compute(&mut self, io: FillerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut data = cx.buffer(LEN, &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut data, cx.tick() as f32, SLOW))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// An operator that receives every third message, and keeps its memory for some ticks.
#[operator]
struct Third {
    #[input]
    data: Buffer<f32>,
    seen: Seen<f32>,
}

impl Compute for Third {
    fn compute(&mut self, io: ThirdIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() % 3 < 2 {
            io.data.leave();
            return Ok(());
        }
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(LEN, (&mut data,))?;
        let values = cx.download(&data, &stream)?;
        let values = values.wait_blocking()?;
        let same = values.iter().all(|&x| x == values[0]);
        push_seen(&self.seen, if same { values[0] } else { f32::NAN });
        Ok(())
    }
}

graph! {
    struct Dropping(seen: Seen<f32>) {
        #[when(count(9))] let filler: Filler = Filler::new();
        let third: Third = Third::new(seen);
        #[policy(pop)]
        filler.data >> third.data;
    }
}

/// Checks that the next owner of a dropped message's memory waits for the write of that message.
fn dropped(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    greedy(Dropping::new(platform, seen.clone())?)?.run()?;
    Ok(all(&seen) == [3.0, 6.0, 9.0])
}

#[operator]
struct Values {
    #[input]
    data: &Buffer<f32>,
    seen: Seen<f32>,
}

impl Compute for Values {
    fn compute(&mut self, io: ValuesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, cx.download(data, &stream)?.wait_blocking()?[LEN - 1]);
        Ok(())
    }
}

graph! {
    struct Awaited(seen: Seen<f32>) {
        #[when(count(30))] let filler: Filler = Filler::new();
        #[when(stream_done(data))]
        let values: Values = Values::new(seen);
        #[policy(pop)]
        filler.data >> values.data;
    }
}

/// Checks that `pop` does not drop the message that `stream_done` awaits. If it did, a producer faster than the device would
/// keep the consumer from ever running, since the oldest message would never be complete.
fn awaited(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Awaited::new(platform, seen.clone())?.run()?;
    // With workers, `pop` may drop the first message before the scheduler has looked at its consumer.
    let newest = take(&seen);
    check(newest.last() == Some(&29.0) && newest.is_sorted(), || format!("{newest:?}"))?;
    greedy(Awaited::new(platform, seen.clone())?)?.run()?;
    let seen = all(&seen);
    let ends = (seen.first(), seen.last()) == (Some(&0.0), Some(&29.0));
    check(ends && seen.is_sorted(), || format!("{seen:?}"))
}

/// An operator that collects the messages of each edge, through each kind of input with `many`.
#[operator]
struct Collect {
    #[input(many)]
    all: u64,
    #[input(many, optional)]
    some: &u64,
    #[input(size = 2)]
    two: Shared<u64>,
    seen: Seen<(Vec<u64>, Vec<u64>, u64)>,
}

impl Compute for Collect {
    fn compute(&mut self, io: CollectIo<'_>, _: &ExecutionContext) -> Result<()> {
        let all = io.all.receive().into_data();
        let some = io.some.receive().into_data();
        let [a, b] = io.two.receive().into_data();
        let lengths = all.len() == 2 && some.clone().count() == some.len();
        if lengths {
            push_seen(&self.seen, (all.collect(), some.copied().collect(), *a + *b));
        }
        Ok(())
    }
}

/// An operator that sends only in even ticks.
#[operator]
struct Even {
    #[output]
    number: u64,
}

impl Compute for Even {
    fn compute(&mut self, io: EvenIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) { io.number.emit(1000 + cx.tick()) } else { Ok(()) }
    }
}

graph! {
    struct Several(seen: Seen<(Vec<u64>, Vec<u64>, u64)>) {
        #[when(count(3))] let a: Counter = Counter::new();
        #[when(count(3))] let b: Counter = Counter::new();
        #[when(count(3))] let c: Counter = Counter::new();
        #[when(count(3))] let even: Even = Even::new();
        #[when(count(3))] let d: Counter = Counter::new();
        #[when(count(3))] let e: Counter = Counter::new();
        let collect: Collect = Collect::new(seen);
        a.number >> collect.all;
        b.number >> collect.all;
        even.number >> collect.some;
        c.number >> collect.some;
        d.number >> collect.two;
        e.number >> collect.two;
    }
}

fn many(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    // With workers, an optional message may arrive later, or so late that its producer can't end.
    may_stall(Several::new(platform, seen.clone())?.run())?;
    let ticks = take(&seen);
    let required: Vec<_> = ticks.iter().map(|(all, _, two)| (all.clone(), *two)).collect();
    check_equal(required, vec![(vec![0, 0], 0), (vec![1, 1], 2), (vec![2, 2], 4)])?;
    let some = || ticks.iter().flat_map(|(_, some, _)| some.iter().copied());
    let (of_even, of_c): (Vec<u64>, Vec<u64>) = some().partition(|number| *number >= 1000);
    let in_order = [1000, 1002].starts_with(&of_even) && [0, 1, 2].starts_with(&of_c);
    check(in_order, || format!("{ticks:?}"))?;
    greedy(Several::new(platform, seen.clone())?)?.run()?;
    let expected =
        [(vec![0, 0], vec![1000, 0], 0), (vec![1, 1], vec![1], 2), (vec![2, 2], vec![1002, 2], 4)];
    check(all(&seen) == expected, || format!("{seen:?}"))
}
