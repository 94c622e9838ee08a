//! Scalar parameters of kernels that change. A replayed tick must use its own values, in one node or in all, back
//! and forth, in each rotation of buffers.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::driver::{Driver, Recorder};
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_driver::driver::replay::Omission;
use streamflow_tests::layers::{CallKind, FailNth, replaying_without};
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::data::{FEW, replayed};
use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("scalars_that_change_are_replayed", |platform| {
            let few = Platform::builder().memory(FEW).driver(platform.driver().clone())?;
            KINDS.iter().try_for_each(|tags| right(&few, *tags, 150))
        })
        .both("scalars_change_in_each_rotation_of_buffers", |platform| {
            KINDS.iter().try_for_each(|tags| right(platform, *tags, 150))
        })
        .seeded("scalars_that_are_not_set_are_wrong", |seed| {
            not_set(Arc::new(HostDriver::builder().seed(seed).build()))
        })
        .cuda("scalars_that_are_not_set_are_wrong", |_| not_set(Arc::new(CudaDriver::new()?)))
        .seeded("law12_a_tick_with_other_scalars_sets_them_and_no_more", |seed| {
            steady(Arc::new(HostDriver::builder().seed(seed).build()))
        })
        .cuda("law12_a_tick_with_other_scalars_sets_them_and_no_more", |_| {
            steady(Arc::new(CudaDriver::new()?))
        })
        .seeded("a_graph_whose_scalars_can_t_be_set_is_sent", failing)
}

/// The scalar that a node passes in a tick.
type Tag = fn(u64) -> u32;

/// The kinds of change: in one node, in all nodes, back and forth, and rarely.
const KINDS: [[Tag; 3]; 4] = [
    [|_| 1, |tick| tick as u32, |_| 3],
    [|tick| tick as u32, |tick| tick as u32 * 7, |tick| 1000 - tick as u32],
    [|tick| tick as u32 % 2, |tick| tick as u32 / 3 % 2, |_| 5],
    [|_| 4, |_| 5, |tick| u32::from(tick % 17 == 16)],
];

const TICKS: u64 = 60;

/// An operator that launches a kernel with a number that depends on the tick.
#[operator]
struct Tagged {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    tag: Tag,
}

impl Compute for Tagged {
    fn compute(&mut self, io: TaggedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<tagged>(LEN, (&mut out, image, (self.tag)(cx.tick())))?;
        io.out.emit(out)
    }
}

graph! {
    #[replay]
    struct Tags(ticks: u64, tags: [Tag; 3], got: Got) {
        #[when(count(ticks))] let source: Source = Source::new(None);
        let first: Tagged = Tagged::new(tags[0]);
        let second: Tagged = Tagged::new(tags[1]);
        let third: Tagged = Tagged::new(tags[2]);
        let join: Join = Join::new();
        let fold: Fold = Fold::new(None, got);
        source.image >> (first.image, second.image);
        second.out >> third.image;
        first.out >> join.a;
        third.out >> join.b;
        join.out >> fold.image;
    }
}

fn expected(ticks: u64, tags: [Tag; 3]) -> Vec<u32> {
    let (mut state, mut fold) = (0_u32, 0_u32);
    let next = |image: u32, tag: u32| image.wrapping_mul(5).wrapping_add(tag);
    for tick in 0..ticks {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = next(state, 1);
        let [first, second, third] = tags.map(|tag| tag(tick));
        let (a, b) = (next(image, first), next(next(image, second), third));
        fold = fold.wrapping_mul(31).wrapping_add(a.wrapping_mul(7).wrapping_add(b));
    }
    vec![fold; LEN]
}

fn right(platform: &Platform, tags: [Tag; 3], ticks: u64) -> Result<(), Failed> {
    let got = Got::default();
    let report = Tags::new(platform, ticks, tags, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(ticks, tags)])?;
    let replay = replayed(&report)?;
    let is_replayed =
        replay.replayed > ticks / 2 && (1..=replay.replayed).contains(&replay.changed);
    check(is_replayed, || report.to_string())?;
    check_text(&report.to_string(), &["of them with other parameters"])
}

fn not_set(below: Arc<dyn Driver>) -> Result<(), Failed> {
    for (omission, is_right) in [(None, true), (Some(Omission::Parameters), false)] {
        let driver = match omission {
            None => Replaying::over(below.clone()),
            Some(rule) => replaying_without(below.clone(), rule),
        };
        let platform = Platform::builder().memory(FEW).driver(Arc::new(driver))?;
        let got = Got::default();
        Tags::new(&platform, TICKS, KINDS[0], got.clone())?.run()?;
        check_equal(seen::all(&got) == vec![expected(TICKS, KINDS[0])], is_right)?;
    }
    Ok(())
}

fn steady(below: Arc<dyn Driver>) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(below));
    let driver = Arc::new(Replaying::over(recorder.clone()));
    let platform = Platform::builder().memory(FEW).driver(driver)?;
    // In the first kind of change, one node changes in each tick. In the second kind, all three nodes do.
    for (tags, nodes) in [(KINDS[0], 1), (KINDS[1], 3)] {
        let mut graph = Tags::new(&platform, u64::MAX, tags, Got::default())?;
        (0..TICKS).try_for_each(|_| graph.tick().map(drop))?;
        recorder.clear();
        (0..TICKS).try_for_each(|_| graph.tick().map(drop))?;
        let calls = recorder.calls();
        graph.end_run()?;
        let other = calls.iter().find(|call| {
            !matches!(
                call,
                Call::Bind { .. }
                    | Call::LaunchGraph { .. }
                    | Call::SetGraphKernel { .. }
                    | Call::RecordEvent { .. }
                    | Call::WaitEvent { .. }
            )
        });
        check(other.is_none(), || {
            format!("after warm-up: {}", other.map_or(String::new(), Call::to_string))
        })?;
        let is_set = |call: &&Call| matches!(call, Call::SetGraphKernel { .. });
        check_equal(calls.iter().filter(is_set).count() as u64, TICKS * nodes)?;
    }
    Ok(())
}

fn failing(seed: u64) -> Result<(), Failed> {
    let host: Arc<dyn Driver> = Arc::new(HostDriver::builder().seed(seed).build());
    let failing = Arc::new(FailNth::new(host, CallKind::SetGraphKernel, u64::MAX));
    let driver = Arc::new(Replaying::over(failing.clone()));
    let platform = Platform::builder().memory(FEW).driver(driver)?;
    let got = Got::default();
    let mut graph = Tags::new(&platform, u64::MAX, KINDS[1], got.clone())?;
    for tick in 0..TICKS {
        if tick == TICKS / 2 {
            failing.fail_next();
        }
        graph.tick()?;
    }
    let report = graph.end_run()?;
    check(failing.has_failed(), || "nothing has failed".into())?;
    check_equal(seen::all(&got), vec![expected(TICKS, KINDS[1])])?;
    check_text(
        &report.to_string(),
        &[
            "the parameters of a kernel could not be set in a graph; the log has the error, in `first`",
        ],
    )
}
