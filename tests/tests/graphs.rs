//! Graphs of the macro `graph!`, run on both platforms.

mod device_data;
mod map_operators;
mod named_workers;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::{Camera, Cast, Counter, Fuse, Invert, Show};
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    map_operators::add(device_data::add(Suite::new()))
        .both("two_cameras_are_fused", stereo)
        .both("an_output_feeds_several_inputs", fan_out)
        .both("nodes_and_edges_may_be_declared_in_any_order", backwards)
        .both("optional_inputs_and_nodes_without_pools_work", optional)
        .both("a_parameter_and_a_node_may_have_the_same_name", same_names)
        .both("keywords_are_valid_names_of_nodes_and_ports", names)
        .both("a_graph_may_be_defined_in_a_function", inside_of_a_function)
        .both("a_graph_may_be_defined_by_a_macro", by_macro)
        .both("new_returns_the_error_of_an_initializer", failing)
        .both("a_count_of_zero_is_an_error", count_zero)
        .both("a_graph_can_run_twice", run_twice)
        .both("each_run_counts_its_ticks_from_0", ticks_of_each_run)
        .both("nodes_know_their_worker", named_workers::nodes_know_their_worker)
        .plain("diagrams_show_nodes_edges_and_pools", diagrams)
        .plain("producers_precede_consumers_in_declaration_order", order)
}

graph! {
    /// Two cameras, with their images fused.
    #[derive(Debug)]
    pub struct Stereo(len: usize, count: u64, firsts: [u8; 2]) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(6).reserved_size(1);

        /// The left eye.
        #[streams(GPU)] #[when(count(count))]
        let left: Camera = Camera::new(len, firsts[0]);
        #[streams(GPU)] #[when(count(count))]
        let right: Camera = Camera::new(len, firsts[1]);
        #[streams(GPU)]
        let cast_left: Cast = Cast::new();
        #[streams(GPU)]
        let cast_right: Cast = Cast::new();
        #[streams(GPU)]
        let fuse: Fuse = Fuse::new();
        #[streams(GPU)] #[when(stream_done(image))]
        let show: Show = Show::new(Vec::new());

        left.frame >> cast_left.src;
        right.frame >> cast_right.src;
        cast_left.dst >> fuse.left;
        cast_right.dst >> fuse.right;
        fuse.depth >> show.image;
    }
}

fn stereo(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Stereo::new(platform, 100, 4, [9, 4])?;
    graph.run()?;
    check_equal(graph.show().seen(), &[(5.0, None); 4])
}

fn run_twice(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Stereo::new(platform, 3, 2, [2, 1])?;
    graph.run()?;
    *graph.left_mut() = Camera::new(3, 8);
    graph.run()?;
    let seen: Vec<f32> = graph.show().seen().iter().map(|(value, _)| *value).collect();
    check_equal(seen, vec![1.0, 1.0, 7.0, 7.0])
}

/// An operator that keeps the numbers of its ticks.
#[operator]
struct Ticks {
    #[output]
    tick: u64,
    seen: Vec<u64>,
}

impl Compute for Ticks {
    fn compute(&mut self, io: TicksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.seen.push(cx.tick());
        io.tick.emit(cx.tick())
    }
}

graph! {
    struct Ticking {
        #[when(count(2))] let ticks: Ticks = Ticks::new(Vec::new());
        ticks.tick >> _;
    }
}

fn ticks_of_each_run(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Ticking::new(platform)?;
    graph.run()?;
    graph.run()?;
    check_equal(graph.ticks().seen.as_slice(), &[0, 1, 0, 1])
}

graph! {
    struct FanOut(count: u64) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(8);
        #[streams(GPU)] #[when(count(count))]
        let camera: Camera = Camera::new(10, 1);
        #[streams(GPU)] let cast: Cast = Cast::new();
        #[streams(GPU)] let again: Cast = Cast::new();
        #[streams(GPU)] let invert: Invert = Invert::new();
        #[streams(GPU)] let fuse: Fuse = Fuse::new();
        #[streams(GPU)] let show: Show = Show::new(Vec::new());
        #[streams(GPU)] let plain: Show = Show::new(Vec::new());

        camera.frame >> (cast.src, again.src);
        cast.dst >> fuse.left;
        // `invert` writes its copy in place, and `plain` reads the original.
        #[copy]
        again.dst >> invert.src;
        again.dst >> plain.image;
        invert.dst >> fuse.right;
        fuse.depth >> show.image;
    }
}

