//! A chain and a diamond: how many streams they use, and that their data is the same as with a stream for each
//! operator.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::mixing::map;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, seen};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_chain_shares_one_stream", chain)
        .both("a_diamond_has_two_streams", diamond)
        .both("ticks_use_the_sets_in_turn", in_turn)
        .both("an_operator_that_works_in_every_second_tick_uses_each_set", every_second)
        .both("a_chain_records_for_others_alone", records)
        .both("a_consumer_on_another_stream_waits_for_no_later_work", fork)
        .both("a_plan_is_drawn_with_its_streams_and_waits", drawn)
        .both("workers_run_a_planned_graph", workers)
}

const TICKS: u64 = 6;

graph! {
    struct Chain(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let c: Step = Step::new(3, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> b.image;
        b.out >> c.image;
        c.out >> sink.image;
    }
}

graph! {
    struct Diamond(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let c: Step = Step::new(3, noted.clone());
        #[streams(STREAMS)] let d: Join = Join::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> (b.image, c.image);
        b.out >> d.a;
        c.out >> d.b;
        d.out >> sink.image;
    }
}

/// Returns the data that a graph computes, and the streams that it used.
fn run<G: Graph>(
    platform: &Platform,
    new: impl Fn(&Platform, CudaStreamPool, Noted, Got) -> Result<G, Error>,
    streams: CudaStreamPool,
) -> Result<(Vec<Image>, Noted), Failed> {
    let (noted, got) = (Noted::default(), Got::default());
    let mut graph = new(platform, streams, noted.clone(), got.clone())?;
    streamflow::__private::run(&mut graph)?;
    Ok((seen::take(&got), noted))
}

fn chain(platform: &Platform) -> Result<(), Failed> {
    let (expected, noted) = run(platform, Chain::new, per_operator())?;
    check_equal(expected.len(), TICKS as usize)?;
    check_equal(used(&noted, 0), 4)?;
    for depth in [1, 2, 3] {
        let (got, noted) = run(platform, Chain::new, planned(depth))?;
        check_equal(got, expected.clone())?;
        for tick in 0..TICKS {
            check_equal(used(&noted, tick), 1)?;
        }
    }
    Ok(())
}

fn diamond(platform: &Platform) -> Result<(), Failed> {
    let (expected, noted) = run(platform, Diamond::new, per_operator())?;
    check_equal(used(&noted, 0), 5)?;
    let (got, noted) = run(platform, Diamond::new, planned(1))?;
    check_equal(got, expected)?;
    for tick in 0..TICKS {
        check_equal(used(&noted, tick), 2)?;
    }
    check(!share(&noted, "b", "c"), || "b and c could run at the same time".into())
}

fn in_turn(platform: &Platform) -> Result<(), Failed> {
    let (_, noted) = run(platform, Chain::new, planned(3))?;
    let a = streams_of(&noted, "a");
    check(a[0] != a[1] && a[1] != a[2] && a[0] != a[2], || format!("{a:?}"))?;
    check_equal(&a[..3], &a[3..])?;
    check(share(&noted, "a", "sink"), || format!("{:?}", seen::all(&noted)))
}

/// An operator that sends on every second image.
#[operator]
struct Halves {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    noted: Noted,
}

impl Compute for Halves {
    fn compute(&mut self, io: HalvesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            io.image.discard();
            return Ok(());
        }
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut out, image, 2, 0))?;
        io.out.emit(out)
    }
}

graph! {
    struct Halving(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(2 * TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let halves: Halves = Halves::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> halves.image;
        halves.out >> sink.image;
    }
}

fn every_second(platform: &Platform) -> Result<(), Failed> {
    let (expected, _) = run(platform, Halving::new, per_operator())?;
    for depth in [2, 4] {
        let (got, noted) = run(platform, Halving::new, planned(depth))?;
        check_equal(got, expected.clone())?;
        let streams = streams_of(&noted, "halves");
        let differ = streams.windows(2).all(|ticks| ticks[0] != ticks[1]);
        check(differ && share(&noted, "halves", "sink"), || format!("{streams:?}"))?;
    }
    Ok(())
}

/// Returns how many records and waits a run makes.
fn calls(platform: &Platform, streams: CudaStreamPool) -> Result<(usize, usize), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut graph = Chain::new(&platform, streams, Noted::default(), Got::default())?;
    graph.workers(Workers::none())?.run()?;
    let calls = recorder.calls();
    let count = |is: fn(&Call) -> bool| calls.iter().filter(|call| is(call)).count();
    let records = count(|call| matches!(call, Call::RecordEvent { .. }));
    Ok((records, count(|call| matches!(call, Call::WaitEvent { .. }))))
}

