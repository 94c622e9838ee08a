//! Queues of tensors behind slow kernels: which messages arrive, and that the next owner of a dropped message's memory waits for
//! its write.

use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{Rx, SLOW, Tx, floats, value};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("a_policy_belongs_to_one_edge", one_edge)
        .ordered("a_full_queue_of_tensors_drops_by_its_policy", one_too_many)
        .ordered("each_edge_of_an_input_has_its_own_policy", edges_of_one_input)
        .ordered("an_input_with_a_size_loses_no_message", sized)
}

/// In which ticks a message is received. In all other ticks, the message stays in the queue.
#[derive(Clone, Copy)]
enum Takes {
    Odd,
    Every(u64),
    From(u64),
}

impl Takes {
    fn now(self, tick: u64) -> bool {
        match self {
            Self::Odd => !tick.is_multiple_of(2),
            Self::Every(ticks) => tick.is_multiple_of(ticks),
            Self::From(first) => tick >= first,
        }
    }
}

/// An operator that receives a message only in some ticks.
#[operator]
struct Slow {
    #[input]
    image: &Tensor<f32>,
    takes: Takes,
    seen: Seen<f32>,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if !self.takes.now(cx.tick()) {
            io.image.leave();
            return Ok(());
        }
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, value(cx, image, &stream)?);
        Ok(())
    }
}

macro_rules! queue {
    ($name:ident, $policy:ident) => {
        graph! {
            struct $name(count: u64, capacity: usize, takes: Takes, seen: Seen<f32>) {
                #[when(count(count))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
                let rx: Slow = Slow::new(takes, seen);
                #[capacity(capacity)] #[policy($policy)]
                tx.image >> rx.image;
            }
        }
    };
}

queue!(Pops, pop);
queue!(Rejects, reject);
queue!(Faults, fault);

/// Returns the values that the receiver of a run has noted.
fn seen_by(run: impl FnOnce(Seen<f32>) -> Result<(), Error>) -> Result<Vec<f32>> {
    let seen = Seen::default();
    run(seen.clone())?;
    Ok(all(&seen))
}

/// Returns whether a run failed with the error that an edge of this capacity is full.
fn is_full<T>(run: Result<T, Error>, edge: &str, capacity: usize) -> bool {
    let says = [format!("`{edge}` is full"), format!("it holds {capacity}"), "`fault`".into()];
    run.is_err_and(|error| {
        let text = error.to_string();
        says.iter().all(|part| text.contains(part))
    })
}

graph! {
    struct Branches(fast: Seen<f32>, slow: Seen<f32>) {
        #[when(count(30))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        let fast: Rx = Rx::new(fast);
        let slow: Slow = Slow::new(Takes::Every(12), slow);
        tx.image >> fast.image;
        #[policy(pop)]
        tx.image >> slow.image;
    }
}

/// Checks that a policy belongs to one edge: the branch that receives every twelfth message does not delay the
/// other branch, and receives the newest message each time.
fn one_edge(platform: &Platform) -> Result<bool> {
    let (fast, slow) = (Seen::default(), Seen::default());
    greedy(Branches::new(platform, fast.clone(), slow.clone())?)?.run()?;
    Ok(all(&fast) == floats(0..30) && all(&slow) == [0.0, 12.0, 24.0])
}

/// Checks that no policy drops a message while the queue has room. With one message more, `pop` drops the first,
/// `reject` drops the last, and `fault` is an error.
fn one_too_many(platform: &Platform) -> Result<bool> {
    let mut right = true;
    for room in [1, 2, 5] {
        let (count, fits) = (room as u64 + 3, Takes::From(room as u64 - 1));
        let everything = floats(0..room + 3);
        let pops =
            seen_by(|seen| greedy(Pops::new(platform, count, room, fits, seen)?)?.run().map(drop))?;
        let rejects = seen_by(|seen| {
            greedy(Rejects::new(platform, count, room, fits, seen)?)?.run().map(drop)
        })?;
        let faults = seen_by(|seen| {
            greedy(Faults::new(platform, count, room, fits, seen)?)?.run().map(drop)
        })?;
        right &= [&pops, &rejects, &faults].iter().all(|seen| **seen == everything);
        let more = Takes::From(room as u64);
        let pops =
            seen_by(|seen| greedy(Pops::new(platform, count, room, more, seen)?)?.run().map(drop))?;
        let rejects = seen_by(|seen| {
            greedy(Rejects::new(platform, count, room, more, seen)?)?.run().map(drop)
        })?;
        let faults = greedy(Faults::new(platform, count, room, more, Seen::default())?)?.run();
        right &= pops == floats(1..room + 3);
        right &= rejects == floats((0..room).chain(room + 1..room + 3));
        right &= is_full(faults, "tx.image >> rx.image", room);
    }
    Ok(right)
}