fn fan_out(platform: &Platform) -> Result<(), Failed> {
    let mut graph = FanOut::new(platform, 3)?;
    graph.run()?;
    let seen = |show: &Show| show.seen().iter().map(|(value, _)| *value).collect::<Vec<_>>();
    check_equal(seen(graph.show()), vec![2.0, 4.0, 6.0])?;
    check_equal(seen(graph.plain()), vec![1.0, 2.0, 3.0])
}

graph! {
    struct Taken {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)] let show: Show = Show::new(Vec::new());
        #[streams(GPU)] let kept: Show = Show::new(Vec::new());
        #[streams(GPU)] let invert: Invert = Invert::new();
        #[streams(GPU)] let cast: Cast = Cast::new();
        invert.dst >> show.image;
        // The first consumer takes the message itself, and the second consumer gets a copy.
        cast.dst >> invert.src;
        #[copy] cast.dst >> kept.image;
        camera.frame >> cast.src;
        #[streams(GPU)] #[when(count(2))]
        let camera: Camera = Camera::new(7, 1);
    }
}

fn backwards(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Taken::new(platform)?;
    graph.run()?;
    check_equal(graph.show().seen(), &[(-1.0, None), (-2.0, None)])?;
    check_equal(graph.kept().seen(), &[(1.0, None), (2.0, None)])
}

graph! {
    struct Optional {
        #[when(count(3))]
        let counter: Counter = Counter::new();
        #[when(count(3))]
        let camera: Camera = Camera::new(5, 7);
        #[streams(none)]
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        #[when(count(1))]
        let unheard: Counter = Counter::new();
        counter.number >> show.label;
        camera.frame >> cast.src;
        cast.dst >> show.image;
        unheard.number >> _;
    }
}

fn optional(platform: &Platform) -> Result<(), Failed> {
    // The greedy scheduler is used: with workers, an optional message may come later than the other messages of its
    // tick.
    let mut graph = greedy(Optional::new(platform)?)?;
    graph.run()?;
    let images: Vec<f32> = graph.show().seen().iter().map(|(value, _)| *value).collect();
    check_equal(images, vec![7.0, 8.0, 9.0])?;
    let labels: Vec<u64> = graph.show().seen().iter().filter_map(|(_, label)| *label).collect();
    check_equal(labels, vec![0, 1, 2])
}

graph! {
    struct SameNames(camera: usize, show: u64) {
        #[when(count(show))]
        let camera: Camera = Camera::new(camera, 1);
        let cast: Cast = Cast::new();
        // `camera` and `show` in this block are the parameters of the graph. Without hygiene they would be the nodes of
        // the same names.
        let show: Show = { let _: (usize, u64) = (camera, show); Show::new(Vec::new()) };
        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn same_names(platform: &Platform) -> Result<(), Failed> {
    let mut graph = SameNames::new(platform, 4, 1)?;
    graph.run()?;
    check_equal(graph.show().seen().len(), 1)
}

/// An operator with Rust keywords as names of its ports.
#[operator]
struct Keywords {
    #[input]
    r#in: u64,
    #[output]
    r#type: u64,
}

impl Compute for Keywords {
    fn compute(&mut self, io: KeywordsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.r#type.emit(io.r#in.receive().into_data() + 1)
    }
}

/// A generic operator that receives only host data.
#[operator]
struct Collect<T: Copy + Send + Sync + 'static> {
    #[input]
    item: &HostData<T>,
    #[input]
    number: u64,
    items: Vec<u64>,
}

impl<T: Copy + Send + Sync + 'static> Compute for Collect<T> {
    fn compute(&mut self, io: CollectIo<'_, T>, _: &ExecutionContext) -> Result<()> {
        io.item.discard();
        self.items.push(io.number.receive().into_data());
        Ok(())
    }
}

#[operator]
struct Wrap {
    #[output]
    item: HostData<(u8, f32)>,
}

impl Compute for Wrap {
    fn compute(&mut self, io: WrapIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.item.emit(HostData((1, 2.0)))
    }
}

graph! {
    struct Names {
        #[when(count(2))] let r#loop: Counter = Counter::new();
        let end: Keywords = Keywords::new();
        let graph: Collect<(u8, f32)> = Collect::new(Vec::new());
        #[when(count(2))] let __: Wrap = Wrap::new();
        r#loop.number >> end.r#in;
        end.r#type >> graph.number;
        __.item >> graph.item;
    }
}

fn names(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Names::new(platform)?;
    graph.run()?;
    check_equal(&graph.graph().items, &vec![1, 2])?;
    let _: &Counter = graph.r#loop();
    check_text(&Names::diagram().dot(), &["\"loop\" -> \"end\" [label=\"number → in\"]"])?;
    check_text(
        &Names::diagram().mermaid(),
        &["n1[\"end: Keywords\"]", "n3[\"graph: Collect#lt;(u8, f32)#gt;\"]"],
    )
}

