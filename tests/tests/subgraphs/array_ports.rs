//! Arrays of ports: each element is a port of its own.

use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("each_element_of_a_port_has_its_edge", elements)
        .both("the_length_of_a_port_is_a_parameter", lengths)
        .both("an_array_of_ports_is_that_of_a_graph_inside", nested)
        .both("each_graph_of_an_array_has_its_array_of_ports", parts)
        .both("two_loops_and_two_spellings_lead_to_one_node", two_loops)
        .both("an_element_leads_to_several_inputs_inside", several)
        .both("an_element_has_readers_inside_and_outside", readers)
        .both("elements_take_any_number_of_edges_and_none", options)
        .both("a_first_message_reaches_an_element", feedback)
        .both("a_harness_has_the_elements_of_a_port", harness)
}

graph! {
    /// Negates the frames of `N` cameras.
    struct Negate<const N: usize> {
        /// The frames.
        input frames: [&Tensor<u8>; N];
        output images: [Tensor<f32>; N];
        let casts: [Cast; N] = |_| Cast::new();
        let inverts: [Invert; N] = |_| Invert::new();
        for i in 0..N {
            frames[i] >> casts[i].src;
            casts[i].dst >> inverts[i].src;
            inverts[i].dst >> images[i];
        }
    }
}

const CAMERAS: usize = 3;

graph! {
    struct Three {
        #[when(count(2))]
        let cameras: [Camera; CAMERAS] = |i| Camera::new(70, 10 * i as u8);
        let negate: Negate<CAMERAS> = Negate::new();
        let shows: [Show; 2] = |_| Show::new(Vec::new());
        for i in 0..CAMERAS {
            cameras[i].frame >> negate.frames[i];
        }
        negate.images[CAMERAS - 1] >> shows[0].image;
        negate.images[0] >> shows[1].image;
        negate.images[1] >> _;
    }
}

/// Returns the first values of the images that a node has shown.
fn values(show: &mut Show) -> Vec<f32> {
    show.take_seen().iter().map(|(value, _)| *value).collect()
}

fn elements(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Three::new(platform)?;
    let report = graph.run()?;
    let seen: Vec<Vec<f32>> = graph.shows_mut().map(values).collect();
    check_equal(seen, vec![vec![-20.0, -21.0], vec![-0.0, -1.0]])?;
    for edge in [
        "cameras[1].frame >> negate.casts[1].src",
        "negate.casts[1].dst >> negate.inverts[1].src",
        "negate.inverts[2].dst >> shows[0].image",
    ] {
        check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))?;
    }
    Ok(())
}

graph! {
    struct Many<const N: usize> {
        #[when(count(2))]
        let cameras: [Camera; N] = |i| Camera::new(70, i as u8);
        let negate: Negate<N> = Negate::new();
        let shows: [Show; N] = |_| Show::new(Vec::new());
        for i in 0..N {
            cameras[i].frame >> negate.frames[i];
            negate.images[i] >> shows[i].image;
        }
    }
}

fn lengths(platform: &Platform) -> Result<(), Failed> {
    let mut one = Many::<1>::new(platform)?;
    one.run()?;
    check_equal(one.shows_mut().map(values).collect(), vec![vec![-0.0, -1.0]])?;
    let mut many = Many::<40>::new(platform)?;
    check_equal(many.run()?.nodes.len(), 4 * 40)?;
    check_equal(many.shows_mut().map(values).last(), Some(vec![-39.0, -40.0]))
}

graph! {
    /// Negates frames, and turns the order of the images.
    struct Turned {
        input frames: [&Tensor<u8>; 2];
        input more: &Tensor<u8>;
        output images: [Tensor<f32>; 3];
        let negate: Negate<3> = Negate::new();
        for i in 0..2 {
            frames[i] >> negate.frames[i + 1];
        }
        more >> negate.frames[0];
        negate.images[0] >> images[2];
        for i in 1..3 {
            negate.images[i] >> images[i - 1];
        }
    }
}

graph! {
    struct Nested {
        #[when(count(1))]
        let cameras: [Camera; 3] = |i| Camera::new(70, 1 + i as u8);
        let turned: Turned = Turned::new();
        let shows: [Show; 3] = |_| Show::new(Vec::new());
        for i in 0..2 {
            cameras[i].frame >> turned.frames[i];
        }
        cameras[2].frame >> turned.more;
        for i in 0..3 {
            turned.images[i] >> shows[i].image;
        }
    }
}

