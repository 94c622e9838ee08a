//! Graphs with type and constant parameters, whose nodes are operators or graphs with ports.

use streamflow::prelude::*;
use streamflow::schedule::{Worker, Workers};
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::forms::Form;
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::{Camera, Cast, FrameSource, Invert, Show, Step};
use streamflow_tests::{Failed, Suite, check, check_equal, runs};

use super::calls_of;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_parameter_is_an_operator_or_a_graph", swapped)
        .both("nodes_of_parameters_have_names_and_accessors", names)
        .both("a_graph_with_parameters_stands_in_another_one", nested)
        .both("a_constant_is_the_length_of_arrays", lengths)
        .both("an_interface_shares_what_its_operator_gives", shared)
        .both("the_ports_of_a_graph_have_a_type_parameter", elements)
        .both("an_operator_of_a_parameter_is_made_again", restart)
        .both("nodes_of_parameters_are_on_their_worker", worker)
        .except(Form::Planned, "planned streams are shared", |suite| {
            suite.both("nodes_of_parameters_have_the_streams_of_a_pool", pool)
        })
        .plain("graphs_with_parameters_run_in_each_order::host", || {
            in_each_order(
                2,
                |platform| Counted::<Camera, Invert, 3>::new(platform, camera, |_| Invert::new()),
                |graph, done| {
                    done.map(drop)?;
                    judge(graph.show_mut(), &[-2.0, -3.0, -4.0])
                },
            )
        })
}

/// Adds the test that compares calls in their order.
pub(super) fn add_calls(suite: Suite) -> Suite {
    suite.both("a_graph_with_parameters_makes_the_calls_of_one_without", calls)
}

graph! {
    /// A source, a cast, and a chain of `N` steps.
    struct App<S: FrameSource, T, const N: usize>(source: fn() -> New<S>, step: fn(usize) -> New<T>)
    where
        T: Step,
    {
        let source: S = source();
        let cast: Cast = Cast::new();
        let steps: [T; N] = |i| step(i);
        let show: Show = Show::new(Vec::new());
        source.frame >> cast.src;
        cast.dst >> steps[0].src;
        for i in 1..N {
            steps[i - 1].dst >> steps[i].src;
        }
        steps[N - 1].dst >> show.image;
    }
}

graph! {
    /// As `App`, whose source is an operator: its ticks are counted.
    struct Counted<S: FrameSource, T: Step, const N: usize>(
        source: fn() -> New<S>,
        step: fn(usize) -> New<T>,
    ) {
        #[when(count(3))]
        let source: S = source();
        let cast: Cast = Cast::new();
        let steps: [T; N] = |i| step(i);
        let show: Show = Show::new(Vec::new());
        source.frame >> cast.src;
        cast.dst >> steps[0].src;
        for i in 1..N {
            steps[i - 1].dst >> steps[i].src;
        }
        steps[N - 1].dst >> show.image;
    }
}

graph! {
    struct Single {
        #[when(count(3))]
        let source: Camera = camera();
        let cast: Cast = Cast::new();
        let step_0: Invert = Invert::new();
        let step_1: Invert = Invert::new();
        let step_2: Invert = Invert::new();
        let show: Show = Show::new(Vec::new());
        source.frame >> cast.src;
        cast.dst >> step_0.src;
        step_0.dst >> step_1.src;
        step_1.dst >> step_2.src;
        step_2.dst >> show.image;
    }
}

graph! {
    /// A source that is a graph.
    #[implements(FrameSource)]
    struct Bright {
        output frame: Tensor<u8>;
        let camera: Camera = Camera::new(70, 100);
        camera.frame >> frame;
    }
}

graph! {
    /// A step that is a graph: changes the sign twice.
    #[implements(Step)]
    struct Twice {
        input src: Tensor<f32>;
        output dst: Tensor<f32>;
        let one: Invert = Invert::new();
        let two: Invert = Invert::new();
        src >> one.src;
        one.dst >> two.src;
        two.dst >> dst;
    }
}

type Plain = Counted<Camera, Invert, 3>;

runs!(Plain);

fn camera() -> Camera {
    Camera::new(70, 2)
}

fn judge(show: &mut Show, values: &[f32]) -> Result<(), Failed> {
    let seen: Vec<f32> = show.take_seen().iter().map(|(value, _)| *value).collect();
    check_equal(&seen[..], values)
}