/// As [`Slow`], with an input of any number of producers.
#[operator]
struct SlowMany {
    #[input(many)]
    images: &Tensor<f32>,
    takes: Takes,
    seen: Seen<f32>,
}

impl Compute for SlowMany {
    fn compute(&mut self, io: SlowManyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if !self.takes.now(cx.tick()) {
            io.images.leave();
            return Ok(());
        }
        let (images, stream) = io.images.receive().receive_cuda_stream(cx)?;
        for image in images {
            push_seen(&self.seen, value(cx, image, &stream)?);
        }
        Ok(())
    }
}

macro_rules! queues {
    ($name:ident, $policy:ident) => {
        graph! {
            struct $name(seen: Seen<f32>) {
                #[when(count(6))] let tx1: Tx = Tx::new(0.0, true, SLOW / 8);
                #[when(count(6))] let tx2: Tx = Tx::new(100.0, true, SLOW / 8);
                let rx: SlowMany = SlowMany::new(Takes::Odd, seen);
                #[policy(pop)]
                tx1.image >> rx.images;
                #[policy($policy)]
                tx2.image >> rx.images;
            }
        }
    };
}

queues!(ManyPops, pop);
queues!(ManyRejects, reject);
queues!(ManyFaults, fault);

/// Checks that each edge of an input with `many` has its own queue and its own policy, and that the error names
/// the full edge.
fn edges_of_one_input(platform: &Platform) -> Result<bool> {
    let pops = seen_by(|seen| greedy(ManyPops::new(platform, seen)?)?.run().map(drop))?;
    let rejects = seen_by(|seen| greedy(ManyRejects::new(platform, seen)?)?.run().map(drop))?;
    let faults = greedy(ManyFaults::new(platform, Seen::default())?)?.run();
    Ok(pops == [1.0, 101.0, 3.0, 103.0, 5.0, 105.0]
        && rejects == [1.0, 100.0, 3.0, 102.0, 5.0, 104.0]
        && is_full(faults, "tx2.image >> rx.images", 1))
}

/// An operator with two inputs of several producers: one of any number, and one of two.
#[operator]
struct Sizes {
    #[input(many)]
    any: &Tensor<f32>,
    #[input(size = 2)]
    two: &Tensor<f32>,
    seen: Seen<Vec<f32>>,
}

impl Compute for Sizes {
    fn compute(&mut self, io: SizesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (any, stream) = io.any.receive().receive_cuda_stream(cx)?;
        let ([a, b], _) = io.two.receive().receive_cuda_stream(cx)?;
        let images = any.chain([a, b]);
        let values = images.map(|image| value(cx, image, &stream)).collect::<Result<_>>()?;
        push_seen(&self.seen, values);
        Ok(())
    }
}

graph! {
    struct TwoSizes(seen: Seen<Vec<f32>>) {
        #[when(count(10))] let tx1: Tx = Tx::new(0.0, true, SLOW / 8);
        #[when(count(10))] let tx2: Tx = Tx::new(100.0, true, SLOW / 8);
        let rx: Sizes = Sizes::new(seen);
        tx1.image >> (rx.any, rx.two);
        tx2.image >> (rx.any, rx.two);
    }
}

/// Checks ten ticks in which each input receives two messages, in the order of the edges. No message is lost at
/// the input with a size.
fn sized(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    TwoSizes::new(platform, seen.clone())?.run()?;
    let tick = |n: usize| floats([n, 100 + n, n, 100 + n].into_iter());
    Ok(all(&seen) == (0..10).map(tick).collect::<Vec<_>>())
}
