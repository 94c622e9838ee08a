//! Graphs with ports, which are nodes of other graphs.

mod array_ports;
mod arrays;
mod diagrams;
mod errors;
mod examples;
mod generics;
mod harness;
mod parameters;
mod pools;
mod ports;

use streamflow::prelude::*;
use streamflow::schedule::{Worker, Workers};
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::forms::Form;
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::{Camera, Cast, Fuse, Invert, Show};
use streamflow_tests::{Failed, Suite, check, check_equal, runs};

pub(crate) fn suite() -> Suite {
    let suite = arrays::add(parameters::add(errors::add(Suite::new())));
    let suite = harness::add(ports::add(pools::add(generics::add(suite))));
    let suite = diagrams::add(array_ports::add(suite));
    let why = "the calls of workers, and of a host beside passes that are captured, have no order";
    let suite = suite.except(Form::Workers, why, |suite| {
        suite.except(Form::ReplayedAlways, why, |suite| {
            let suite = generics::add_calls(arrays::add_calls(examples::add(suite)));
            suite.both("the_calls_are_those_of_the_flat_twin", calls)
        })
    });
    suite
        .both("a_graph_in_a_graph_computes_what_its_flat_twin_computes", twins)
        .both("nodes_and_edges_have_paths", paths)
        .except(Form::Planned, "planned streams are shared", |suite| {
            suite.both("nodes_inside_share_a_pool_from_outside", pool)
        })
        .both("nodes_inside_are_on_the_worker_of_the_graph", worker)
        .both("an_output_has_readers_inside_and_outside", readers)
        .both("a_first_message_reaches_each_node_inside", feedback)
        .both("graphs_replay_ticks_of_graphs_inside", replay)
        .plain("graphs_in_graphs_run_in_each_order::host", || {
            in_each_order(
                2,
                |platform| Nested::new(platform, 3),
                |graph, done| {
                    done.map(drop)?;
                    judge(&mut graph.show_mut().take_seen())
                },
            )
        })
}

graph! {
    /// Converts frames, and changes their signs.
    pub struct Preprocess {
        /// The frame.
        input frame: &Tensor<u8>;
        /// The negated image.
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let invert: Invert = Invert::new();
        frame >> cast.src;
        cast.dst >> invert.src;
        invert.dst >> image;
    }
}

graph! {
    /// The depth of two frames.
    struct Depth {
        input left: &Tensor<u8>;
        input right: &Tensor<u8>;
        output depth: Tensor<f32>;
        let one: Preprocess = Preprocess::new();
        let other: Preprocess = Preprocess::new();
        let fuse: Fuse = Fuse::new();
        left >> one.frame;
        right >> other.frame;
        one.image >> fuse.left;
        other.image >> fuse.right;
        fuse.depth >> depth;
    }
}

graph! {
    struct Nested(ticks: u64) {
        #[when(count(ticks))]
        let first: Camera = Camera::new(70, 1);
        #[when(count(ticks))]
        let second: Camera = Camera::new(70, 4);
        let depth: Depth = Depth::new();
        let show: Show = Show::new(Vec::new());
        first.frame >> depth.left;
        second.frame >> depth.right;
        depth.depth >> show.image;
    }
}

graph! {
    struct Flat(ticks: u64) {
        #[when(count(ticks))]
        let first: Camera = Camera::new(70, 1);
        #[when(count(ticks))]
        let second: Camera = Camera::new(70, 4);
        let depth_one_cast: Cast = Cast::new();
        let depth_one_invert: Invert = Invert::new();
        let depth_other_cast: Cast = Cast::new();
        let depth_other_invert: Invert = Invert::new();
        let depth_fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());
        depth_one_cast.dst >> depth_one_invert.src;
        depth_other_cast.dst >> depth_other_invert.src;
        depth_one_invert.dst >> depth_fuse.left;
        depth_other_invert.dst >> depth_fuse.right;
        first.frame >> depth_one_cast.src;
        second.frame >> depth_other_cast.src;
        depth_fuse.depth >> show.image;
    }
}

runs!(Nested, Flat);

/// Checks the first values of the images of 3 ticks.
fn judge(seen: &mut Vec<(f32, Option<u64>)>) -> Result<(), Failed> {
    check_equal(std::mem::take(seen), vec![(3.0, None); 3])
}

