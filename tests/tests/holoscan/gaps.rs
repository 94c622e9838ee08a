//! Cases that NVIDIA's tests do not cover: partial arrival, late messages, teardown while a condition waits, a poisoned
//! stream, memory that is recycled while a sink reads it, a consumer on the default stream, a second run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use streamflow::driver::{Call, Recorder};
use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_tests::kernels::{slow_copy, slow_fill, write_to_nowhere};
use streamflow_tests::layers::{Blind, NotYet};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, child, stalled};

use super::operators::{FlagTx, LEN, SLOW, Seen, Tx, all, holds, push_seen, unchecked};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .both("gap_a_tick_needs_messages_on_all_awaited_ports", partial_arrival)
        .contrasted(
            "gap_messages_that_arrive_while_others_are_awaited_are_complete",
            |platform| late(platform, |p, b, s| Late::new(p, b, s)?.run().map(drop)),
            |platform| late(platform, |p, b, s| LateUnconditional::new(p, b, s)?.run().map(drop)),
        )
        .both("gap_a_run_can_end_while_a_condition_waits", teardown)
        .seeded("gap_a_poisoned_stream_ends_the_run", |seed| {
            child::run("holoscan", &seed.to_string(), &[])
        })
        .cuda("gap_a_poisoned_stream_ends_the_run", |_| child::run("holoscan", "cuda", &[]))
        .ordered("gap_block_recycled_while_a_sink_reads_it", used_again)
        .ordered("gap_a_consumer_on_the_default_stream_waits_for_its_data", on_default)
        .ordered("gap_a_second_run_gives_right_data", second_run)
}

#[operator]
struct Both {
    #[input]
    a: &Pinned<f32>,
    #[input]
    b: &Pinned<f32>,
    seen: Seen<u64>,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, cx: &ExecutionContext) -> Result<()> {
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
        let both: Both = Both::new(seen);
        a.flag >> both.a;
        b.flag >> both.b;
    }
}

/// Two ports are awaited, and one has no message: the operator does not run.
fn partial_arrival(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let text = stalled(Partial::new(platform, seen.clone())?.run())?;
    let chain = ["`a`, after 3 of 5 ticks", "`both`, after 2 ticks", "`b` is done"];
    check_text(&text, &chain)?;
    check(all(&seen) == [0, 1], || format!("{seen:?}"))
}

/// Receives one or several messages of any of its edges.
#[operator]
struct Any {
    #[input(many, optional)]
    flags: &Pinned<f32>,
    blind: Blind,
    /// How many flags of each edge were received.
    counts: [u8; 2],
    seen: Seen<bool>,
}