/// Checks the number of records. With a stream for each operator, each of the five operators has a record in each
/// tick. With planned streams, three have one: the source; the first operator of the chain, since the memory of
/// the source's image goes back to the source's stream; and the last. No other stream gets the images of the
/// nodes between them.
fn records(platform: &Platform) -> Result<(), Failed> {
    let (many, many_waits) = calls(platform, per_operator())?;
    let (few, few_waits) = calls(platform, planned(1))?;
    let ticks = TICKS as usize;
    check(many >= 5 * ticks && many_waits >= 4 * ticks, || format!("{many}, {many_waits}"))?;
    check(few <= many - 2 * ticks, || format!("{few} records, and {many} without a plan"))?;
    check(few_waits <= many_waits - 3 * ticks, || format!("{few_waits} and {many_waits} waits"))
}

graph! {
    struct Fork(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(1))] let source: Source = Source::new();
        #[streams(STREAMS)] let first: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let a: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(3, noted.clone());
        #[streams(STREAMS)] let c: Step = Step::new(4, noted);
        source.image >> first.image;
        first.out >> a.image;
        a.out >> (b.image, c.image);
        b.out >> _;
        c.out >> _;
    }
}

/// Checks that `c`, which does not share the stream of `a` and `b`, waits for a record from before the work of
/// `b`.
fn fork(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let noted = Noted::default();
    let mut graph = Fork::new(&platform, planned(1), noted.clone())?;
    graph.workers(Workers::none())?.run()?;
    check(share(&noted, "a", "b") && !share(&noted, "a", "c"), || "another plan".into())?;
    let calls = recorder.calls();
    // The launches of the source, `first`, `a`, `b` and `c`.
    let launches = calls.iter().enumerate().filter(|(_, call)| matches!(call, Call::Launch { .. }));
    let launches: Vec<usize> = launches.map(|(at, _)| at).collect();
    let [_, _, a, b, _] = launches[..] else { return Err(Failed::msg(recorder.text())) };
    let is_recorded = calls[a..b].iter().any(|call| matches!(call, Call::RecordEvent { .. }));
    check(is_recorded, || recorder.text())
}

fn drawn(platform: &Platform) -> Result<(), Failed> {
    let (noted, got) = (Noted::default(), Got::default());
    let mut graph = Diamond::new(platform, planned(2), noted.clone(), got.clone())?;
    let plan = graph.plan()?;
    let streams: Vec<_> = plan.streams().collect();
    check_equal(streams, vec![&["a", "b", "d", "sink"].map(String::from)[..], &["c".to_owned()]])?;
    let picture = plan.mermaid();
    check_text(
        &picture,
        &[
            "n1[\"a: Step\"]:::stream0",
            "n3[\"c: Step\"]:::stream1",
            "n0[\"source: Source\"]\n",
            "n0 == \"image → image, waits\" ==> n1",
            "n1 -- \"out → image, same stream\" --> n2",
            "n3 == \"out → b, waits\" ==> n4",
            "classDef stream1 fill:",
        ],
    )?;
    check_text(
        &plan.dot(),
        &[
            "digraph \"Diamond\" {",
            "\"n1\" [label=\"a: Step\", style=filled, fillcolor=",
            "\"n3\" -> \"n4\" [label=\"out → b, waits\", style=bold];",
            "\"n1\" -> \"n2\" [label=\"out → image, same stream\"];",
        ],
    )?;
    let plan = Diamond::new(platform, per_operator(), noted, got)?.plan()?;
    check_equal(plan.streams().count(), 0)?;
    check_text(&plan.mermaid(), &["n1 == \"out → image, waits\" ==> n2"])
}

fn workers(platform: &Platform) -> Result<(), Failed> {
    let (expected, _) = run(platform, Diamond::new, per_operator())?;
    for (depth, workers) in [(1, 2), (2, 2), (3, 4)] {
        let (noted, got) = (Noted::default(), Got::default());
        let mut graph = Diamond::new(platform, planned(depth), noted.clone(), got.clone())?;
        graph.workers(workers)?.run()?;
        check_equal(seen::all(&got), expected.clone())?;
        check_equal(used(&noted, 0), 2)?;
    }
    Ok(())
}
