//! Messages that arrive one by one: which of them a tick needs, and whether all messages that a tick receives are
//! complete.

use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::flags::{FlagTx, unchecked};
use streamflow_tests::greedy::greedy;
use streamflow_tests::layers::Blind;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{SLOW, Tx, floats, value};
use streamflow_tests::{Failed, Suite, check, check_text, stalled};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("an_input_is_awaited_unless_it_is_optional", required)
        .both("a_tick_needs_messages_on_all_awaited_ports", partial_arrival)
        .contrasted(
            "messages_that_arrive_while_others_are_awaited_are_complete",
            |platform| late(platform, |p, b, s| Late::new(p, b, s)?.run().map(drop)),
            |platform| late(platform, |p, b, s| LateUnconditional::new(p, b, s)?.run().map(drop)),
        )
}

/// An operator with a required and an optional input.
#[operator]
struct MayMiss {
    #[input]
    a: &Tensor<f32>,
    #[input(optional)]
    b: &Tensor<f32>,
    seen: Seen<(f32, Option<f32>)>,
}

impl Compute for MayMiss {
    fn compute(&mut self, io: MayMissIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        let b = b.map(|b| value(cx, b, &stream)).transpose()?;
        push_seen(&self.seen, (value(cx, a, &stream)?, b));
        Ok(())
    }
}

/// An operator with two required inputs.
#[operator]
struct NeedsBoth {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    seen: Seen<(f32, f32)>,
}

impl Compute for NeedsBoth {
    fn compute(&mut self, io: NeedsBothIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, (value(cx, a, &stream)?, value(cx, b, &stream)?));
        Ok(())
    }
}

graph! {
    struct Conditions(one: Seen<(f32, Option<f32>)>, both: Seen<(f32, f32)>) {
        #[when(count(4))] let tx1: Tx = Tx::new(0.0, true, SLOW / 4);
        #[when(count(2))] let tx2: Tx = Tx::new(100.0, true, SLOW / 4);
        let one: MayMiss = MayMiss::new(one);
        let both: NeedsBoth = NeedsBoth::new(both);
        #[capacity(4)]
        tx1.image >> one.a;
        tx2.image >> one.b;
        #[capacity(4)]
        tx1.image >> both.a;
        tx2.image >> both.b;
    }
}

/// Checks that an input is awaited unless it is `optional`: two messages give two ticks if both inputs are
/// required, and four if one is optional.
fn required(platform: &Platform) -> Result<bool> {
    let (one, both) = (Seen::default(), Seen::default());
    // The run stalls, since two messages wait at `both` for messages of the other input that never come.
    stalled(greedy(Conditions::new(platform, one.clone(), both.clone())?)?.run())?;
    let (one, both) = (all(&one), all(&both));
    let needed: Vec<f32> = one.iter().map(|(a, _)| *a).collect();
    let found: Vec<f32> = one.iter().filter_map(|(_, b)| *b).collect();
    Ok(needed == floats(0..4) && found == [100.0, 101.0] && both == [(0.0, 100.0), (1.0, 101.0)])
}

#[operator]
struct BothFlags {
    #[input]
    a: &Pinned<f32>,
    #[input]
    b: &Pinned<f32>,
    seen: Seen<u64>,
}

impl Compute for BothFlags {
    fn compute(&mut self, io: BothFlagsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.receive().receive_cuda_stream(cx)?;
        io.b.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, cx.tick());
        Ok(())
    }
}

graph! {
    struct Partial(seen: Seen<u64>) {
        #[when(count(5))] let a: FlagTx = FlagTx::new(0.0, 0);
        #[when(count(2))] let b: FlagTx = FlagTx::new(0.0, SLOW);
        #[when(stream_done(a), stream_done(b))]
        let both: BothFlags = BothFlags::new(seen);
        a.flag >> both.a;
        b.flag >> both.b;
    }
}

/// Checks that an operator with two awaited inputs does not run while only one of them has a message.
fn partial_arrival(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let text = stalled(Partial::new(platform, seen.clone())?.run())?;
    let chain = ["`a`, after 3 of 5 ticks", "`both`, after 2 ticks", "`b` is done"];
    check_text(&text, &chain)?;
    check(all(&seen) == [0, 1], || format!("{seen:?}"))
}

/// An operator that receives one or several messages of any of its edges.
#[operator]
struct Any {
    #[input(many, optional)]
    flags: &Pinned<f32>,
    blind: Blind,
    /// How many flags of each edge the operator has received.
    counts: [u8; 2],
    seen: Seen<bool>,
}

impl Compute for Any {
    fn compute(&mut self, io: AnyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (flags, _) = io.flags.receive().or_adopt().or_default().receive_cuda_stream(cx)?;
        for flag in flags {
            // The received data must be the next flag of its edge, and not poison or older data.
            let look = || -> Result<bool> {
                let Some(flag) = flag.try_as_slice()? else { return Ok(false) };
                let count = &mut self.counts[usize::from(flag[0] > 100.0)];
                *count += 1;
                Ok(flag.iter().all(|&x| x == flag[0]) && flag[0] % 100.0 == f32::from(*count))
            };
            let complete = self.blind.during(look)?;
            push_seen(&self.seen, complete);
        }
        Ok(())
    }
}

macro_rules! late {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(blind: Blind, seen: Seen<bool>) {
                #[when(count(6))] let fast: FlagTx = FlagTx::new(1.0, 0);
                #[when(count(6))] let slow: FlagTx = FlagTx::new(101.0, SLOW);
                $($condition)*
                let any: Any = Any::new(blind, [0; 2], seen);
                fast.flag >> any.flags;
                slow.flag >> any.flags;
            }
        }
    };
}

late!(Late, #[when(stream_done(flags))]);
late!(LateUnconditional,);

/// Checks that all messages which a tick receives are complete, while messages arrive one by one.
fn late(
    platform: &Platform,
    run: impl FnOnce(&Platform, Blind, Seen<bool>) -> Result<(), Error>,
) -> Result<bool> {
    let blind = Blind::new(platform.driver().clone());
    let platform = unchecked(&blind)?;
    let seen = Seen::default();
    run(&platform, blind, seen.clone())?;
    Ok(all(&seen) == [true; 12])
}
