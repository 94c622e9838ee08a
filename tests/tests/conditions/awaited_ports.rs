//! `stream_done` with pinned memory: a copy of a slow kernel's result to that memory is in flight when the
//! message is sent. The receiver reads the bytes without a wait or a query, so a tick that comes too early reads
//! old bytes. The control is the same graph without the condition.

use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::flags::{FlagTx, unchecked};
use streamflow_tests::layers::Blind;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::SLOW;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .contrasted(
            "an_awaited_message_is_complete",
            |platform| run(platform, 1, |p, b, s| Single::new(p, b, s)?.run().map(drop)),
            |platform| {
                run(platform, 1, |p, b, s| SingleUnconditional::new(p, b, s)?.run().map(drop))
            },
        )
        .contrasted(
            "two_awaited_ports_are_complete",
            |platform| run(platform, 2, |p, b, s| Dual::new(p, b, s)?.run().map(drop)),
            |platform| run(platform, 2, |p, b, s| DualUnconditional::new(p, b, s)?.run().map(drop)),
        )
        .contrasted(
            "ports_awaited_by_two_attributes_are_complete",
            |platform| run(platform, 2, |p, b, s| DualTwice::new(p, b, s)?.run().map(drop)),
            |platform| run(platform, 2, |p, b, s| DualHalf::new(p, b, s)?.run().map(drop)),
        )
        .contrasted(
            "all_messages_of_an_awaited_port_are_complete",
            |platform| run(platform, 3, |p, b, s| Multi::new(p, b, s)?.run().map(drop)),
            |platform| {
                run(platform, 3, |p, b, s| MultiUnconditional::new(p, b, s)?.run().map(drop))
            },
        )
        .contrasted(
            "awaited_ports_of_both_kinds_are_complete",
            |platform| run(platform, 3, |p, b, s| Mixed::new(p, b, s)?.run().map(drop)),
            |platform| run(platform, 3, |p, b, s| MixedHalf::new(p, b, s)?.run().map(drop)),
        )
}

/// What one tick has found: the number of messages, and whether all of them were complete.
type Tick = (usize, bool);

/// Runs a graph, and checks that it ticks five times, each time with `messages` complete messages.
fn run(
    platform: &Platform,
    messages: usize,
    graph: impl Fn(&Platform, Blind, Seen<Tick>) -> Result<(), Error>,
) -> Result<bool> {
    let blind = Blind::new(platform.driver().clone());
    let platform = unchecked(&blind)?;
    let seen = Seen::default();
    graph(&platform, blind, seen.clone())?;
    Ok(all(&seen) == vec![(messages, true); 5])
}

/// Returns whether the memory holds its value now, without a wait or a query.
fn is_complete(blind: &Blind, flag: &Pinned<f32>, value: f32) -> Result<bool> {
    let look = || Ok(flag.try_as_slice()?.is_some_and(|flag| flag.iter().all(|&x| x == value)));
    blind.during(look)
}

#[operator]
struct SingleRx {
    #[input]
    flag: &Pinned<f32>,
    blind: Blind,
    seen: Seen<Tick>,
}

impl Compute for SingleRx {
    fn compute(&mut self, io: SingleRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (flag, _) = io.flag.receive().receive_cuda_stream(cx)?;
        let complete = is_complete(&self.blind, flag, 1.0 + cx.tick() as f32)?;
        push_seen(&self.seen, (1, complete));
        Ok(())
    }
}

macro_rules! single {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, seen: Seen<Tick>) {
                #[when(count(5))] let tx: FlagTx = FlagTx::new(1.0, SLOW);
                $($condition)*
                let rx: SingleRx = SingleRx::new(blind, seen);
                tx.flag >> rx.flag;
            }
        }
    };
}

single!(Single, #[when(stream_done(flag))]);
single!(SingleUnconditional,);

#[operator]
struct DualRx {
    #[input]
    in1: &Pinned<f32>,
    #[input]
    in2: &Pinned<f32>,
    blind: Blind,
    seen: Seen<Tick>,
}

impl Compute for DualRx {
    fn compute(&mut self, io: DualRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, _) = io.in1.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.in2.receive().receive_cuda_stream(cx)?;
        let tick = cx.tick() as f32;
        let complete =
            is_complete(&self.blind, a, 1.0 + tick)? & is_complete(&self.blind, b, 100.0 + tick)?;
        push_seen(&self.seen, (2, complete));
        Ok(())
    }
}

