//! Arrays of nodes, and edges in loops.

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::stereo::{Camera, Cast, Invert};
use streamflow_tests::{Failed, Suite, check, check_equal, runs};

use super::{Preprocess, calls_of};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("sixty_four_cameras_reach_one_node", cameras)
        .both("the_nodes_of_an_array_have_indices", names)
        .both("each_node_has_its_own_count_and_value", counts)
        .both("an_array_is_a_chain", chain)
        .both("messages_have_the_order_of_the_turns", order)
        .both("a_chain_has_a_constant_length", constant_length)
        .both("ports_of_a_graph_are_those_of_nodes_by_a_constant", around_a_constant)
        .both("the_turns_of_a_loop_lead_to_an_input_with_a_size", sizes)
        .both("parameters_of_an_array_are_set_by_index", parameters)
        .both("operators_of_an_array_are_changed_between_runs", changed)
        .both("a_node_of_an_array_that_is_not_made_ends_new", not_made)
        .plain("arrays_run_in_each_order::host", || {
            in_each_order(
                2,
                |platform| Few::new(platform, 3),
                |graph, done| {
                    done.map(drop)?;
                    judge(&mut graph.fuse_mut().seen, 4, 3)
                },
            )
        })
}

/// Adds the test that compares calls in their order.
pub(super) fn add_calls(suite: Suite) -> Suite {
    suite.both("arrays_make_the_calls_of_single_nodes", calls)
}

/// Keeps the first value of each image.
#[operator]
struct FuseAll {
    #[input(many)]
    images: &Tensor<f32>,
    seen: Vec<Vec<f32>>,
}

impl Compute for FuseAll {
    fn compute(&mut self, io: FuseAllIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (images, stream) = io.images.receive().receive_cuda_stream(cx)?;
        let images: Vec<Download<f32>> =
            images.map(|image| cx.download(image, &stream)).collect::<Result<_, _>>()?;
        let first = images.iter().map(|image| Ok(image.wait_blocking()?[0]));
        self.seen.push(first.collect::<Result<_>>()?);
        Ok(())
    }
}

/// Checks the values of `cameras` cameras in each of `ticks` ticks: the number of the camera plus that of the tick, negated.
fn judge(seen: &mut Vec<Vec<f32>>, cameras: u8, ticks: u8) -> Result<(), Failed> {
    let tick = |tick: u8| (0..cameras).map(|camera| -f32::from(camera + tick)).collect();
    let wanted: Vec<Vec<f32>> = (0..ticks).map(tick).collect();
    check_equal(std::mem::take(seen), wanted)
}

const CAMERAS: usize = 64;

graph! {
    struct Cameras(ticks: u64) {
        #[when(count(ticks))]
        let cameras: [Camera; CAMERAS] = |i| Camera::new(70, i as u8);
        let preprocess: [Preprocess; CAMERAS] = |_| Preprocess::new();
        let fuse: FuseAll = FuseAll::new(Vec::new());
        for i in 0..CAMERAS {
            cameras[i].frame >> preprocess[i].frame;
            preprocess[i].image >> fuse.images;
        }
    }
}

fn cameras(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Cameras::new(platform, 2)?;
    let report = graph.run()?;
    check_equal(report.nodes.len(), 64 * 3 + 1)?;
    judge(&mut graph.fuse_mut().seen, 64, 2)
}

graph! {
    struct Few(ticks: u64) {
        #[when(count(ticks))]
        let cameras: [Camera; 4] = |i| Camera::new(70, i as u8);
        let casts: [Cast; 4] = |_| Cast::new();
        let inverts: [Invert; 4] = |_| Invert::new();
        let fuse: FuseAll = FuseAll::new(Vec::new());
        for i in 0..4 {
            cameras[i].frame >> casts[i].src;
            casts[i].dst >> inverts[i].src;
            inverts[i].dst >> fuse.images;
        }
    }
}

graph! {
    struct Single(ticks: u64) {
        #[when(count(ticks))]
        let camera_0: Camera = Camera::new(70, 0);
        #[when(count(ticks))]
        let camera_1: Camera = Camera::new(70, 1);
        #[when(count(ticks))]
        let camera_2: Camera = Camera::new(70, 2);
        #[when(count(ticks))]
        let camera_3: Camera = Camera::new(70, 3);
        let cast_0: Cast = Cast::new();
        let cast_1: Cast = Cast::new();
        let cast_2: Cast = Cast::new();
        let cast_3: Cast = Cast::new();
        let invert_0: Invert = Invert::new();
        let invert_1: Invert = Invert::new();
        let invert_2: Invert = Invert::new();
        let invert_3: Invert = Invert::new();
        let fuse: FuseAll = FuseAll::new(Vec::new());
        camera_0.frame >> cast_0.src;
        camera_1.frame >> cast_1.src;
        camera_2.frame >> cast_2.src;
        camera_3.frame >> cast_3.src;
        cast_0.dst >> invert_0.src;
        cast_1.dst >> invert_1.src;
        cast_2.dst >> invert_2.src;
        cast_3.dst >> invert_3.src;
        invert_0.dst >> fuse.images;
        invert_1.dst >> fuse.images;
        invert_2.dst >> fuse.images;
        invert_3.dst >> fuse.images;
    }
}