impl Compute for Any {
    fn compute(&mut self, io: AnyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (flags, _) = io.flags.receive().or_adopt().or_default().receive_cuda_stream(cx)?;
        for flag in flags {
            // Neither poison nor older data: the next flag of its edge.
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

/// Messages arrive one by one while others are awaited. All messages that a tick receives are complete.
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

/// Fails in its third tick, while other nodes wait.
#[operator]
struct Fails {
    #[output]
    number: u64,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 2 { Err(Failure::msg("injected")) } else { io.number.emit(cx.tick()) }
    }
}

#[operator]
struct Waits {
    #[input]
    flag: &Pinned<f32>,
}

impl Compute for Waits {
    fn compute(&mut self, io: WaitsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.flag.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Failing {
        let tx: FlagTx = FlagTx::new(0.0, SLOW);
        #[when(stream_done(flag))]
        let rx: Waits = Waits::new();
        let fails: Fails = Fails::new();
        tx.flag >> rx.flag;
        fails.number >> _;
    }
}

/// A run that ends while a condition waits leaves nothing behind: the queued host function has its own owner.
fn teardown(platform: &Platform) -> Result<(), Failed> {
    for _ in 0..3 {
        let mut graph = Failing::new(platform)?;
        check_error("a failing operator", graph.run(), |error| {
            error.to_string().contains("injected")
        })?;
        drop(graph);
    }
    teardown_asleep(platform)
}

graph! {
    struct Asleep {
        #[when(count(1))] let tx: FlagTx = FlagTx::new(0.0, SLOW);
        #[when(stream_done(flag))]
        let rx: Waits = Waits::new();
        tx.flag >> rx.flag;
    }
}

/// As `teardown`, while the scheduler sleeps and the host function that would wake it is queued.
fn teardown_asleep(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let not_yet = Arc::new(NotYet::failing_in_sleep(recorder.clone()));
    let on = Platform::builder().driver(not_yet)?;
    let run = Asleep::new(&on)?.run();
    let text = check_error("a query that fails", run, |_| true)?;
    check_text(&text, &["query_event", "INJECTED"])?;
    let queued = recorder.count(|call| matches!(call, Call::HostFunction { .. }));
    check(queued == 1, || format!("inconclusive: {queued} host functions are queued"))
}

/// Sends data that is never complete.
#[operator(streams(tx))]
struct Poison {
    #[output]
    data: Buffer<f32>,
}

impl Compute for Poison {
    fn compute(&mut self, io: PoisonIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.tx)?;
        let mut data = cx.buffer(LEN, &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut data, 1.0, SLOW))?;
        if cx.tick() == 1 {
            stream.launch::<write_to_nowhere>(1, (&mut data,))?;
        }
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Victim {
    #[input]
    data: &Buffer<f32>,
    seen: Seen<u64>,
}

impl Compute for Victim {
    fn compute(&mut self, io: VictimIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.data.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, cx.tick());
        Ok(())
    }
}

graph! {
    struct Poisoned(seen: Seen<u64>) {
        #[when(count(5))] let poison: Poison = Poison::new();
        #[when(stream_done(data))]
        let victim: Victim = Victim::new(seen);
        poison.data >> victim.data;
    }
}

/// CUDA calls no host functions of a dead context, so that a condition that depends on one waits forever. Here the run
/// ends with the error.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    let platform = child::platform(role)?;
    let (seen, start) = (Seen::default(), Instant::now());
    let run = Poisoned::new(&platform, seen.clone())?.run();
    check_error("a poisoned stream", run, |_| true)?;
    check(all(&seen).len() < 2, || format!("the victim ran on poisoned data: {seen:?}"))?;
    let took = start.elapsed();
    check(took < Duration::from_secs(20), || format!("the run took {took:?}"))
}

/// Reads slowly and returns while its kernel runs.
#[operator]
struct SlowSink {
    #[input]
    image: &Tensor<f32>,
    copies: Seen<(f32, Download<f32>)>,
}

impl Compute for SlowSink {
    fn compute(&mut self, io: SlowSinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut copy, image, SLOW / 2))?;
        push_seen(&self.copies, (cx.tick() as f32, cx.download(&copy, &stream)?));
        Ok(())
    }
}

graph! {
    struct UsedAgain(copies: Seen<(f32, Download<f32>)>) {
        #[when(count(6))] let tx: Tx = Tx::new(0.0, true, 0);
        let rx: SlowSink = SlowSink::new(copies);
        tx.image >> rx.image;
    }
}

/// The producer gets a block that a sink's kernel still reads, and waits for the kernel.
fn used_again(platform: &Platform) -> Result<bool> {
    let copies = Seen::default();
    UsedAgain::new(platform, copies.clone())?.run()?;
    let Ok(copies) = copies.lock() else { return Ok(false) };
    let mut right = copies.len() == 6;
    for (value, copy) in copies.iter() {
        right &= copy.wait_blocking()?.iter().all(|x| x == value);
    }
    Ok(right)
}

/// Works on the default stream, with data of a non-blocking stream.
#[operator]
struct DefaultRx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for DefaultRx {
    fn compute(&mut self, io: DefaultRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, holds(cx, image, &cx.default_stream()?, cx.tick() as f32)?);
        Ok(())
    }
}

graph! {
    struct OnDefault(seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().flags(StreamFlags::NonBlocking);
        #[streams(STREAMS)] #[when(count(4))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)]
        let rx: DefaultRx = DefaultRx::new(seen);
        tx.image >> rx.image;
    }
}

fn on_default(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    OnDefault::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 4])
}

/// In Holoscan, a second run uses streams that the first has returned.
fn second_run(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    let mut graph = OnDefault::new(platform, seen.clone())?;
    graph.run()?;
    graph.run()?;
    Ok(all(&seen) == [true; 8])
}