fn swapped(platform: &Platform) -> Result<(), Failed> {
    let mut graph = App::<Camera, Invert, 3>::new(platform, camera, |_| Invert::new())?;
    graph.run_for(3)?;
    judge(graph.show_mut(), &[-2.0, -3.0, -4.0])?;
    let mut graph = App::<Bright, Invert, 1>::new(platform, Bright::new, |_| Invert::new())?;
    graph.run_for(2)?;
    judge(graph.show_mut(), &[-100.0, -101.0])?;
    let mut graph = App::<Bright, Twice, 2>::new(platform, Bright::new, |_| Twice::new())?;
    graph.run_for(2)?;
    judge(graph.show_mut(), &[100.0, 101.0])
}

fn names(platform: &Platform) -> Result<(), Failed> {
    let mut graph = App::<Bright, Twice, 2>::new(platform, Bright::new, |_| Twice::new())?;
    let report = graph.run_for(1)?;
    let names: Vec<&str> = report.nodes.iter().map(|node| &*node.name).collect();
    let steps = ["steps[0].one", "steps[0].two", "steps[1].one", "steps[1].two"];
    let wanted = ["source.camera", "cast"].into_iter().chain(steps).chain(["show"]);
    check_equal(names, wanted.collect::<Vec<_>>())?;
    for edge in [
        "source.camera.frame >> cast.src",
        "cast.dst >> steps[0].one.src",
        "steps[0].two.dst >> steps[1].one.src",
        "steps[1].two.dst >> show.image",
    ] {
        check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))?;
    }
    let mut graph = Plain::new(platform, camera, |_| Invert::new())?;
    let report = graph.run()?;
    let edge = "steps[0].dst >> steps[1].src";
    check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))?;
    // The accessors return the operators that the arguments name.
    let _: (&Camera, Vec<&Invert>) = (graph.source(), graph.steps().collect());
    let _: &mut Camera = graph.source_mut();
    check_equal(graph.steps_mut().count(), 3)
}

/// Checks that the calls of the driver are those of the graph without parameters, in the same order.
fn calls(platform: &Platform) -> Result<(), Failed> {
    let generic = calls_of(platform, |platform| {
        Ok(Plain::new(platform, camera, |_| Invert::new())?.run().map(drop)?)
    })?;
    let single = calls_of(platform, |platform| Ok(Single::new(platform)?.run().map(drop)?))?;
    check(generic.len() > 50, || format!("too few calls to compare:\n{}", generic.join("\n")))?;
    check_equal(generic, single)
}

graph! {
    /// A graph with ports and parameters: the last of `N` sources after a step.
    struct Part<S: FrameSource, T: Step, const N: usize>(source: fn(usize) -> New<S>, step: New<T>) {
        output first: Shared<Tensor<u8>>;
        output last: Tensor<f32>;
        let sources: [S; N] = |i| source(i);
        let cast: Cast = Cast::new();
        let step: T = step;
        sources[0].frame >> first;
        for i in 1..N - 1 {
            sources[i].frame >> _;
        }
        sources[N - 1].frame >> cast.src;
        cast.dst >> step.src;
        step.dst >> last;
    }
}

graph! {
    /// A graph with parameters around one.
    struct Around<T: Step>(step: New<T>) {
        output image: Tensor<f32>;
        output negated: Tensor<f32>;
        let part: Part<Camera, T, 4> = Part::new(|i| Camera::new(70, 10 * i as u8), step);
        let cast: Cast = Cast::new();
        let invert: Invert = Invert::new();
        part.first >> cast.src;
        cast.dst >> image;
        part.last >> invert.src;
        invert.dst >> negated;
    }
}

graph! {
    struct Outer {
        let around: Around<Twice> = Around::new(Twice::new());
        let one: Show = Show::new(Vec::new());
        let other: Show = Show::new(Vec::new());
        around.image >> one.image;
        around.negated >> other.image;
    }
}

fn nested(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Outer::new(platform)?;
    let report = graph.run_for(2)?;
    judge(graph.one_mut(), &[0.0, 1.0])?;
    judge(graph.other_mut(), &[-30.0, -31.0])?;
    for edge in [
        "around.part.sources[0].frame >> around.cast.src",
        "around.part.sources[3].frame >> around.part.cast.src",
        "around.part.step.two.dst >> around.invert.src",
    ] {
        check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))?;
    }
    let last: Vec<&Camera> = graph.around().part().sources().collect();
    check_equal(last.len(), 4)
}

fn lengths(platform: &Platform) -> Result<(), Failed> {
    let mut one = App::<Camera, Invert, 1>::new(platform, camera, |_| Invert::new())?;
    let mut many = App::<Camera, Invert, 40>::new(platform, camera, |_| Invert::new())?;
    check_equal(one.run_for(1)?.nodes.len(), 4)?;
    check_equal(many.run_for(1)?.nodes.len(), 43)?;
    judge(one.show_mut(), &[-2.0])?;
    judge(many.show_mut(), &[2.0])
}