fn nested(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Nested::new(platform)?;
    let report = graph.run()?;
    check_equal(graph.shows_mut().map(values).collect(), vec![vec![-1.0], vec![-2.0], vec![-3.0]])?;
    let mut edges: Vec<&str> = report.edges.iter().map(|edge| edge.edge).collect();
    edges.retain(|edge| edge.starts_with("cameras") || edge.contains("shows"));
    edges.sort_unstable();
    check_equal(
        edges,
        vec![
            "cameras[0].frame >> turned.negate.casts[1].src",
            "cameras[1].frame >> turned.negate.casts[2].src",
            "cameras[2].frame >> turned.negate.casts[0].src",
            "turned.negate.inverts[0].dst >> shows[2].image",
            "turned.negate.inverts[1].dst >> shows[0].image",
            "turned.negate.inverts[2].dst >> shows[1].image",
        ],
    )
}

graph! {
    struct Parts {
        #[when(count(1))]
        let cameras: [Camera; 6] = |i| Camera::new(70, 1 + i as u8);
        let parts: [Negate<2>; 3] = |_| Negate::new();
        let shows: [Show; 3] = |_| Show::new(Vec::new());
        for i in 0..2 {
            cameras[i].frame >> parts[i].frames[i];
            cameras[i + 2].frame >> parts[i + 1].frames[i];
            parts[i].images[i] >> shows[i].image;
            parts[i + 1].images[i] >> _;
        }
        cameras[4].frame >> parts[0].frames[1];
        parts[0].images[1] >> _;
        cameras[5].frame >> parts[2].frames[0];
        parts[2].images[0] >> shows[2].image;
    }
}

/// Checks that of an array of graphs, each element of each port has its edge: `parts[2].frames[1]` has that of the second turn.
fn parts(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Parts::new(platform)?;
    let report = graph.run()?;
    check_equal(graph.shows_mut().map(values).collect(), vec![vec![-1.0], vec![-2.0], vec![-6.0]])?;
    let edge = "cameras[3].frame >> parts[2].casts[1].src";
    check(report.edges.iter().any(|report| report.edge == edge), || format!("no {edge}"))
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
}

impl Compute for Plus {
    fn compute(&mut self, io: PlusIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.a.receive().into_data() + io.b.receive().into_data())
    }
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

/// Returns the numbers of each list.
fn lists<'a>(lists: impl Iterator<Item = &'a List>) -> Vec<Vec<u64>> {
    lists.map(|list| list.got.clone()).collect()
}

const FIRST: usize = 0;

graph! {
    /// The sums of neighbors: each number but the first and the last one is in two sums.
    struct Neighbors {
        input numbers: [&u64; 3];
        input last: &u64;
        output sums: [u64; 3];
        let sums_of: [Plus; 3] = |_| Plus::new();
        numbers[0] >> sums_of[FIRST].a;
        for i in 1..3 {
            numbers[i] >> (sums_of[i].a, sums_of[i - 1].b);
        }
        last >> sums_of[FIRST + 2].b;
        sums_of[0].sum >> sums[FIRST];
        for i in 0..2 {
            sums_of[i + 1].sum >> sums[i + 1];
        }
    }
}

graph! {
    struct Sums {
        #[when(count(2))]
        let counts: [Count; 4] = |i| Count::new(10_u64.pow(i as u32));
        let neighbors: Neighbors = Neighbors::new();
        let lists: [List; 3] = |_| List::new(Vec::new());
        for i in 0..3 {
            counts[i].n >> neighbors.numbers[i];
            neighbors.sums[i] >> lists[i].n;
        }
        counts[3].n >> neighbors.last;
    }
}

fn two_loops(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Sums::new(platform)?;
    graph.run()?;
    check_equal(lists(graph.lists()), vec![vec![11, 13], vec![110, 112], vec![1100, 1102]])
}

graph! {
    /// Lists each number twice, and sends the first one on.
    struct Twice {
        input numbers: [&u64; 2];
        output first: Shared<u64>;
        let ones: [List; 2] = |_| List::new(Vec::new());
        let others: [List; 2] = |_| List::new(Vec::new());
        let plus: Plus = Plus::new();
        for i in 0..2 {
            numbers[i] >> ones[i].n;
        }
        for i in 0..2 {
            numbers[i] >> others[i].n;
        }
        numbers[0] >> (plus.a, plus.b);
        plus.sum >> first;
    }
}

graph! {
    struct Listed {
        #[when(count(2))]
        let counts: [Count; 2] = |i| Count::new(10 * i as u64);
        let twice: Twice = Twice::new();
        let list: List = List::new(Vec::new());
        counts[0].n >> twice.numbers[0];
        counts[1].n >> twice.numbers[1];
        twice.first >> list.n;
    }
}

