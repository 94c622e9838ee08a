//! Operators that keep a stream over ticks: by a library's plan, by a handle, by a name, or by adoption.

use streamflow::context::OnStream;
use streamflow::prelude::*;
use streamflow_tests::kernels::mixing::map;
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_plan_that_start_makes_has_a_stream_of_its_own", in_start)
        .both("a_plan_that_a_tick_makes_keeps_its_stream", in_a_tick)
        .both("an_operator_whose_handle_was_asked_for_keeps_its_stream", by_handle)
        .both("an_operator_that_names_streams_keeps_its_own", named)
        .both("an_operator_that_adopts_a_stream_works_on_it", adopting)
}

const TICKS: u64 = 5;

/// When a plan is made.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    InStart,
    InATick,
}

/// An operator that keeps a value which works on one stream only, as a library's plan.
#[operator]
struct Plans {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    made: Made,
    plan: Option<OnStream<u32>>,
    noted: Noted,
}

impl Compute for Plans {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.made == Made::InStart {
            self.plan = Some(cx.on_stream(&cx.internal_stream()?, |_| Ok(7))?);
        }
        Ok(())
    }

    fn compute(&mut self, io: PlansIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        if self.plan.is_none() {
            self.plan = Some(cx.on_stream(&stream, |_| Ok(7))?);
        }
        let Some(plan) = &mut self.plan else { return Ok(()) };
        let mut out = cx.tensor([LEN], &stream)?;
        plan.with(&stream, |tag| stream.launch::<map>(LEN, (&mut out, image, *tag, 0)))??;
        io.out.emit(out)
    }
}

graph! {
    struct WithPlan(streams: CudaStreamPool, made: Made, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let plans: Plans = Plans::new(made, None, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> plans.image;
        plans.out >> b.image;
        b.out >> sink.image;
    }
}

fn with_plan(
    platform: &Platform,
    streams: CudaStreamPool,
    made: Made,
) -> Result<(Noted, Vec<Image>), Failed> {
    let (noted, got) = (Noted::default(), Got::default());
    let mut graph = WithPlan::new(platform, streams, made, noted.clone(), got.clone())?;
    graph.run()?;
    // The operators keep their plans from one run to the next.
    graph.run()?;
    Ok((noted, seen::all(&got)))
}

/// Returns whether all ticks of a node were on one stream.
fn is_constant(noted: &Noted, node: &str) -> bool {
    let streams = streams_of(noted, node);
    streams.len() == 2 * TICKS as usize && streams.iter().all(|stream| *stream == streams[0])
}

fn in_start(platform: &Platform) -> Result<(), Failed> {
    let (_, expected) = with_plan(platform, per_operator(), Made::InStart)?;
    for depth in [1, 2] {
        let (noted, got) = with_plan(platform, planned(depth), Made::InStart)?;
        check_equal(got, expected.clone())?;
        check(is_constant(&noted, "plans"), || format!("{:?}", streams_of(&noted, "plans")))?;
        let own = streams_of(&noted, "plans").remove(0);
        for other in ["a", "b", "sink"] {
            check(!streams_of(&noted, other).contains(&own), || format!("{other} has it, too"))?;
        }
        check(share(&noted, "a", "b"), || "the others share".into())?;
    }
    Ok(())
}

fn in_a_tick(platform: &Platform) -> Result<(), Failed> {
    let (_, expected) = with_plan(platform, per_operator(), Made::InATick)?;
    for depth in [1, 2, 3] {
        let (noted, got) = with_plan(platform, planned(depth), Made::InATick)?;
        check_equal(got, expected.clone())?;
        check(is_constant(&noted, "plans"), || format!("{:?}", streams_of(&noted, "plans")))?;
        check_equal(is_constant(&noted, "a"), depth == 1)?;
    }
    Ok(())
}

/// An operator that gives its stream's handle to other code, which may keep it.
#[operator]
struct ByHandle {
    #[input]
    image: &Tensor<u32>,
    handle: Option<usize>,
}

impl Compute for ByHandle {
    fn compute(&mut self, io: ByHandleIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let handle = stream.raw().handle() as usize;
        if *self.handle.get_or_insert(handle) == handle {
            return Ok(());
        }
        Err(Failure::msg("the operator is on another stream than the one whose handle it had"))
    }
}

graph! {
    struct WithHandle(streams: CudaStreamPool) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let by_handle: ByHandle = ByHandle::new(None);
        source.image >> by_handle.image;
    }
}

fn by_handle(platform: &Platform) -> Result<(), Failed> {
    WithHandle::new(platform, planned(2))?.run()?;
    Ok(())
}

/// An operator with a declared stream beside the internal one.
#[operator(streams(copy))]
struct Named {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    noted: Noted,
}

impl Compute for Named {
    fn compute(&mut self, io: NamedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let copy = cx.allocate_cuda_stream(io.copy)?;
        let mut out = cx.tensor([LEN], &copy)?;
        copy.launch::<map>(LEN, (&mut out, image, 9, 0))?;
        io.out.set_cuda_stream(&copy).emit(out)
    }
}

graph! {
    struct WithNames(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let named: Named = Named::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> named.image;
        named.out >> sink.image;
    }
}

fn named(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    WithNames::new(platform, planned(1), noted.clone(), Got::default())?.run()?;
    check(!share(&noted, "a", "named"), || "`named` has streams of its own".into())?;
    // `sink` follows `a` only by way of `named`.
    check(share(&noted, "a", "sink"), || "`a` and `sink` share".into())
}

/// An operator that works on the stream that its message came on.
#[operator]
struct Adopts {
    #[input]
    image: &Tensor<u32>,
    noted: Noted,
}

impl Compute for Adopts {
    fn compute(&mut self, io: AdoptsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive().adopt();
        let (_, stream) = image.receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        Ok(())
    }
}

graph! {
    struct Adopting(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let adopts: Adopts = Adopts::new(noted.clone());
        #[streams(none)] let none: Adopts = Adopts::new(noted);
        source.image >> a.image;
        a.out >> (adopts.image, none.image);
    }
}

fn adopting(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    Adopting::new(platform, planned(2), noted.clone())?.run()?;
    let first = streams_of(&noted, "a").remove(0);
    for node in ["adopts", "none"] {
        let streams = streams_of(&noted, node);
        let all = streams.iter().all(|stream| *stream == streams[0]);
        let id = |text: &str| text.split(", pool").next().map(str::to_owned);
        check(all && id(&streams[0]) == id(&first), || format!("{streams:?}, not {first}"))?;
    }
    Ok(())
}
