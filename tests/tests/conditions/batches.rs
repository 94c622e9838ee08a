//! `receive_batch`: several messages of one edge in one tick.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::allocations::so_far_of_all;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, push_seen, take};
use streamflow_tests::stereo::Counter;
use streamflow_tests::tensors::{SLOW, Tx, holds};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::operators::{ms, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("a_batch_has_enough_messages_or_what_came_in_time", batches)
        .seeded("what_does_not_fit_into_a_batch_waits", rest)
        .seeded("each_form_of_an_input_receives_batches", forms)
        .ordered("all_data_of_a_batch_is_ready", device_data)
        .both("a_harness_gives_batches", harness)
        .both("a_batch_that_its_edge_cant_hold_is_an_error", too_large)
}

/// An operator that notes when each batch came, and the batch's numbers and sequence numbers.
#[operator]
struct Batches {
    #[input]
    number: u64,
    at_most: usize,
    seen: Seen<(u64, Vec<u64>)>,
}

impl Compute for Batches {
    fn compute(&mut self, io: BatchesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let numbers = io.number.receive_batch(self.at_most);
        // The metadata of a batch is that of its first message, as at an input with several producers.
        let first = numbers.metadata().and_then(|metadata| metadata.sequence());
        let numbers: Vec<u64> = numbers.into_data().collect();
        assert_eq!(numbers.first().copied(), first);
        push_seen(&self.seen, (ms(cx), numbers));
        Ok(())
    }
}

graph! {
    struct Timed(milliseconds: u64, count: u64, seen: Seen<(u64, Vec<u64>)>) {
        #[when(count(count), periodic(std::time::Duration::from_millis(milliseconds)))]
        let source: Counter = Counter::new();
        #[when(any(message_available(number, 8), expiring(number, 50ms)))]
        let sink: Batches = Batches::new(8, seen);
        #[capacity(8)]
        source.number >> sink.number;
    }
}

fn batches(seed: u64) -> Result<(), Failed> {
    let range = |range: std::ops::Range<u64>| range.collect::<Vec<_>>();
    for (milliseconds, expected) in [
        // Eight messages arrive in 35 ms. The last four are taken when the oldest has waited for 50 ms.
        (5, vec![(35, range(0..8)), (75, range(8..16)), (130, range(16..20))]),
        // Six messages arrive in 50 ms.
        (
            10,
            vec![
                (50, range(0..6)),
                (110, range(6..12)),
                (170, range(12..18)),
                (230, range(18..20)),
            ],
        ),
    ] {
        let seen = Seen::default();
        let platform = simulated(seed)?.0;
        Timed::new(&platform, milliseconds, 20, seen.clone())?.run()?;
        // With workers, a batch may be taken before the message of that moment is in the queue.
        let batches = take(&seen);
        let is_enough = |(at, batch): &(u64, Vec<u64>)| {
            let first = batch.first().copied().unwrap_or_default() * milliseconds;
            batch.len() == 8 || *at == first + 50
        };
        check(batches.iter().all(is_enough), || format!("{batches:?}"))?;
        let numbers: Vec<u64> = batches.into_iter().flat_map(|(_, batch)| batch).collect();
        check_equal(numbers, range(0..20))?;
        let platform = simulated(seed)?.0;
        greedy(Timed::new(&platform, milliseconds, 20, seen.clone())?)?.run()?;
        check_equal(all(&seen), expected)?;
    }
    Ok(())
}

graph! {
    struct Small(at_most: usize, count: u64, seen: Seen<(u64, Vec<u64>)>) {
        #[when(count(count))]
        let source: Counter = Counter::new();
        // The sink waits until the edge is full, and takes fewer messages than the edge holds.
        #[when(any(message_available(number, 5), expiring(number, 1s)))]
        let sink: Batches = Batches::new(at_most, seen);
        #[capacity(5)]
        source.number >> sink.number;
    }
}

/// Checks batches of several sizes. A batch of size 0 has one message, as with `receive`.
fn rest(seed: u64) -> Result<(), Failed> {
    for (at_most, size) in [(0, 1), (1, 1), (2, 2), (3, 3), (5, 5)] {
        let seen = Seen::default();
        let report = Small::new(&simulated(seed)?.0, at_most, 11, seen.clone())?.run()?;
        check_equal(report.dropped, Vec::new())?;
        let batches = all(&seen);
        check_equal(batches[0].1.len(), size)?;
        let numbers: Vec<u64> = batches.into_iter().flat_map(|(_, numbers)| numbers).collect();
        check_equal(numbers, (0..11).collect())?;
    }
    Ok(())
}

graph! {
    struct TooLarge(at_most: usize, seen: Seen<(u64, Vec<u64>)>) {
        #[when(count(3))]
        let source: Counter = Counter::new();
        let sink: Batches = Batches::new(at_most, seen);
        source.number >> sink.number;
    }
}

/// Checks that a batch larger than its edge fails in the first tick, and that a batch as large as its edge is no
/// error.
fn too_large(platform: &Platform) -> Result<(), Failed> {
    TooLarge::new(platform, 1, Seen::default())?.run()?;
    let seen = Seen::default();
    let run = TooLarge::new(platform, 4, seen.clone())?.run();
    let text = check_error("a batch", run, |error| {
        let Error::Operator { tick: 0, cause, .. } = error else { return false };
        matches!(cause.downcast_ref(), Some(Error::BatchTooLarge { at_most: 4, capacity: 1, .. }))
    })?;
    check_text(
        &text,
        &[
            "`sink`",
            "`receive_batch(4)` at `number`, but its edge `source.number >> sink.number` holds 1",
            "give the edge `#[capacity(4)]`",
        ],
    )?;
    check_equal(all(&seen).len(), 1)
}

