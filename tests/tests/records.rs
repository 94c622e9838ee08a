//! Law 8: what a hook queued is recorded when it ends, if another stream may need it. Which streams a
//! graph has is partly known while compiling, and partly when they are used.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::Arc;

use streamflow::driver::{Call, Recorder};
use streamflow::prelude::*;
use streamflow_tests::kernels::fill;
use streamflow_tests::seen::{self, Seen, note};
use streamflow_tests::setup::recorded;
use streamflow_tests::tensors::LEN;
use streamflow_tests::{Failed, Suite, check};

const TICKS: usize = 4;

fn main() -> ExitCode {
    Suite::new()
        .both("a_default_stream_beside_the_declared_one", beside)
        .both("a_stream_that_is_named_while_running", named)
        .both("another_node_on_a_default_stream", another_node)
        .both("one_default_stream_alone_records_nothing", default_alone)
        .run()
}

/// Where a source works, which declares no stream.
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

/// Whether something was recorded since the last launch. When a consumer's hook begins, that is the
/// source's.
fn is_recorded(calls: &Recorder) -> bool {
    let calls = calls.calls();
    let since = calls.iter().rev().take_while(|call| !matches!(call, Call::Launch { .. }));
    since.into_iter().any(|call| matches!(call, Call::RecordEvent { .. }))
}

/// Receives on a stream of its own, or on the first that it finds.
#[operator]
struct Receives {
    #[input]
    image: &Tensor<f32>,
    calls: Arc<Recorder>,
    seen: Seen<bool>,
}

impl Compute for Receives {
    fn compute(&mut self, io: ReceivesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        note(&self.seen, is_recorded(&self.calls));
        io.image.receive().receive_cuda_stream(cx).map(drop)
    }
}

/// Receives on the default stream, and has no other.
#[operator]
struct OnDefault {
    #[input]
    image: &Tensor<f32>,
    calls: Arc<Recorder>,
    seen: Seen<bool>,
}

impl Compute for OnDefault {
    fn compute(&mut self, io: OnDefaultIo<'_>, cx: &ExecutionContext) -> Result<()> {
        note(&self.seen, is_recorded(&self.calls));
        let (image, default) = (io.image.receive(), cx.default_stream()?);
        let after = cx.synchronize_streams(image.streams(), &default)?;
        image.into_synchronized_data(&after).map(drop)
    }
}

graph! {
    /// One stream is declared: the consumer's internal one.
    struct Beside(on: On, calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Undeclared = Undeclared::new(on);
        let sink: Receives = Receives::new(calls, seen);
        source.image >> sink.image;
    }
}

graph! {
    /// One is declared: the source's.
    struct AnotherNode(calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Declared = Declared::new();
        #[streams(none)]
        let sink: OnDefault = OnDefault::new(calls, seen);
        source.image >> sink.image;
    }
}

graph! {
    /// None is declared.
    struct DefaultAlone(calls: Arc<Recorder>, seen: Seen<bool>) {
        #[when(count(TICKS as u64))]
        let source: Undeclared = Undeclared::new(On::Default);
        #[streams(none)]
        let sink: OnDefault = OnDefault::new(calls, seen);
        source.image >> sink.image;
    }
}

/// What the consumer saw in each tick.
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
    let seen =
        run(on, |platform, calls, seen| Beside::new(platform, On::Default, calls, seen)?.run())?;
    check(seen == [true; TICKS], || format!("{seen:?}"))
}

fn named(on: &Platform) -> Result<(), Failed> {
    let seen =
        run(on, |platform, calls, seen| Beside::new(platform, On::Named, calls, seen)?.run())?;
    check(seen == [true; TICKS], || format!("{seen:?}"))
}

/// That there is a second stream is known once the consumer has asked for it: after its first tick.
fn another_node(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| AnotherNode::new(platform, calls, seen)?.run())?;
    check(seen.len() == TICKS && seen[1..] == [true; TICKS - 1], || format!("{seen:?}"))
}

fn default_alone(on: &Platform) -> Result<(), Failed> {
    let seen = run(on, |platform, calls, seen| DefaultAlone::new(platform, calls, seen)?.run())?;
    check(seen == [false; TICKS], || format!("{seen:?}"))
}