macro_rules! dual {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, seen: Seen<Tick>) {
                // The message of the first port is complete long before the message of the second port.
                #[when(count(5))] let tx1: FlagTx = FlagTx::new(1.0, 0);
                #[when(count(5))] let tx2: FlagTx = FlagTx::new(100.0, SLOW);
                $($condition)*
                let rx: DualRx = DualRx::new(blind, seen);
                tx1.flag >> rx.in1;
                tx2.flag >> rx.in2;
            }
        }
    };
}

dual!(Dual, #[when(stream_done(in1), stream_done(in2))]);
dual!(DualTwice, #[when(stream_done(in1))] #[when(stream_done(in2))]);
dual!(DualUnconditional,);
dual!(DualHalf, #[when(stream_done(in1))]);

#[operator]
struct MultiRx {
    #[input(many)]
    flags: &Pinned<f32>,
    blind: Blind,
    seen: Seen<Tick>,
}

/// Returns whether the messages of all edges are complete.
fn are_complete<'t>(
    blind: &Blind,
    flags: impl Iterator<Item = &'t Pinned<f32>>,
    first: f32,
) -> Result<bool> {
    let mut complete = true;
    for (edge, flag) in flags.enumerate() {
        complete &= is_complete(blind, flag, first + 100.0 * edge as f32)?;
    }
    Ok(complete)
}

impl Compute for MultiRx {
    fn compute(&mut self, io: MultiRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (flags, _) = io.flags.receive().receive_cuda_stream(cx)?;
        let messages = flags.len();
        let complete = are_complete(&self.blind, flags, 1.0 + cx.tick() as f32)?;
        push_seen(&self.seen, (messages, complete));
        Ok(())
    }
}

macro_rules! multi {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, seen: Seen<Tick>) {
                #[when(count(5))] let tx1: FlagTx = FlagTx::new(1.0, 0);
                #[when(count(5))] let tx2: FlagTx = FlagTx::new(101.0, SLOW);
                #[when(count(5))] let tx3: FlagTx = FlagTx::new(201.0, 0);
                $($condition)*
                let rx: MultiRx = MultiRx::new(blind, seen);
                tx1.flag >> rx.flags;
                tx2.flag >> rx.flags;
                tx3.flag >> rx.flags;
            }
        }
    };
}

multi!(Multi, #[when(stream_done(flags))]);
multi!(MultiUnconditional,);

#[operator]
struct MixedRx {
    #[input]
    regular_in: &Pinned<f32>,
    #[input(many)]
    multi_in: &Pinned<f32>,
    blind: Blind,
    seen: Seen<Tick>,
}

impl Compute for MixedRx {
    fn compute(&mut self, io: MixedRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (regular, _) = io.regular_in.receive().receive_cuda_stream(cx)?;
        let (multi, _) = io.multi_in.receive().receive_cuda_stream(cx)?;
        let (messages, tick) = (1 + multi.len(), cx.tick() as f32);
        let complete = is_complete(&self.blind, regular, 1.0 + tick)?
            & are_complete(&self.blind, multi, 101.0 + tick)?;
        push_seen(&self.seen, (messages, complete));
        Ok(())
    }
}

macro_rules! mixed {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, seen: Seen<Tick>) {
                #[when(count(5))] let tx1: FlagTx = FlagTx::new(1.0, 0);
                #[when(count(5))] let tx2: FlagTx = FlagTx::new(101.0, 0);
                #[when(count(5))] let tx3: FlagTx = FlagTx::new(201.0, SLOW);
                $($condition)*
                let rx: MixedRx = MixedRx::new(blind, seen);
                tx1.flag >> rx.regular_in;
                tx2.flag >> rx.multi_in;
                tx3.flag >> rx.multi_in;
            }
        }
    };
}

mixed!(Mixed, #[when(stream_done(regular_in), stream_done(multi_in))]);
mixed!(MixedHalf, #[when(stream_done(regular_in))]);