fn several(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Listed::new(platform)?;
    graph.run()?;
    let numbers = vec![vec![0, 1], vec![10, 11]];
    check_equal(lists(graph.twice().ones()), numbers.clone())?;
    check_equal(lists(graph.twice().others()), numbers)?;
    check_equal(graph.list().got.clone(), vec![0, 2])
}

graph! {
    /// Sums, which a node inside lists, too.
    struct Seen {
        input numbers: [&u64; 2];
        output sums: [Shared<u64>; 2];
        let pluses: [Plus; 2] = |_| Plus::new();
        let lists: [List; 2] = |_| List::new(Vec::new());
        for i in 0..2 {
            numbers[i] >> (pluses[i].a, pluses[i].b);
            pluses[i].sum >> (sums[i], lists[i].n);
        }
    }
}

graph! {
    struct Readers {
        #[when(count(2))]
        let counts: [Count; 2] = |i| Count::new(10 * i as u64);
        let seen: Seen = Seen::new();
        let one: List = List::new(Vec::new());
        let other: List = List::new(Vec::new());
        for i in 0..2 {
            counts[i].n >> seen.numbers[i];
        }
        seen.sums[1] >> (one.n, other.n);
        seen.sums[0] >> _;
    }
}

fn readers(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Readers::new(platform)?;
    graph.run()?;
    check_equal(lists(graph.seen().lists()), vec![vec![0, 2], vec![20, 22]])?;
    check_equal(lists([graph.one(), graph.other()].into_iter()), vec![vec![20, 22]; 2])
}

/// Sums its numbers, and adds another one.
#[operator]
struct Total {
    #[input(many)]
    numbers: &u64,
    #[input(optional)]
    more: &u64,
    totals: Vec<u64>,
}

impl Compute for Total {
    fn compute(&mut self, io: TotalIo<'_>, _: &ExecutionContext) -> Result<()> {
        let more = io.more.receive().into_data().copied().unwrap_or_default();
        self.totals.push(io.numbers.receive().into_data().sum::<u64>() + more);
        Ok(())
    }
}

graph! {
    struct Totals {
        input(many) numbers: [&u64; 2];
        input(optional) more: [&u64; 2];
        let totals: [Total; 2] = |_| Total::new(Vec::new());
        for i in 0..2 {
            numbers[i] >> totals[i].numbers;
            more[i] >> totals[i].more;
        }
    }
}

graph! {
    struct Options {
        #[when(count(1))]
        let counts: [Count; 4] = |i| Count::new(10_u64.pow(i as u32));
        let totals: Totals = Totals::new();
        for i in 0..3 {
            counts[i].n >> totals.numbers[0];
        }
        counts[3].n >> totals.numbers[1];
        counts[0].n >> totals.more[1];
    }
}

fn options(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Options::new(platform)?;
    graph.run()?;
    let totals = graph.totals().totals().map(|total| total.totals.clone()).collect();
    check_equal(totals, vec![vec![111], vec![1001]])
}

graph! {
    /// Two sums, one after the other.
    struct Chain {
        input numbers: [&u64; 2];
        input back: [&u64; 1];
        output sums: [Shared<u64>; 1];
        let pluses: [Plus; 2] = |_| Plus::new();
        numbers[0] >> pluses[0].a;
        back[0] >> pluses[0].b;
        pluses[0].sum >> pluses[1].a;
        numbers[1] >> pluses[1].b;
        pluses[1].sum >> sums[0];
    }
}

graph! {
    struct Feedback {
        #[when(count(3))]
        let count: Count = Count::new(0);
        let chain: Chain = Chain::new();
        let list: List = List::new(Vec::new());
        count.n >> (chain.numbers[0], chain.numbers[1]);
        chain.sums[0] >> list.n;
        #[feedback(initial = 10)]
        chain.sums[0] >> chain.back[0];
    }
}

/// Checks a feedback edge between elements. Each tick adds its number twice to the sum before, 10 at first.
fn feedback(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Feedback::new(platform)?;
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![10, 12, 16])
}

fn harness(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Neighbors::new())?;
    for tick in 0..2 {
        for (element, number) in [1, 10, 100].into_iter().enumerate() {
            harness.push(|ports| &mut ports.numbers[element], number + tick)?;
        }
        harness.push(|ports| &mut ports.last, 1000)?;
        check(harness.tick()?, || "no node is ready".to_owned())?;
    }
    for (element, sums) in [(2, [1100, 1101]), (0, [11, 13]), (1, [110, 112])] {
        for sum in sums {
            let taken = harness.take(|ports| &mut ports.sums[element]);
            check_equal(taken.map(|taken| *taken.message), Some(sum))?;
        }
    }
    Ok(harness.stop()?)
}