/// A message that is no number, so that each form of an input has a type of its own.
#[derive(Debug, Message)]
struct Frame {
    number: u64,
}

/// An operator that sends frames to each of the other operators.
#[operator]
struct Frames {
    #[output]
    taken: Frame,
    #[output]
    read: Frame,
}

impl Compute for Frames {
    fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.taken.emit(Frame { number: cx.tick() })?;
        io.read.emit(Frame { number: cx.tick() })
    }
}

macro_rules! form {
    ($operator:ident, $form:ty) => {
        #[operator]
        struct $operator {
            #[input]
            frames: $form,
            seen: Seen<u64>,
        }

        impl Compute for $operator {
            fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
                let batch = io.frames.receive_batch(3).into_data();
                assert_eq!(batch.len(), 3);
                batch.for_each(|frame| push_seen(&self.seen, frame.number));
                Ok(())
            }
        }
    };
}

form!(Takes, Frame);
form!(Reads, &Frame);
form!(Shares, Shared<Frame>);

graph! {
    struct Forms(takes: Seen<u64>, reads: Seen<u64>, shares: Seen<u64>) {
        #[when(count(6))]
        let source: Frames = Frames::new();
        #[when(message_available(frames, 3))]
        let takes: Takes = Takes::new(takes);
        #[when(message_available(frames, 3))]
        let reads: Reads = Reads::new(reads);
        #[when(message_available(frames, 3))]
        let shares: Shares = Shares::new(shares);
        #[capacity(3)]
        source.taken >> takes.frames;
        #[capacity(3)]
        source.read >> (reads.frames, shares.frames);
    }
}

fn forms(seed: u64) -> Result<(), Failed> {
    let seen = [(); 3].map(|()| Seen::default());
    let [takes, reads, shares] = seen.clone();
    let report = Forms::new(&simulated(seed)?.0, takes, reads, shares)?.run()?;
    for (seen, name) in seen.iter().zip(["takes", "reads", "shares"]) {
        check_equal(all(seen), (0..6).collect())?;
        check_equal(report.ticks(name), Some(2))?;
    }
    Ok(())
}

/// An operator that notes how many allocations the process had made after the warm-up, and how many at the end.
#[operator]
struct Quiet {
    #[input]
    number: u64,
    warm: u64,
    last: u64,
    sum: u64,
}

impl Compute for Quiet {
    fn compute(&mut self, io: QuietIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.sum += io.number.receive_batch(4).into_data().sum::<u64>();
        self.last = so_far_of_all();
        if cx.tick() == 50 {
            self.warm = self.last;
        }
        Ok(())
    }
}

graph! {
    struct Steady {
        #[when(count(800))]
        let source: Counter = Counter::new();
        #[when(message_available(number, 4))]
        let quiet: Quiet = Quiet::new(0, 0, 0);
        #[capacity(4)]
        source.number >> quiet.number;
    }
}

pub(super) fn no_allocations(seed: u64) -> Result<(), Failed> {
    let mut graph = Steady::new(&simulated(seed)?.0)?;
    let report = graph.run()?;
    check_equal((report.ticks("quiet"), graph.quiet().sum), (Some(200), 799 * 800 / 2))?;
    let (warm, last) = (graph.quiet().warm, graph.quiet().last);
    super::check_no_allocations(warm, last)
}

/// An operator that checks the data of each message.
#[operator]
struct Images {
    #[input]
    images: &Tensor<f32>,
    first: f32,
    seen: Seen<bool>,
}

impl Compute for Images {
    fn compute(&mut self, io: ImagesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (images, stream) = io.images.receive_batch(3).receive_cuda_stream(cx)?;
        for image in images {
            push_seen(&self.seen, holds(cx, image, &stream, self.first)?);
            self.first += 1.0;
        }
        Ok(())
    }
}

graph! {
    struct Slow(seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(6))]
        let tx: Tx = Tx::new(7.0, true, SLOW);
        #[streams(STREAMS)] #[when(message_available(images, 3))]
        let images: Images = Images::new(7.0, seen);
        #[capacity(3)]
        tx.image >> images.images;
    }
}

fn device_data(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Slow::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 6])
}

/// Checks in a harness that messages which did not fit into a batch begin the next one.
fn harness(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut harness = OperatorHarness::new(platform, Takes::new(seen.clone()))?;
    (0..4).try_for_each(|number| harness.push(|ports| &mut ports.frames, Frame { number }))?;
    check(harness.tick()?, || "it has messages, and did not tick".into())?;
    check_equal(all(&seen), vec![0, 1, 2])?;
    (4..6).try_for_each(|number| harness.push(|ports| &mut ports.frames, Frame { number }))?;
    check(harness.tick()?, || "it has messages, and did not tick".into())?;
    check_equal(all(&seen), (0..6).collect())?;
    check(!harness.tick()?, || "it ticked without a message".into())?;
    Ok(harness.stop()?)
}