runs!(Few);

fn calls(platform: &Platform) -> Result<(), Failed> {
    let arrays = calls_of(platform, |platform| Ok(Few::new(platform, 3)?.run().map(drop)?))?;
    let single = calls_of(platform, |platform| Ok(Single::new(platform, 3)?.run().map(drop)?))?;
    check(arrays.len() > 100, || format!("too few calls to compare:\n{}", arrays.join("\n")))?;
    check_equal(arrays, single)
}

fn names(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Few::new(platform, 1)?;
    graph.workers(Workers::new(2))?;
    let report = graph.run()?;
    let names: Vec<String> = report.nodes.iter().map(|node| node.name.clone()).collect();
    let wanted = ["cameras", "casts", "inverts"];
    let wanted = wanted.iter().flat_map(|name| (0..4).map(move |i| format!("{name}[{i}]")));
    check_equal(names, wanted.chain(["fuse".to_owned()]).collect::<Vec<_>>())?;
    for edge in ["cameras[3].frame >> casts[3].src", "inverts[0].dst >> fuse.images"] {
        check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))?;
    }
    Ok(())
}

/// A source of the numbers of its ticks, plus a number.
#[operator]
struct Count {
    #[output]
    n: u64,
    first: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(self.first + cx.tick())
    }
}

/// Adds a number.
#[operator]
struct Add {
    #[input]
    n: &u64,
    #[output]
    sum: u64,
    #[param]
    by: u64,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.n.receive().into_data() + self.by)
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
    struct Counted(first: Vec<u64>) {
        #[when(count(1 + i as u64))]
        let counts: [Count; 3] = |i| {
            let first = *first.get(i).ok_or(Failure::msg("too few numbers"))?;
            Count::new(first)
        };
        let lists: [List; 3] = |_| List::new(Vec::new());
        for i in 0..3 {
            counts[i].n >> lists[i].n;
        }
    }
}

fn counts(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Counted::new(platform, vec![10, 20, 30])?;
    graph.run()?;
    let got: Vec<Vec<u64>> = graph.lists().map(|list| list.got.clone()).collect();
    check_equal(got, vec![vec![10], vec![20, 21], vec![30, 31, 32]])
}

graph! {
    /// Adds 1, 2, 3 and 4, and lists the sum after each.
    struct Chain {
        input n: &u64;
        output sum: u64;
        let adds: [Add; 4] = |i| Add::new(i as u64 + 1);
        let lists: [List; 3] = |_| List::new(Vec::new());
        n >> adds[0].n;
        for i in 1..4 {
            adds[i - 1].sum >> (adds[i].n, lists[i - 1].n);
        }
        adds[3].sum >> sum;
    }
}

graph! {
    struct Chained {
        #[when(count(2))]
        let count: Count = Count::new(0);
        let chains: [Chain; 2] = |_| Chain::new();
        let list: List = List::new(Vec::new());
        count.n >> chains[0].n;
        chains[0].sum >> chains[1].n;
        chains[1].sum >> list.n;
    }
}

fn chain(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Chained::new(platform)?;
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![20, 21])?;
    let lists = graph.chains().flat_map(Chain::lists).map(|list| list.got[0]);
    check_equal(lists.collect::<Vec<_>>(), vec![1, 3, 6, 11, 13, 16])
}

fn parameters(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Chained::new(platform)?;
    let params = graph.params();
    let last = params.chains().last().and_then(|chain| chain.adds().next());
    last.ok_or(Failed::msg("no node"))?.set_by(100)?;
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![119, 120])?;
    let missing = graph.load_params_str("a.toml", "").err();
    let missing = missing.map(|error| error.to_string()).unwrap_or_default();
    let header = "[\"chains[1]\".\"adds[3]\"]";
    check(missing.contains(header), || missing.clone())?;
    let mut file = String::new();
    for (chain, add) in (0..2).flat_map(|chain| (0..4).map(move |add| (chain, add))) {
        file.push_str(&format!(
            "[\"chains[{chain}]\".\"adds[{add}]\"]\nby = {}\n",
            10 * chain + add
        ));
    }
    graph.load_params_str("a.toml", &file)?;
    graph.run()?;
    check_equal(graph.list().got[2..].to_vec(), vec![52, 53])
}

fn changed(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Chained::new(platform)?;
    for add in graph.chains_mut().flat_map(|chain| chain.adds_mut()) {
        add.by = 5;
    }
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![40, 41])
}

/// Keeps the numbers of each tick.
#[operator]
pub(super) struct Gather {
    #[input(many)]
    numbers: &u64,
    pub(super) got: Vec<Vec<u64>>,
}

impl Compute for Gather {
    fn compute(&mut self, io: GatherIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.numbers.receive().into_data().copied().collect());
        Ok(())
    }
}