operator_interface! {
    /// A source of numbers that have several owners.
    trait Numbers {
        output number: Shared<u64>;
    }
}

/// A source of the numbers of its ticks, plus a number.
#[operator(implements(Numbers))]
struct Count {
    #[output]
    number: u64,
    #[param]
    first: u64,
    fails: bool,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.fails {
            return Err(Failure::msg("no number"));
        }
        io.number.emit(self.first + cx.tick())
    }
}

/// Keeps the numbers, and the name of the thread of each tick.
#[operator]
struct List {
    #[input]
    number: &u64,
    got: Vec<u64>,
}

impl Compute for List {
    fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(*io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Lists<S: Numbers>(source: impl Fn() -> New<S> + Send + Clone + 'static) {
        #[when(count(2))]
        #[on_failure(restart(2, 1ms))]
        #[worker(numbers)]
        let source: S = source();
        let one: List = List::new(Vec::new());
        let other: List = List::new(Vec::new());
        source.number >> (one.number, other.number);
    }
}

fn shared(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Lists::<Count>::new(platform, || Count::new(5, false))?;
    graph.params().source().set_first(7)?;
    graph.run()?;
    check_equal(&graph.one().got, &graph.other().got)?;
    check_equal(&graph.one().got, &vec![7, 8])
}

fn restart(platform: &Platform) -> Result<(), Failed> {
    let made = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut graph = Lists::<Count>::new(platform, move || {
        let number = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Count::new(5, number == 0)
    })?;
    graph.run()?;
    check_equal(graph.one().got.len(), 1)
}

fn worker(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Lists::<Count>::new(platform, || Count::new(5, false))?;
    graph.workers(Workers::new(1).worker("numbers", Worker::new()))?;
    let report = graph.run()?;
    let source = report.nodes.iter().find(|node| node.name == "source");
    check_equal(source.map(|node| node.ticks), Some(2))?;
    check_equal(&graph.other().got, &vec![5, 6])
}

/// Hands a tensor on, by way of the host.
#[operator]
struct Scale<T: Element> {
    #[input]
    src: &Tensor<T>,
    #[output]
    dst: Tensor<T>,
}

impl<T: Element> Compute for Scale<T> {
    fn compute(&mut self, io: ScaleIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (src, stream) = io.src.receive().receive_cuda_stream(cx)?;
        let dst = cx.download(src, &stream)?.wait_blocking()?.to_vec();
        io.dst.emit(cx.upload(&dst)?)
    }
}

graph! {
    /// Two nodes of a type that has the type parameter of the graph, between ports that have it.
    struct Scaled<T: Element> {
        input src: &Tensor<T>;
        output dst: Tensor<T>;
        let one: Scale<T> = Scale::new();
        let others: [Scale<T>; 2] = |_| Scale::new();
        src >> one.src;
        one.dst >> others[0].src;
        others[0].dst >> others[1].src;
        others[1].dst >> dst;
    }
}

graph! {
    struct Bytes {
        #[when(count(2))]
        let camera: Camera = Camera::new(70, 9);
        let bytes: Scaled<u8> = Scaled::new();
        let cast: Cast = Cast::new();
        let floats: Scaled<f32> = Scaled::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> bytes.src;
        bytes.dst >> cast.src;
        cast.dst >> floats.src;
        floats.dst >> show.image;
    }
}

fn elements(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Bytes::new(platform)?;
    graph.run()?;
    judge(graph.show_mut(), &[9.0, 10.0])
}

graph! {
    struct OnPool<S: FrameSource, T: Step>(on_default: bool, source: New<S>, step: New<T>) {
        let POOL = CudaStreamPool::new().max_size(8).use_default_stream(on_default);
        #[streams(POOL)]
        let source: S = source;
        #[streams(POOL)]
        let cast: Cast = Cast::new();
        #[streams(POOL)]
        let step: T = step;
        #[streams(POOL)]
        let show: Show = Show::new(Vec::new());
        source.frame >> cast.src;
        cast.dst >> step.src;
        step.dst >> show.image;
    }
}

/// Checks that the nodes of parameters, and those in a graph, have their streams from the pool. With a pool of the default stream, only
/// the platform makes a stream, and else each of the five nodes makes one, too.
fn pool(platform: &Platform) -> Result<(), Failed> {
    let created = |on_default| -> Result<usize, Failed> {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut graph =
            OnPool::<Camera, Twice>::new(&platform, on_default, camera(), Twice::new())?;
        graph.run_for(2)?;
        judge(graph.show_mut(), &[2.0, 3.0])?;
        Ok(recorder.text().matches("create stream").count())
    };
    // On the default stream there are the streams of the platform alone, one for each device.
    check_equal(created(false)? - created(true)?, 5)
}
