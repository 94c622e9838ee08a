//! Law 8: the work of a hook is recorded at the end of the hook, if another stream may need it. Some streams of a
//! graph are known while compiling, and the others from their first use on.

use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::fill;
use streamflow_tests::seen::{self, Seen, all, push_seen};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::Counter;
use streamflow_tests::tensors::LEN;
use streamflow_tests::{Failed, Suite, check};

const TICKS: usize = 4;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_default_stream_beside_a_declared_stream_is_recorded", beside)
        .both("a_stream_named_at_run_time_is_recorded", named)
        .both("a_declared_stream_is_recorded_once_another_node_uses_a_default_stream", another_node)
        .both("a_graph_with_only_one_default_stream_records_nothing", default_alone)
        .both("a_graph_of_host_data_makes_no_call_of_the_driver", host_data)
}

/// The stream on which a source without declared streams works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Default,
    Named,
}

#[operator]
struct Undeclared {
    #[output]
    image: Tensor<f32>,
    on: On,
}

impl Compute for Undeclared {
    fn compute(&mut self, io: UndeclaredIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = match self.on {
            On::Default => cx.default_stream()?,
            On::Named => cx.allocate_cuda_stream_named("named")?,
        };
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 0.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator(streams(fill))]
struct Declared {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Declared {
    fn compute(&mut self, io: DeclaredIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 0.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Returns whether a record was made since the last launch, which is the source's launch when the consumer's hook
/// begins.
fn is_recorded(calls: &Recorder) -> bool {
    let calls = calls.calls();
    let since = calls.iter().rev().take_while(|call| !matches!(call, Call::Launch { .. }));
    since.into_iter().any(|call| matches!(call, Call::RecordEvent { .. }))
}

/// An operator that receives on its own stream, or on the first stream that it receives.
#[operator]
struct Receives {
    #[input]
    image: &Tensor<f32>,
    calls: Arc<Recorder>,
    seen: Seen<bool>,
}

impl Compute for Receives {
    fn compute(&mut self, io: ReceivesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, is_recorded(&self.calls));
        Ok(io.image.receive().receive_cuda_stream(cx).map(drop)?)
    }
}

/// An operator without a stream of its own, which receives on the default stream.
#[operator]
struct OnDefault {
    #[input]
    image: &Tensor<f32>,
    calls: Arc<Recorder>,
    seen: Seen<bool>,
}

impl Compute for OnDefault {
    fn compute(&mut self, io: OnDefaultIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, is_recorded(&self.calls));
        let (image, default) = (io.image.receive(), cx.default_stream()?);
        let after = cx.synchronize_streams(image.streams(), &default)?;
        Ok(image.into_synchronized_data(&after).map(drop)?)
    }
}

graph! {
    /// A graph in which a single stream is declared: the consumer's internal stream.
    struct Beside(on: On, calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Undeclared = Undeclared::new(on);
        let sink: Receives = Receives::new(calls, seen);
        source.image >> sink.image;
    }
}

graph! {
    /// A graph in which a single stream is declared: the source's.
    struct AnotherNode(calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Declared = Declared::new();
        #[streams(none)]
        let sink: OnDefault = OnDefault::new(calls, seen);
        source.image >> sink.image;
    }
}

graph! {
    /// A graph in which no stream is declared.
    struct DefaultAlone(calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Undeclared = Undeclared::new(On::Default);
        #[streams(none)]
        let sink: OnDefault = OnDefault::new(calls, seen);
        source.image >> sink.image;
    }
}

/// Returns, for each tick of the consumer, whether the source's work was recorded.
fn run(
    on: &Platform,
    run: impl FnOnce(&Platform, Arc<Recorder>, Seen<bool>) -> Result<()>,
) -> Result<Vec<bool>, Failed> {
    let (calls, platform) = recorded(on.driver().clone())?;
    let seen = Seen::default();
    run(&platform, calls, seen.clone())?;
    Ok(seen::all(&seen))
}

fn beside(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| {
        Ok(Beside::new(platform, On::Default, calls, seen)?.run().map(drop)?)
    })?;
    check(seen == [true; TICKS], || format!("{seen:?}"))
}

fn named(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| {
        Ok(Beside::new(platform, On::Named, calls, seen)?.run().map(drop)?)
    })?;
    check(seen == [true; TICKS], || format!("{seen:?}"))
}

/// Checks a graph whose second stream becomes known when the consumer uses it in its first tick.
fn another_node(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| {
        Ok(AnotherNode::new(platform, calls, seen)?.run().map(drop)?)
    })?;
    check(seen.len() == TICKS && seen[1..] == [true; TICKS - 1], || format!("{seen:?}"))
}

fn default_alone(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| {
        Ok(DefaultAlone::new(platform, calls, seen)?.run().map(drop)?)
    })?;
    check(seen == [false; TICKS], || format!("{seen:?}"))
}

#[operator]
struct PingRx {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for PingRx {
    fn compute(&mut self, io: PingRxIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    /// A graph with only host data.
    struct Ping(seen: Seen<u64>) {
        #[when(count(10))]
        let tx: Counter = Counter::new();
        let rx: PingRx = PingRx::new(seen);
        tx.number >> rx.number;
    }
}

/// Checks that an operator without device data owns no stream.
fn host_data(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    recorder.clear();
    let seen = Seen::default();
    Ping::new(&platform, seen.clone())?.run()?;
    let calls = recorder.calls();
    let other = calls.iter().find(|call| !matches!(call, Call::Bind { .. }));
    check(other.is_none(), || format!("a graph of host data made a call: {other:?}"))?;
    check(all(&seen) == (0..10).collect::<Vec<_>>(), || format!("{seen:?}"))
}
