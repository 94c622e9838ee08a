//! Causes that break a replay or switch it off, and errors of calls that were held back.

use std::sync::Arc;

use streamflow::Schedule;
use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow::schedule::Report;
use streamflow_driver::driver::replay::Replays;
use streamflow_tests::forms::Form;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::data::{Diamond, FEW, TICKS, few, not_asked, replayed};
use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .except(Form::ReplayedAlways, "its subject follows a pass without a graph", |suite| {
            suite
                .seeded("a_held_back_launch_that_fails_names_its_operator", held_back)
                .seeded("a_graph_that_can_t_be_made_is_sent", not_made)
                .both("grids_that_always_change_switch_replay_off", changing)
                .seeded("a_run_that_gives_up_leaves_calls_direct", given_up)
        })
        .seeded("a_graph_that_can_t_be_launched_is_sent", not_launched)
        .both("a_handle_that_was_given_out_breaks_replay", given_out)
        .both("two_graphs_in_turn_are_both_replayed", two_graphs)
        .seeded("calls_are_direct_again_when_runs_have_ended", direct_again)
}

/// Adds the tests of graphs that replay nothing.
pub(crate) fn add_others(suite: Suite) -> Suite {
    suite
        .both("a_graph_that_does_not_ask_is_not_replayed", not_asked)
        .seeded("a_driver_that_does_not_replay_says_so", another_driver)
        .both("workers_switch_replay_off", workers)
        .both("a_node_that_goes_on_after_failures_switches_replay_off", on_failure)
}

const NEVER: u64 = u64::MAX;

/// Returns a platform that replays above a driver in which a call fails.
fn failing(seed: u64, kind: CallKind) -> Result<(Arc<FailNth>, Platform), Failed> {
    let host: Arc<dyn Driver> = Arc::new(HostDriver::builder().seed(seed).build());
    let failing = Arc::new(FailNth::new(host, kind, u64::MAX));
    let platform =
        Platform::builder().memory(FEW).driver(Arc::new(Replaying::over(failing.clone())))?;
    Ok((failing, platform))
}

fn held_back(seed: u64) -> Result<(), Failed> {
    let (failing, platform) = failing(seed, CallKind::Launch)?;
    let blocks = |tick| 1 + usize::from(tick >= TICKS);
    let mut graph = Widening::new(&platform, NEVER, blocks, Got::default())?;
    for _ in 0..TICKS {
        graph.tick()?;
    }
    failing.fail_next();
    // The grid of `wide` changes in this tick, so the launches of `source` that were held back are sent.
    let error = match graph.tick() {
        Err(error) => error.to_string(),
        Ok(_) => return Err(Failed::msg("no error")),
    };
    check(failing.has_failed(), || "no launch has failed".into())?;
    check_text(&error, &["INJECTED", "kernel `bump`", "operator `source`", "replay had held back"])
}

fn not_launched(seed: u64) -> Result<(), Failed> {
    let (failing, platform) = failing(seed, CallKind::LaunchGraph)?;
    let got = Got::default();
    let mut graph = Diamond::new(&platform, NEVER, NEVER, got.clone())?;
    for tick in 0..TICKS {
        if tick == TICKS / 2 {
            failing.fail_next();
        }
        graph.tick()?;
    }
    let report = graph.end_run()?;
    check(failing.has_failed(), || "no launch has failed".into())?;
    check_equal(seen::all(&got), vec![expected(TICKS, NEVER)])?;
    check_text(&report.to_string(), &["the launch of a graph failed"])
}

fn not_made(seed: u64) -> Result<(), Failed> {
    let (failing, platform) = failing(seed, CallKind::CreateGraph)?;
    failing.fail_next();
    let got = Got::default();
    let report = Diamond::new(&platform, TICKS, NEVER, got.clone())?.run()?;
    check(failing.has_failed(), || "no graph has failed".into())?;
    check_equal(seen::all(&got), vec![expected(TICKS, NEVER)])?;
    check_text(&report.to_string(), &["no graph could be made"])
}

