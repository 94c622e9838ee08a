//! The facts about a node's threads that schedulers get from a graph.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, check_equal};

/// An operator that stands for a library with thread-local state.
#[operator(stays)]
struct Window {
    #[input]
    number: u64,
}

impl Compute for Window {
    fn compute(&mut self, io: WindowIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Named {
        #[worker(disk)]
        let first: Counter = Counter::new();
        #[worker(disk)] #[when(count(2))]
        let second: Counter = Counter::new();
        #[worker(r#type)] #[streams(none)]
        let third: Counter = Counter::new();
        let window: Window = Window::new();
        #[when(count(2))]
        let free: Counter = Counter::new();
        first.number >> _;
        second.number >> _;
        third.number >> window.number;
        free.number >> _;
    }
}

/// Each node's name and worker, and whether it stays on the thread of the run.
type Known<'a> = (&'a str, Option<&'static str>, bool);

pub(crate) fn nodes_know_their_worker(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Named::new(platform)?;
    let nodes = graph.nodes();
    let mut known: Vec<Known<'_>> =
        nodes.iter().map(|node| (node.name(), node.worker(), node.stays())).collect();
    known.sort_unstable();
    let expected: [Known<'_>; 5] = [
        ("first", Some("disk"), false),
        ("free", None, false),
        ("second", Some("disk"), false),
        ("third", Some("type"), false),
        ("window", None, true),
    ];
    check_equal(known.as_slice(), &expected)
}
