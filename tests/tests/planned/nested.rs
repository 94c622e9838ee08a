//! A graph of graphs and of arrays has the plan of its flat twin: nodes inside share streams across borders, but not across
//! workers.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_equal, seen};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite.both("graphs_and_arrays_have_the_plan_of_their_flat_twin", twins)
}

const TICKS: u64 = 6;

graph! {
    /// Two steps.
    pub(crate) struct Pair(first: u32, noted: Noted) {
        input image: &Tensor<u32>;
        output out: Tensor<u32>;
        let steps: [Step; 2] = |i| Step::new(first + i as u32, noted.clone());
        image >> steps[0].image;
        steps[0].out >> steps[1].image;
        steps[1].out >> out;
    }
}

graph! {
    /// Two pairs that meet again.
    pub(crate) struct Diamond(noted: Noted) {
        input image: &Tensor<u32>;
        output out: Tensor<u32>;
        let pairs: [Pair; 2] = |i| Pair::new(10 * i as u32, noted.clone());
        let join: Join = Join::new(noted.clone());
        image >> (pairs[0].image, pairs[1].image);
        pairs[0].out >> join.a;
        pairs[1].out >> join.b;
        join.out >> out;
    }
}

graph! {
    struct Nested(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let diamond: Diamond = Diamond::new(noted.clone());
        #[streams(STREAMS)] #[worker(side)] let pair: Pair = Pair::new(20, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> diamond.image;
        diamond.out >> pair.image;
        pair.out >> sink.image;
    }
}

graph! {
    struct Flat(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(0, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let c: Step = Step::new(10, noted.clone());
        #[streams(STREAMS)] let d: Step = Step::new(11, noted.clone());
        #[streams(STREAMS)] let join: Join = Join::new(noted.clone());
        #[streams(STREAMS)] #[worker(side)] let e: Step = Step::new(20, noted.clone());
        #[streams(STREAMS)] #[worker(side)] let f: Step = Step::new(21, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> (a.image, c.image);
        a.out >> b.image;
        c.out >> d.image;
        b.out >> join.a;
        d.out >> join.b;
        join.out >> e.image;
        e.out >> f.image;
        f.out >> sink.image;
    }
}

/// The nodes, each with its name in the flat twin.
const NODES: [(&str, &str); 9] = [
    ("source", "source"),
    ("diamond.pairs[0].steps[0]", "a"),
    ("diamond.pairs[0].steps[1]", "b"),
    ("diamond.pairs[1].steps[0]", "c"),
    ("diamond.pairs[1].steps[1]", "d"),
    ("diamond.join", "join"),
    ("pair.steps[0]", "e"),
    ("pair.steps[1]", "f"),
    ("sink", "sink"),
];

/// The plan, the data and the streams of a graph.
#[derive(Debug, PartialEq)]
struct Shown {
    picture: String,
    got: Vec<Vec<u32>>,
    /// For each node and tick, the first node whose stream it shares.
    shares: Vec<Vec<Option<usize>>>,
}

fn shown<G: Graph>(
    platform: &Platform,
    new: impl Fn(&Platform, CudaStreamPool, Noted, Got) -> Result<G, Error>,
    streams: CudaStreamPool,
    names: [&str; 9],
) -> Result<Shown, Failed> {
    let (noted, got) = (Noted::default(), Got::default());
    let mut graph = new(platform, streams, noted.clone(), got.clone())?;
    let picture = graph.plan()?.mermaid();
    streamflow::__private::run(&mut graph)?;
    let streams = names.map(|name| streams_of(&noted, name));
    let first = |node: usize, tick: usize| {
        let stream = streams[node].get(tick)?;
        streams.iter().position(|other| other.get(tick) == Some(stream))
    };
    let ticks = 0..TICKS as usize;
    let shares = (0..9).map(|node| ticks.clone().map(|tick| first(node, tick)).collect());
    let got = seen::take(&got).into_iter().map(|(_, image)| image).collect();
    Ok(Shown { picture, got, shares: shares.collect() })
}

fn twins(platform: &Platform) -> Result<(), Failed> {
    let pools: [fn() -> CudaStreamPool; 4] =
        [per_operator, || planned(1), || planned(2), || planned(3)];
    for pool in pools {
        let nested = shown(platform, Nested::new, pool(), NODES.map(|(path, _)| path))?;
        let mut flat = shown(platform, Flat::new, pool(), NODES.map(|(_, name)| name))?;
        for (path, name) in NODES {
            flat.picture = flat.picture.replace(&format!("\"{name}: "), &format!("\"{path}: "));
        }
        check_equal(nested.got.len(), TICKS as usize)?;
        check_equal(nested, flat)?;
    }
    // Streams are shared across the borders of the graphs inside, and not across workers.
    let planned = shown(platform, Nested::new, planned(1), NODES.map(|(path, _)| path))?;
    let of = |node: usize| &planned.shares[node];
    check(of(1) == of(2) && of(2) == of(5), || format!("{:?}", planned.shares))?;
    check(of(6) == of(7) && of(5) != of(6), || format!("{:?}", planned.shares))
}
