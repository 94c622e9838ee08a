//! Conditions of nodes and their combinations, checked by the data of tensors that slow kernels write. Each
//! control has other conditions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, Rx, SLOW, Tx, floats, value};
use streamflow_tests::{Suite, stalled};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .contrasted("either_of_two_conditions_permits_a_tick", any, both)
        .contrasted("a_gate_opens_when_a_block_is_given_back", gate, no_gate)
        .contrasted("a_number_of_messages_is_awaited", two_messages, each_message)
        .contrasted("a_notice_permits_a_tick_of_the_sender_or_the_receiver", asynchronous, free)
        .contrasted("the_capacity_of_a_queue_changes_no_condition", by_default, five_messages)
}

/// An operator with two optional inputs.
#[operator]
struct Either {
    #[input(optional)]
    a: &Tensor<f32>,
    #[input(optional)]
    b: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Either {
    fn compute(&mut self, io: EitherIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        for image in a.into_iter().chain(b) {
            push_seen(&self.seen, value(cx, image, &stream)?);
        }
        Ok(())
    }
}

macro_rules! either {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(seen: Seen<f32>) {
                #[when(count(4))] let tx1: Tx = Tx::new(0.0, true, SLOW / 4);
                #[when(count(2))] let tx2: Tx = Tx::new(100.0, true, SLOW / 4);
                #[when($($condition)*)]
                let rx: Either = Either::new(seen);
                tx1.image >> rx.a;
                tx2.image >> rx.b;
            }
        }
    };
}

either!(Any, any(message_available(a, 1), message_available(b, 1)));
either!(Both, message_available(a, 1), message_available(b, 1));

fn is_all_of_both(seen: &Seen<f32>) -> bool {
    let mut seen = all(seen);
    seen.sort_by(f32::total_cmp);
    seen == [0.0, 1.0, 2.0, 3.0, 100.0, 101.0]
}

fn any(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Any::new(platform, seen.clone())?.run()?;
    Ok(is_all_of_both(&seen))
}

/// The control: both conditions must hold, so two messages of the first source are left.
fn both(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    stalled(Both::new(platform, seen.clone())?.run())?;
    Ok(is_all_of_both(&seen))
}

/// An operator as [`Tx`], with memory of a block allocator of its own.
#[operator(streams(tx))]
struct FromBlocks {
    #[output]
    image: Tensor<f32>,
    blocks: Allocator,
}

impl Compute for FromBlocks {
    fn compute(&mut self, io: FromBlocksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.tx)?;
        let mut image = self.blocks.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, cx.tick() as f32, SLOW / 4))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

macro_rules! gated {
    ($name:ident, $blocks:ident, $($condition:tt)*) => {
        graph! {
            struct $name($blocks: Allocator, seen: Seen<f32>) {
                #[when(count(6) $($condition)*)]
                let tx: FromBlocks = FromBlocks::new($blocks);
                // The node runs when two messages wait, which then hold all blocks of the allocator.
                #[when(any(message_available(image, 2), expiring(image, 1ms)))]
                let rx: Rx = Rx::new(seen);
                #[capacity(4)]
                tx.image >> rx.image;
            }
        }
    };
}

gated!(Gated, blocks, , memory_available(blocks, blocks(1)));
gated!(Ungated, blocks,);
gated!(Impossible, blocks, , memory_available(blocks, blocks(3)));

fn blocks(platform: &Platform, count: u64) -> Result<Allocator> {
    Ok(platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(4 * LEN as u64, count))?)
}

/// Checks that a `gate` that can never open is an error before the run, and that no operator computes.
fn gate(platform: &Platform) -> Result<bool> {
    let (seen, none) = (Seen::default(), Seen::default());
    Gated::new(platform, blocks(platform, 1)?, seen.clone())?.run()?;
    let refused = Impossible::new(platform, blocks(platform, 2)?, none.clone());
    let is_refused =
        matches!(refused, Err(Error::ImpossibleCondition { .. })) && all(&none).is_empty();
    Ok(is_refused && all(&seen) == floats(0..6))
}