/// Checks that the report of a run says that nothing was replayed, for this reason.
fn is_off(report: &Report, why: &str) -> Result<(), Failed> {
    let replay = replayed(report)?;
    check_equal(replay.replayed, 0)?;
    check_text(&report.to_string(), &["off: ", why])
}

fn another_driver(seed: u64) -> Result<(), Failed> {
    let host = Arc::new(HostDriver::builder().seed(seed).build());
    let platform = Platform::builder().driver(host)?;
    let report = Diamond::new(&platform, 8, NEVER, Got::default())?.run()?;
    is_off(&report, "`streamflow::driver::replay::Replaying`")
}

fn workers(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let mut graph = Diamond::new(platform, 40, NEVER, got.clone())?;
    let report = graph.workers(2)?.run()?;
    check_equal(seen::all(&got), vec![expected(40, NEVER)])?;
    is_off(&report, "workers run the graph")
}

graph! {
    #[replay]
    struct Recovering(got: Got) {
        #[when(count(40))] let source: Source = Source::new(None);
        #[on_failure(skip)] let fold: Fold = Fold::new(None, got);
        source.image >> fold.image;
    }
}

fn on_failure(platform: &Platform) -> Result<(), Failed> {
    let report = Recovering::new(platform, Got::default())?.run()?;
    is_off(&report, "node `fold` has `#[on_failure]`")
}

/// An operator that launches a kernel with more or fewer blocks. Only the first block has work.
#[operator]
struct Wide {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    blocks: fn(u64) -> usize,
}

impl Compute for Wide {
    fn compute(&mut self, io: WideIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        let grid = Grid::blocks((self.blocks)(cx.tick())).threads(LEN);
        stream.launch::<tagged>(grid, (&mut out, image, 7))?;
        io.out.emit(out)
    }
}

graph! {
    #[replay]
    struct Widening(ticks: u64, blocks: fn(u64) -> usize, got: Got) {
        #[when(count(ticks))] let source: Source = Source::new(None);
        let wide: Wide = Wide::new(blocks);
        let fold: Fold = Fold::new(None, got);
        source.image >> wide.image;
        wide.out >> fold.image;
    }
}

fn changing(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let blocks = |tick| 1 + tick as usize;
    let report = Widening::new(&few(platform)?, 300, blocks, got.clone())?.run()?;
    let (mut state, mut fold) = (0_u32, 0_u32);
    for _ in 0..300 {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = state.wrapping_mul(5).wrapping_add(1);
        fold = fold.wrapping_mul(31).wrapping_add(image.wrapping_mul(5).wrapping_add(7));
    }
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    is_off(&report, "none of 128 passes in a row was replayed")
}

/// An operator like `Step` that takes the handle of its stream before one of its ticks.
#[operator]
struct Handed {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    at: u64,
}

impl Compute for Handed {
    fn compute(&mut self, io: HandedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if cx.tick() == self.at {
            let _handle = stream.raw();
        }
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<tagged>(LEN, (&mut out, image, 2))?;
        io.out.emit(out)
    }
}

graph! {
    #[replay]
    struct Handing(ticks: u64, at: u64, got: Got) {
        #[when(count(ticks))] let source: Source = Source::new(None);
        let handed: Handed = Handed::new(at);
        let fold: Fold = Fold::new(None, got);
        source.image >> handed.image;
        handed.out >> fold.image;
    }
}