graph! {
    struct Gathered {
        #[when(count(1))]
        let ones: [Count; 3] = |i| Count::new(i as u64);
        #[when(count(1))]
        let tens: [Count; 3] = |i| Count::new(10 * i as u64);
        let gather: Gather = Gather::new(Vec::new());
        tens[2].n >> gather.numbers;
        for i in 0..2 {
            ones[i].n >> gather.numbers;
            tens[i].n >> gather.numbers;
        }
        ones[2].n >> gather.numbers;
    }
}

/// Checks that an input with many edges gets its messages in the order of the edges, turn by turn of a loop.
fn order(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Gathered::new(platform)?;
    graph.run()?;
    check_equal(graph.gather().got.clone(), vec![vec![20, 0, 0, 1, 10, 2]])
}

const STEPS: usize = 3;

graph! {
    /// Changes the sign of an image several times, in place.
    struct Signs {
        input image: Tensor<f32>;
        output changed: Tensor<f32>;
        let inverts: [Invert; STEPS] = |_| Invert::new();
        image >> inverts[0].src;
        for i in 1..STEPS {
            inverts[i - 1].dst >> inverts[i].src;
        }
        inverts[STEPS - 1].dst >> changed;
    }
}

graph! {
    struct Changed {
        #[when(count(2))]
        let camera: Camera = Camera::new(70, 3);
        let cast: Cast = Cast::new();
        let signs: Signs = Signs::new();
        let fuse: FuseAll = FuseAll::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> signs.image;
        signs.changed >> fuse.images;
    }
}

/// Checks a chain whose length is a constant, and whose operators own the message.
fn constant_length(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Changed::new(platform)?;
    graph.run()?;
    check_equal(graph.fuse().seen.clone(), vec![vec![-3.0], vec![-4.0]])
}

const MIDDLE: usize = 1;

graph! {
    /// The nodes beside the one in the middle are ports.
    struct Sides {
        input first: &u64;
        output before: u64;
        output after: u64;
        let adds: [Add; 3] = |i| Add::new(10 * i as u64);
        first >> adds[MIDDLE + 1 - 2].n;
        first >> adds[MIDDLE + 1].n;
        first >> adds[MIDDLE].n;
        adds[MIDDLE - 1].sum >> before;
        adds[MIDDLE + 1].sum >> after;
        adds[MIDDLE].sum >> _;
    }
}

graph! {
    struct Around {
        #[when(count(2))]
        let count: Count = Count::new(1);
        let sides: Sides = Sides::new();
        let before: List = List::new(Vec::new());
        let after: List = List::new(Vec::new());
        count.n >> sides.first;
        sides.before >> before.n;
        sides.after >> after.n;
    }
}

/// Checks that indices of one constant lead to their own nodes, and that the names of the edges have the values of the indices.
fn around_a_constant(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Around::new(platform)?;
    let report = graph.run()?;
    check_equal(graph.before().got.clone(), vec![1, 2])?;
    check_equal(graph.after().got.clone(), vec![21, 22])?;
    let names: Vec<&str> = report.edges.iter().map(|edge| edge.edge).collect();
    let wanted = [
        "count.n >> sides.adds[0].n",
        "count.n >> sides.adds[2].n",
        "count.n >> sides.adds[1].n",
        "sides.adds[0].sum >> before.n",
        "sides.adds[2].sum >> after.n",
    ];
    for edge in wanted {
        check(names.contains(&edge), || format!("no {edge} in {names:?}"))?;
    }
    Ok(())
}

/// Adds the numbers of two edges.
#[operator]
struct Pair {
    #[input(size = 2)]
    numbers: &u64,
    sums: Vec<u64>,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sums.push(io.numbers.receive().into_data().iter().copied().sum());
        Ok(())
    }
}

graph! {
    struct Pairs {
        #[when(count(1))]
        let ones: [Count; 2] = |i| Count::new(i as u64 + 1);
        #[when(count(1))]
        let tens: [Count; 2] = |i| Count::new(10 * i as u64 + 10);
        let pairs: [Pair; 3] = |_| Pair::new(Vec::new());
        for i in 0..2 {
            ones[i].n >> pairs[0].numbers;
            tens[i].n >> pairs[1].numbers;
            ones[i].n >> pairs[2].numbers;
        }
    }
}

/// Checks an input with a size whose edges are those of the turns of a loop.
fn sizes(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Pairs::new(platform)?;
    graph.run()?;
    let sums: Vec<Vec<u64>> = graph.pairs().map(|pair| pair.sums.clone()).collect();
    check_equal(sums, vec![vec![3], vec![30], vec![3]])
}

/// Checks that the error of one element ends `new`, and names it.
fn not_made(platform: &Platform) -> Result<(), Failed> {
    let error = Counted::new(platform, vec![1, 2]).err().map(|error| error.to_string());
    check_equal(error.as_deref(), Some("too few numbers"))?;
    let error = NoCount::new(platform).err().map(|error| error.to_string()).unwrap_or_default();
    check(error.contains("`counts[0]`"), || error.clone())
}

graph! {
    struct NoCount {
        #[when(count(i as u64))]
        let counts: [Count; 3] = |i| Count::new(i as u64);
        for i in 0..3 {
            counts[i].n >> _;
        }
    }
}
