//! N11–N16, N22: subjects related to streams in Holoscan's tests: dangling ports, conditions, fan-out, runs, cycles and
//! the status of operators, with device data behind slow kernels.

use streamflow::prelude::*;
use streamflow::schedule::{Activity, End, StoppedBy};
use streamflow::stream::Assign;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::{Suite, stalled};

use super::gxf::Rx;
use super::operators::{LEN, SLOW, Seen, Tx, all, floats, push_seen, value};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .ordered("n11_dangling_output", n11_dangling_output)
        .ordered("n12_message_conditions", n12_message_conditions)
        .ordered("n13_fan_out", n13_fan_out)
        .ordered("n14_multiple_run", n14_multiple_run)
        .ordered("n16_cycle", n16_cycle)
        .ordered("n22_operator_status", n22_operator_status)
}

graph! {
    struct Dangling(seen: Seen<f32>) {
        #[when(count(5))] let dangling: Tx = Tx::new(500.0, true, SLOW / 4);
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 4);
        let rx: Rx = Rx::new(seen);
        dangling.image >> _;
        tx.image >> rx.image;
    }
}

/// The memory of an output without readers is recycled only after its write. In Holoscan, an operator with an
/// unconnected input never runs; here it does not compile (`ui/edges`).
fn n11_dangling_output(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Dangling::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == floats(0..5))
}

/// One required input and one optional input.
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

/// Two required inputs.
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

/// An input is awaited unless it is `optional`: two messages give two ticks where both inputs are required, and four
/// where one is optional.
fn n12_message_conditions(platform: &Platform) -> Result<bool> {
    let (one, both) = (Seen::default(), Seen::default());
    // The other two messages wait at `both` for ever.
    stalled(greedy(Conditions::new(platform, one.clone(), both.clone())?)?.run())?;
    let (one, both) = (all(&one), all(&both));
    let needed: Vec<f32> = one.iter().map(|(a, _)| *a).collect();
    let found: Vec<f32> = one.iter().filter_map(|(_, b)| *b).collect();
    Ok(needed == floats(0..4) && found == [100.0, 101.0] && both == [(0.0, 100.0), (1.0, 101.0)])
}

graph! {
    struct FanOut(seen: Vec<Seen<f32>>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 2);
        let rx1: Rx = Rx::new(seen[0].clone());
        let rx2: Rx = Rx::new(seen[1].clone());
        let rx3: Rx = Rx::new(seen[2].clone());
        let rx4: Rx = Rx::new(seen[3].clone());
        let rx5: Rx = Rx::new(seen[4].clone());
        tx.image >> (rx1.image, rx2.image, rx3.image, rx4.image, rx5.image);
    }
}

/// One tensor for five readers, each on its own stream. Its memory is recycled after the last read.
fn n13_fan_out(platform: &Platform) -> Result<bool> {
    let seen: Vec<Seen<f32>> = (0..5).map(|_| Seen::default()).collect();
    FanOut::new(platform, seen.clone())?.run()?;
    Ok(seen.iter().all(|seen| all(seen) == floats(0..5)))
}

graph! {
    struct Again(seen: Seen<f32>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 4);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// A graph runs a second time, and twice on a thread of its own, as with `run_async`.
fn n14_multiple_run(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    let mut graph = Again::new(platform, seen.clone())?;
    graph.run()?;
    graph.run()?;
    for _ in 0..2 {
        let (back, done) = graph.spawn()?.join_with_graph()?;
        graph = back;
        done?;
    }
    Ok(all(&seen) == floats(0..5).repeat(4))
}

/// Adds one and sends the result to itself.
#[operator]
struct Step {
    #[input]
    tick: &Tensor<f32>,
    #[input]
    image: &Tensor<f32>,
    #[output]
    next: Tensor<f32>,
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tick.discard();
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut next = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut next, image, SLOW / 4))?;
        stream.launch::<add_one>(LEN, (&mut next,))?;
        io.next.emit(next)
    }
}

/// A tensor that is still being written when the graph receives it.
fn first(platform: &Platform, value: f32) -> Result<Tensor<f32>> {
    let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("first")?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.launch::<slow_fill>(LEN, (&mut image, value, SLOW))?;
    Ok(image)
}

graph! {
    struct Cycle(seen: Seen<f32>) {
        // On one stream, the two operators would be in order without a wait, and the control would find little.
        const STREAMS: CudaStreamPool = CudaStreamPool::new().assign(Assign::PerOperator);
        #[when(count(5))] let ticks: Tx = Tx::new(0.0, true, 0);
        #[streams(STREAMS)] let step: Step = Step::new();
        #[streams(STREAMS)] let rx: Rx = Rx::new(seen);
        ticks.image >> step.tick;
        step.next >> rx.image;
        #[feedback(initial = first(platform, 7.0)?)]
        step.next >> step.image;
    }
}

/// A message on a cycle arrives in the next tick. A cycle without `#[feedback]` does not compile (`ui/edges`).
fn n16_cycle(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Cycle::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == floats(8..13))
}

/// Finds the source, and stops the graph after some of its ticks.
#[operator]
struct Stopper {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
    found: Seen<(Activity, Activity)>,
}

impl Compute for Stopper {
    fn compute(&mut self, io: StopperIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, value(cx, image, &stream)?);
        push_seen(&self.found, (cx.activity_of("tx")?, cx.activity_of(cx.node())?));
        if !matches!(cx.activity_of("rx"), Err(Error::UnknownNode { .. })) {
            return Err(Failure::msg("a node was found that does not exist"));
        }
        if cx.ticks_of("tx")? == 4 {
            cx.stop_graph();
        }
        Ok(())
    }
}

graph! {
    struct Status(seen: Seen<f32>, found: Seen<(Activity, Activity)>) {
        let tx: Tx = Tx::new(0.0, true, SLOW / 2);
        let stopper: Stopper = Stopper::new(seen, found);
        tx.image >> stopper.image;
    }
}

/// An operator finds the others and their status, and stops the graph. Outside, a handle has the status of each: before
/// the end of the run, and after it.
fn n22_operator_status(platform: &Platform) -> Result<bool> {
    let (seen, found) = (Seen::default(), Seen::default());
    let running = greedy(Status::new(platform, seen.clone(), found.clone())?)?.spawn()?;
    let handle = running.handle();
    let report = running.join()?;
    let by = StoppedBy::StopGraph("stopper".into());
    let states = handle.status().nodes;
    let is_done = |name: &str, ticks| {
        states.iter().any(|node| {
            (node.name.as_str(), node.ticks, node.activity) == (name, ticks, Activity::Done)
        })
    };
    let right = report.end == End::Stopped { by }
        && is_done("tx", 4)
        && is_done("stopper", 4)
        && all(&found) == [(Activity::Idle, Activity::Computing); 4];
    if !right {
        return Err(Failure::msg(format!("{report}{states:?}{:?}", all(&found))));
    }
    Ok(all(&seen) == floats(0..4))
}