fn no_gate(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    match Ungated::new(platform, blocks(platform, 1)?, seen.clone())?.run() {
        Ok(_) => Ok(all(&seen) == floats(0..6)),
        Err(error) if error.to_string().contains("`BLOCKS` is exhausted") => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// An operator that counts the messages that it sends.
#[operator(streams(tx))]
struct Counted {
    #[output]
    image: Tensor<f32>,
    sent: Arc<AtomicU64>,
}

impl Compute for Counted {
    fn compute(&mut self, io: CountedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.tx)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, cx.tick() as f32, SLOW / 4))?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that notes each value, and how many messages were sent by then.
#[operator]
struct Behind {
    #[input]
    image: &Tensor<f32>,
    sent: Arc<AtomicU64>,
    seen: Seen<(f32, u64)>,
}

impl Compute for Behind {
    fn compute(&mut self, io: BehindIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let sent = self.sent.load(Ordering::Relaxed);
        push_seen(&self.seen, (value(cx, image, &stream)?, sent));
        Ok(())
    }
}

macro_rules! queued {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(sent: Arc<AtomicU64>, seen: Seen<(f32, u64)>) {
                #[when(count(5))] let tx: Counted = Counted::new(sent.clone());
                $($condition)*
                let rx: Behind = Behind::new(sent, seen);
                #[capacity(5)]
                tx.image >> rx.image;
            }
        }
    };
}

queued!(Default,);
queued!(OfTwo, #[when(message_available(image, 2))]);
queued!(OfFive, #[when(message_available(image, 5))]);

/// Checks that a node with a queue of five messages runs for each single message, without a warning, unless a
/// condition asks for more.
fn by_default(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    greedy(Default::new(platform, Arc::default(), seen.clone())?)?.run()?;
    Ok(all(&seen) == [(0.0, 1), (1.0, 2), (2.0, 3), (3.0, 4), (4.0, 5)])
}

fn five_messages(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    stalled(OfFive::new(platform, Arc::default(), seen.clone())?.run())?;
    let seen = all(&seen);
    if seen != [(0.0, 5)] {
        return Err(Failure::msg(format!("{seen:?}")));
    }
    Ok(seen.len() == 5)
}

fn is_two_at_a_time(seen: &Seen<(f32, u64)>) -> bool {
    all(seen) == [(0.0, 2), (1.0, 3), (2.0, 4), (3.0, 5)]
}

fn two_messages(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    stalled(greedy(OfTwo::new(platform, Arc::default(), seen.clone())?)?.run())?;
    Ok(is_two_at_a_time(&seen))
}

fn each_message(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    greedy(Default::new(platform, Arc::default(), seen.clone())?)?.run()?;
    Ok(is_two_at_a_time(&seen))
}

macro_rules! notified {
    ($name:ident, [$($param:ident),*], [$($tx:tt)*], [$($rx:tt)*]) => {
        graph! {
            struct $name($($param: AsyncHandle,)* seen: Seen<f32>) {
                #[when(count(10))]
                $($tx)*
                let source: Tx = Tx::new(0.0, true, SLOW / 4);
                $($rx)*
                let sink: Rx = Rx::new(seen);
                source.image >> sink.image;
            }
        }
    };
}

notified!(NotifiedTx, [tx], [#[when(asynchronous(tx))]], []);
notified!(NotifiedRx, [rx], [], [#[when(asynchronous(rx))]]);
notified!(NotifiedBoth, [tx, rx], [#[when(asynchronous(tx))]], [#[when(asynchronous(rx))]]);
notified!(NotifiedNone, [], [], []);

/// Runs a graph while another thread gives five notices of each of two handles.
fn notified(
    platform: &Platform,
    run: impl Fn(&Platform, AsyncHandle, AsyncHandle, Seen<f32>) -> Result<()>,
) -> Result<bool> {
    let (tx, rx, seen) = (AsyncHandle::new(), AsyncHandle::new(), Seen::default());
    let (given_tx, given_rx) = (tx.clone(), rx.clone());
    thread::scope(|scope| {
        let notify = move || {
            for _ in 0..5 {
                // These calls fail if no node has the handle any more, so the results are ignored.
                let _given = (given_tx.notify(), given_rx.notify());
            }
            given_tx.close();
            given_rx.close();
        };
        scope.spawn(notify);
        run(platform, tx, rx, seen.clone())
    })?;
    Ok(all(&seen) == floats(0..5))
}

fn asynchronous(platform: &Platform) -> Result<bool> {
    Ok(notified(platform, |platform, tx, _, seen| {
        NotifiedTx::new(platform, tx, seen)?.run().map(drop).map_err(Failure::from)
    })? && notified(platform, |platform, _, rx, seen| {
        NotifiedRx::new(platform, rx, seen)?.run().map(drop).map_err(Failure::from)
    })? && notified(platform, |platform, tx, rx, seen| {
        NotifiedBoth::new(platform, tx, rx, seen)?.run().map(drop).map_err(Failure::from)
    })?)
}

fn free(platform: &Platform) -> Result<bool> {
    notified(platform, |platform, _, _, seen| {
        NotifiedNone::new(platform, seen)?.run().map(drop).map_err(Failure::from)
    })
}