fn twins(platform: &Platform) -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let mut nested = Nested::new(platform, 3)?;
        let mut flat = Flat::new(platform, 3)?;
        nested.workers(workers.clone())?;
        flat.workers(workers)?;
        for _ in 0..2 {
            nested.run()?;
            judge(&mut nested.show_mut().take_seen())?;
            flat.run()?;
            judge(&mut flat.show_mut().take_seen())?;
        }
    }
    Ok(())
}

/// Checks that the calls of the driver are those of the flat graph, in the same order.
fn calls(platform: &Platform) -> Result<(), Failed> {
    let nested = calls_of(platform, |platform| Ok(Nested::new(platform, 3)?.run().map(drop)?))?;
    let flat = calls_of(platform, |platform| Ok(Flat::new(platform, 3)?.run().map(drop)?))?;
    check(nested.len() > 100, || format!("too few calls to compare:\n{}", nested.join("\n")))?;
    check_equal(nested, flat)
}

/// Returns the calls of the driver that `run` makes.
fn calls_of(
    platform: &Platform,
    mut run: impl FnMut(&Platform) -> Result<(), Failed>,
) -> Result<Vec<String>, Failed> {
    // The first run compiles the kernels.
    run(platform)?;
    let (recorder, platform) = recorded(platform.driver().clone())?;
    run(&platform)?;
    // Which pinned memory is free depends on the host.
    let call = |line: &str| match line.split_once("pinned ") {
        Some((before, after)) => {
            let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}pinned{after}")
        }
        None => line.to_owned(),
    };
    Ok(recorder.text().lines().map(call).collect())
}

fn paths(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Nested::new(platform, 2)?;
    let report = graph.run()?;
    let names: Vec<&str> = report.nodes.iter().map(|node| &*node.name).collect();
    let inside = ["one.cast", "one.invert", "other.cast", "other.invert", "fuse"];
    let inside = inside.map(|name| format!("depth.{name}"));
    let mut wanted = vec!["first", "second"];
    wanted.extend(inside.iter().map(|name| &**name));
    wanted.push("show");
    check_equal(names, wanted)?;
    let mut edges: Vec<&str> = report.edges.iter().map(|edge| edge.edge).collect();
    edges.sort_unstable();
    check_equal(
        edges,
        vec![
            "depth.fuse.depth >> show.image",
            "depth.one.cast.dst >> depth.one.invert.src",
            "depth.one.invert.dst >> depth.fuse.left",
            "depth.other.cast.dst >> depth.other.invert.src",
            "depth.other.invert.dst >> depth.fuse.right",
            "first.frame >> depth.one.cast.src",
            "second.frame >> depth.other.cast.src",
        ],
    )
}

graph! {
    struct OnePool(ticks: u64, on_default: bool) {
        let POOL = CudaStreamPool::new().max_size(4).use_default_stream(on_default);
        #[when(count(ticks))]
        #[streams(POOL)]
        let camera: Camera = Camera::new(70, 1);
        #[streams(POOL)]
        let preprocess: Preprocess = Preprocess::new();
        #[streams(POOL)]
        let show: Show = Show::new(Vec::new());
        camera.frame >> preprocess.frame;
        preprocess.image >> show.image;
    }
}

/// Checks that the nodes inside have their streams from the pool of the graph. With a pool of the default stream, only the
/// platform makes a stream, and else each of the four nodes makes one, too.
fn pool(platform: &Platform) -> Result<(), Failed> {
    let created = |on_default| -> Result<usize, Failed> {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut graph = OnePool::new(&platform, 3, on_default)?;
        graph.run()?;
        let seen: Vec<f32> = graph.show_mut().take_seen().iter().map(|(value, _)| *value).collect();
        check_equal(seen, vec![-1.0, -2.0, -3.0])?;
        Ok(recorder.text().matches("create stream").count())
    };
    // On the default stream there are the streams of the platform alone, one for each device.
    check_equal(created(false)? - created(true)?, 4)
}

/// Notes the thread of each tick.
#[operator]
struct Thread {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    names: Vec<String>,
}

impl Compute for Thread {
    fn compute(&mut self, io: ThreadIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        self.names.push(std::thread::current().name().unwrap_or_default().to_owned());
        io.out.emit(n)
    }
}