fn given_out(platform: &Platform) -> Result<(), Failed> {
    let platform = few(platform)?;
    let mut replays = Vec::new();
    // The order of these runs matters: after a stream's handle was given out, work on that stream is never held back
    // again, also in another graph.
    for at in [NEVER, TICKS / 2] {
        let got = Got::default();
        let report = Handing::new(&platform, TICKS, at, got.clone())?.run()?;
        let (mut state, mut fold) = (0_u32, 0_u32);
        for _ in 0..TICKS {
            state = state.wrapping_mul(3).wrapping_add(1);
            let image = state.wrapping_mul(5).wrapping_add(1).wrapping_mul(5).wrapping_add(2);
            fold = fold.wrapping_mul(31).wrapping_add(image);
        }
        check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
        replays.push(replayed(&report)?.replayed);
    }
    // From the middle of the run on, nothing is replayed.
    check(replays[0] > TICKS / 2 && replays[1] < TICKS / 2, || format!("{replays:?}"))
}

fn two_graphs(platform: &Platform) -> Result<(), Failed> {
    let (one, other) = (Got::default(), Got::default());
    let platform = few(platform)?;
    let mut first = Diamond::new(&platform, NEVER, NEVER, one.clone())?;
    let mut second = Diamond::new(&platform, NEVER, NEVER, other.clone())?;
    for _ in 0..TICKS {
        first.tick()?;
        second.tick()?;
    }
    let reports = [first.end_run()?, second.end_run()?];
    for (got, report) in [one, other].iter().zip(&reports) {
        check_equal(seen::all(got), vec![expected(TICKS, NEVER)])?;
        check(replayed(report)?.replayed > TICKS / 4, || report.to_string())?;
    }
    Ok(())
}

/// Returns a platform, and its driver. The driver shows whether calls are made directly.
fn replaying(seed: u64) -> Result<(Platform, Arc<dyn Driver>), Failed> {
    let host = Arc::new(HostDriver::builder().seed(seed).build());
    let driver = Arc::new(Replaying::over(host));
    Ok((Platform::builder().memory(FEW).driver(driver.clone())?, driver))
}

fn check_direct(driver: &Arc<dyn Driver>, is_direct: bool, when: &str) -> Result<(), Failed> {
    let holds_back = driver.observer().replays().map(Replays::holds_back);
    check(holds_back == Some(!is_direct), || format!("{when}: {holds_back:?}"))
}

/// Checks that calls are direct again after a run has ended: by `run`, by ticks, by an error, and when the graph
/// is dropped in the middle of a run.
fn direct_again(seed: u64) -> Result<(), Failed> {
    let (platform, driver) = replaying(seed)?;
    check_direct(&driver, true, "before the first run")?;
    for _ in 0..2 {
        let got = Got::default();
        let report = Diamond::new(&platform, TICKS, NEVER, got.clone())?.run()?;
        check_equal(seen::all(&got), vec![expected(TICKS, NEVER)])?;
        check(replayed(&report)?.replayed > TICKS / 2, || report.to_string())?;
        check_direct(&driver, true, "after a run")?;
    }
    let mut graph = Diamond::new(&platform, NEVER, NEVER, Got::default())?;
    let mut other = Diamond::new(&platform, NEVER, NEVER, Got::default())?;
    for _ in 0..TICKS {
        graph.tick()?;
        other.tick()?;
    }
    graph.end_run()?;
    check_direct(&driver, false, "while another run replays")?;
    drop(other);
    let got = Got::default();
    Handing::new(&platform, TICKS, NEVER, got)?.run()?;
    check_direct(&driver, true, "after a graph was dropped, and a later run")?;
    let blocks = |tick| if tick < TICKS { 1 } else { usize::MAX };
    check(Widening::new(&platform, NEVER, blocks, Got::default())?.run().is_err(), || {
        "such a grid is accepted".into()
    })?;
    check_direct(&driver, true, "after an error")
}

fn given_up(seed: u64) -> Result<(), Failed> {
    let (platform, driver) = replaying(seed)?;
    let blocks = |tick| 1 + tick as usize;
    let mut graph = Widening::new(&platform, NEVER, blocks, Got::default())?;
    for _ in 0..200 {
        graph.tick()?;
    }
    check_direct(&driver, true, "after 128 passes in vain")?;
    graph.end_run()?;
    Ok(())
}