fn inside_of_a_function(platform: &Platform) -> Result<(), Failed> {
    graph! {
        struct Inner {
            #[when(count(3))] let counter: Counter = Counter::new();
            #[when(count(3))] let wrap: Wrap = Wrap::new();
            let all: Collect<(u8, f32)> = Collect::new(Vec::new());
            counter.number >> all.number;
            wrap.item >> all.item;
        }
    }
    let first = Inner::new(platform)?;
    // A second graph of the same name: this is possible for items of a block.
    let second = {
        graph! {
            struct Inner {
                #[when(count(2))] let counter: Counter = Counter::new();
                #[when(count(2))] let wrap: Wrap = Wrap::new();
                let plus_one: Keywords = Keywords::new();
                let all: Collect<(u8, f32)> = Collect::new(Vec::new());
                counter.number >> plus_one.r#in;
                plus_one.r#type >> all.number;
                wrap.item >> all.item;
            }
        }
        let mut inner = Inner::new(platform)?;
        inner.run()?;
        inner.all().items.clone()
    };
    let mut first = first;
    first.run()?;
    check_equal((&first.all().items[..], &second[..]), (&[0, 1, 2][..], &[1, 2][..]))
}

macro_rules! counting {
    ($name:ident, $node:ident, $count:expr) => {
        graph! {
            struct $name(start: u64) {
                #[when(count($count + start))]
                let $node: Counter = Counter::new();
                let other: Keywords = Keywords::new();
                $node.number >> other.r#in;
                other.r#type >> _;
            }
        }
    };
}

counting!(Counting, first, 2);

fn by_macro(platform: &Platform) -> Result<(), Failed> {
    Counting::new(platform, 1)?.run()?;
    check_text(&Counting::diagram().mermaid(), &["n0 -- \"number → in\" --> n1"])
}

fn failing_constructor(platform: &Platform) -> Result<Counter> {
    let who = format!("the counter on {}", platform.name());
    Err(Error::NoSuchDevice { who, device: device(9), devices: 1 }.into())
}

graph! {
    struct Failing {
        #[when(count(1))] let counter: Counter = failing_constructor(platform)?;
        counter.number >> _;
    }
}

fn failing(platform: &Platform) -> Result<(), Failed> {
    let made = Failing::new(platform).map(drop);
    let text = check_error("new", made, |error| matches!(error, Error::NoSuchDevice { .. }))?;
    check_text(&text, &["the counter on"])
}

fn count_zero(platform: &Platform) -> Result<(), Failed> {
    let made = Stereo::new(platform, 1, 0, [0; 2]).map(drop);
    let text = check_error("new", made, |error| matches!(error, Error::CountZero { .. }))?;
    check_text(&text, &["left"])
}

fn diagrams() -> Result<(), Failed> {
    check_equal(
        &*Optional::diagram().mermaid(),
        "flowchart LR
    n0[\"counter: Counter\"]
    n1[\"camera: Camera\"]
    n2[\"cast: Cast\"]
    n3[\"show: Show\"]
    n4[\"unheard: Counter\"]
    n0 -- \"number → label\" --> n3
    n1 -- \"frame → src\" --> n2
    n2 -- \"dst → image\" --> n3
    n5((\" \"))
    n4 -- \"number\" --> n5
",
    )?;
    check_equal(
        &*Taken::diagram().dot(),
        "digraph \"Taken\" {
    rankdir=LR;
    node [shape=box];
    subgraph \"cluster pool GPU\" {
        label=\"GPU\";
        \"camera\" [label=\"camera: Camera\"];
        \"cast\" [label=\"cast: Cast\"];
        \"kept\" [label=\"kept: Show\"];
        \"invert\" [label=\"invert: Invert\"];
        \"show\" [label=\"show: Show\"];
    }
    \"invert\" -> \"show\" [label=\"dst → image\"];
    \"cast\" -> \"invert\" [label=\"dst → src\"];
    \"cast\" -> \"kept\" [label=\"dst → image (copy)\"];
    \"camera\" -> \"cast\" [label=\"frame → src\"];
}
",
    )?;
    check_text(
        &Stereo::diagram().mermaid(),
        &["    subgraph n0[\"GPU\"]\n        n1[\"left: Camera\"]"],
    )
}

fn order() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let mut graph = Taken::new(&platform)?;
    let names: Vec<String> = graph.nodes().iter().map(|node| node.name().to_owned()).collect();
    check_equal(names, ["camera", "cast", "kept", "invert", "show"].map(str::to_owned).to_vec())
}