graph! {
    struct Threads {
        input n: &u64;
        output out: u64;
        let free: Thread = Thread::new(Vec::new());
        #[streams(none)]
        let adopting: Thread = Thread::new(Vec::new());
        #[worker(own)]
        let pinned: Thread = Thread::new(Vec::new());
        n >> free.n;
        free.out >> adopting.n;
        adopting.out >> pinned.n;
        pinned.out >> out;
    }
}

/// A source of the numbers of its ticks.
#[operator]
struct Count {
    #[output]
    n: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

graph! {
    struct OnWorkers {
        #[when(count(3))]
        let count: Count = Count::new();
        #[worker(disk)]
        let threads: Threads = Threads::new();
        count.n >> threads.n;
        threads.out >> _;
    }
}

fn worker(platform: &Platform) -> Result<(), Failed> {
    let mut graph = OnWorkers::new(platform)?;
    graph.workers(Workers::new(1).worker("disk", Worker::new()).worker("own", Worker::new()))?;
    graph.run()?;
    let threads = graph.threads();
    let free = [threads.free(), threads.adopting()].map(|thread| (&thread.names, "disk"));
    for (names, worker) in free.into_iter().chain([(&threads.pinned().names, "own")]) {
        check_equal(names.len(), 3)?;
        check(names.iter().all(|name| name.contains(worker)), || format!("{names:?}"))?;
    }
    Ok(())
}

graph! {
    /// Sends the numbers on, and lists them.
    struct Listed {
        input n: &u64;
        output out: Shared<u64>;
        let thread: Thread = Thread::new(Vec::new());
        let list: List = List::new(Vec::new());
        n >> thread.n;
        thread.out >> (out, list.n);
    }
}

#[operator]
struct List {
    #[input]
    n: &u64,
    got: Vec<u64>,
}

impl Compute for List {
    fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(*io.n.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Readers {
        #[when(count(3))]
        let count: Count = Count::new();
        let listed: Listed = Listed::new();
        let list: List = List::new(Vec::new());
        let more: List = List::new(Vec::new());
        count.n >> listed.n;
        listed.out >> (list.n, more.n);
    }
}

fn readers(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Readers::new(platform)?;
    graph.run()?;
    for list in [graph.listed().list(), graph.list(), graph.more()] {
        check_equal(list.got.clone(), vec![0, 1, 2])?;
    }
    Ok(())
}

/// Adds two numbers.
#[operator]
struct Plus {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    #[output]
    sum: u64,
    last: u64,
}

impl Compute for Plus {
    fn compute(&mut self, io: PlusIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.last = *io.a.receive().into_data() + *io.b.receive().into_data();
        io.sum.emit(self.last)
    }
}

graph! {
    /// Two sums, each with the number that comes back.
    struct Sums {
        input n: &u64;
        input back: &u64;
        output sum: u64;
        let one: Plus = Plus::new(0);
        let two: Plus = Plus::new(0);
        n >> one.a;
        back >> (one.b, two.b);
        one.sum >> two.a;
        two.sum >> sum;
    }
}

graph! {
    struct Feedback {
        #[when(count(3))]
        let count: Count = Count::new();
        let sums: Sums = Sums::new();
        count.n >> sums.n;
        #[feedback(initial = 10)]
        sums.sum >> sums.back;
    }
}

/// Checks a feedback edge from a graph to two of its nodes. The first tick adds 10 twice, and each later one the sum before.
fn feedback(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Feedback::new(platform)?;
    graph.run()?;
    // 0 + 10 + 10, 1 + 20 + 20, 2 + 41 + 41.
    check_equal((graph.sums().one().last, graph.sums().two().last), (43, 84))
}

graph! {
    #[replay]
    struct Replayed(ticks: u64) {
        #[when(count(ticks))]
        let camera: Camera = Camera::new(70, 1);
        let preprocess: Preprocess = Preprocess::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> preprocess.frame;
        preprocess.image >> show.image;
    }
}

fn replay(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Replayed::new(platform, 20)?;
    graph.run()?;
    let seen: Vec<f32> = graph.show_mut().take_seen().iter().map(|(value, _)| *value).collect();
    let wanted: Vec<f32> = (1..=20_u8).map(|value| -f32::from(value)).collect();
    check_equal(seen, wanted)
}
