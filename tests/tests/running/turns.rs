//! Graphs on threads of their own, in tests that are explored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{End, StoppedBy};
use streamflow::testing::{Explorer, explore, scope, yield_now};
use streamflow_tests::kernels::add_one;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, Tx};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("the_thread_of_a_run_takes_turns_and_a_seed_repeats_it", repeats)
        .plain("a_run_is_dropped_stopped_and_paused_at_every_turn", controls)
        .plain("a_report_in_a_pause_is_a_snapshot", snapshot)
        .plain("threads_of_a_scope_use_one_handle_by_turns", several)
        .plain("states_of_a_small_run_are_explored", states)
}

/// An operator that adds one.
#[operator]
struct AddOne {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for AddOne {
    fn compute(&mut self, io: AddOneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor(image.shape(), &stream)?;
        stream.copy(image, &mut copy)?;
        stream.launch::<add_one>(LEN, (&mut copy,))?;
        push_seen(&self.seen, cx.download(&copy, &stream)?.wait_blocking()?[0]);
        Ok(())
    }
}

graph! {
    struct Images(count: u64, seen: Seen<f32>) {
        #[when(count(count))] let tx: Tx = Tx::new(0.0, true, 4);
        let add: AddOne = AddOne::new(seen);
        tx.image >> add.image;
    }
}

fn wrong(what: impl std::fmt::Debug) -> Failure {
    Failure::msg(format!("{what:?}"))
}

/// Returns how far the graph is when another thread looks. This depends on the seed, and on nothing else.
fn looked_at(seed: u64) -> Result<u64> {
    let ticks = AtomicU64::new(0);
    Explorer::new()
        .first_seed(seed)
        .seeds(1)
        .run(|platform| {
            let seen = Seen::default();
            let running = Images::new(platform, 20, seen.clone())?.spawn()?;
            // Each of these calls may pass the turn to another thread.
            running.report()?;
            let other = platform.stream_pool("OTHER", &CudaStreamPool::new())?.allocate("other")?;
            other.synchronize_blocking()?;
            ticks.store(running.status().nodes[0].ticks, Ordering::SeqCst);
            let report = running.join()?;
            let expected: Vec<f32> = (1..21_u8).map(f32::from).collect();
            if all(&seen) == expected && report.ticks("add") == Some(20) {
                return Ok(());
            }
            Err(wrong((all(&seen), report)))
        })?
        .check()?;
    Ok(ticks.into_inner())
}

fn repeats() -> Result<(), Failed> {
    let first: Vec<u64> = (0..32).map(looked_at).collect::<Result<_>>()?;
    let again: Vec<u64> = (0..32).map(looked_at).collect::<Result<_>>()?;
    check_equal(&first, &again)?;
    check(first.iter().any(|ticks| *ticks != first[0]), || format!("all are alike: {first:?}"))
}

/// An operator that sends the numbers of its ticks. Its hook may lose the turn before and after it sends.
#[operator]
struct Sends {
    #[output]
    number: u64,
}

impl Compute for Sends {
    fn compute(&mut self, io: SendsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        yield_now();
        io.number.emit(cx.tick())?;
        yield_now();
        Ok(())
    }
}

/// A sink that receives numbers.
#[operator]
struct Takes {
    #[input]
    number: u64,
}

impl Compute for Takes {
    fn compute(&mut self, io: TakesIo<'_>, _: &ExecutionContext) -> Result<()> {
        yield_now();
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Lossy() {
        let sends: Sends = Sends::new();
        let takes: Takes = Takes::new();
        #[policy(pop)] sends.number >> takes.number;
    }
}

/// Checks that nothing changes while a run is paused, and that each message was received, was dropped, or is the
/// one that waits.
fn snapshot() -> Result<(), Failed> {
    for workers in 1..4 {
        explore(|platform| {
            let mut graph = Lossy::new(platform)?;
            graph.workers(workers)?;
            let running = graph.spawn()?;
            (0..30).for_each(|_| {
                yield_now();
            });
            running.pause()?;
            let report = running.report()?;
            let ticks = |node| report.ticks(node).unwrap_or_default();
            let dropped: u64 = report.dropped.iter().map(|dropped| dropped.messages).sum();
            let waiting = ticks("sends").checked_sub(ticks("takes") + dropped);
            if waiting.is_none_or(|waiting| waiting > 1) || running.report()? != report {
                return Err(wrong((report, running.report()?)));
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn controls() -> Result<(), Failed> {
    explore(|platform| {
        let seen = Seen::default();
        drop(Images::new(platform, 20, seen.clone())?.spawn()?);
        let mut images = Images::new(platform, 1000, seen.clone())?;
        images.workers(4)?;
        let running = images.spawn()?;
        running.pause()?;
        let ticks = running.report()?.ticks("tx");
        if running.report()?.ticks("tx") != ticks {
            return Err(wrong("it ran during the pause"));
        }
        running.resume()?;
        running.report()?;
        running.stop();
        let (mut graph, done) = running.join_with_graph()?;
        if done?.end != (End::Stopped { by: StoppedBy::Handle }) {
            return Err(wrong("not stopped"));
        }
        let mut running = {
            let read = all(&seen).len();
            if read >= 1000 {
                return Err(wrong("it was not stopped"));
            }
            graph.run_for(2)?;
            graph.spawn()?
        };
        running.pause()?;
        match running.join_timeout(Duration::from_millis(10)) {
            Err(Error::StillRunning { .. }) => Ok(()),
            other => Err(wrong(other)),
        }
    })?;
    Ok(())
}

fn several() -> Result<(), Failed> {
    explore(|platform| {
        let seen = Seen::default();
        let running = Images::new(platform, 50, seen)?.spawn()?;
        let stops = Arc::new(AtomicU64::new(0));
        scope(|scope| {
            for _ in 0..3 {
                let (handle, stops) = (running.handle(), stops.clone());
                scope.spawn(move || {
                    while !handle.is_over()
                        && handle.report().is_ok_and(|it| it.ticks("add") < Some(3))
                    {
                    }
                    stops.fetch_add(1, Ordering::SeqCst);
                    handle.stop();
                });
            }
        });
        let report = running.join()?;
        let right = report.ticks("add") >= Some(3) && stops.load(Ordering::SeqCst) == 3;
        if right { Ok(()) } else { Err(wrong(report)) }
    })?;
    Ok(())
}

fn states() -> Result<(), Failed> {
    let found = Explorer::new().max_runs(200).run_exhaustively(|platform| {
        let seen = Seen::default();
        let running = Images::new(platform, 1, seen.clone())?.spawn()?;
        let report = running.join()?;
        if (all(&seen), report.ticks("add")) == (vec![1.0], Some(1)) {
            return Ok(());
        }
        Err(wrong(report))
    })?;
    check(found.failing.is_none() && found.runs > 1, || found.to_string())
}
