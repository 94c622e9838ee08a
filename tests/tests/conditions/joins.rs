//! Nodes that join two paths of one source, while messages are dropped or delayed on one path. The tests check
//! the mixed ticks in the report, and `#[when(same_sequence)]` by the messages that consumers receive.

mod mixed;
mod paired;
mod random;
mod refused;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, Report, Workers};
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, push_seen};
use streamflow_tests::{Failed, Suite, check_equal};

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = refused::add(paired::add(mixed::add(suite)));
    suite.seeded("random_ways_are_joined_as_their_messages_say", random::random_ways)
}

macro_rules! video {
    ($name:ident, [$($condition:tt)*], $capacity:literal) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(12), periodic(33ms))]
                let camera: Camera = Camera::new();
                #[worker(slow)]
                let detect: Detect = Detect::new();
                $($condition)*
                let overlay: Overlay = Overlay::new(seen);
                #[policy(pop)]
                camera.frame >> detect.frame;
                #[policy(pop)]
                #[capacity($capacity)]
                camera.frame >> overlay.frame;
                detect.found >> overlay.found;
            }
        }
    };
}

use video;

const TO_FRAME: &str = "camera.frame >> overlay.frame";
const TO_FOUND: &str = "detect.found >> overlay.found";

fn lost(report: &Report, edge: &str, reason: Option<DropReason>) -> u64 {
    let of_edge = report.dropped.iter().filter(|dropped| dropped.edge == edge);
    let counted = of_edge.filter(|dropped| reason.is_none_or(|reason| dropped.reason == reason));
    counted.map(|dropped| dropped.messages).sum()
}

/// Checks that each message of an edge was received, dropped, or left in the queue.
fn all_accounted(report: &Report, edge: &str, sent: u64, received: usize) -> Result<(), Failed> {
    check_equal((edge, sent), (edge, received as u64 + lost(report, edge, None)))
}

macro_rules! halved {
    ($name:ident, [$($condition:tt)*], $capacity:literal) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(9))]
                let camera: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let overlay: Overlay = Overlay::new(seen);
                camera.frame >> half.frame;
                #[capacity($capacity)]
                camera.frame >> overlay.frame;
                half.found >> overlay.found;
            }
        }
    };
}

use halved;

/// Runs a graph on one thread, and with workers.
fn each_way<G: Graph>(
    make: impl Fn() -> Result<G, Error>,
    mut test: impl FnMut(Result<Report, Error>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    test(streamflow::__private::run(&mut greedy(make()?)?))?;
    for workers in [1, 2] {
        let mut graph = make()?;
        graph.workers(Workers::new(workers))?;
        test(streamflow::__private::run(&mut graph))?;
    }
    Ok(())
}

/// An operator that receives three messages together.
#[operator]
struct Three {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[input]
    c: u64,
    #[input(optional)]
    extra: u64,
    seen: Seen<[u64; 3]>,
}

impl Compute for Three {
    fn compute(&mut self, io: ThreeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.extra.receive().into_data();
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        push_seen(&self.seen, [a, b, io.c.receive().into_data()]);
        Ok(())
    }
}

macro_rules! sources {
    ($name:ident, [$($condition:tt)*], $first:ident, $second:ident, $halved:ident) => {
        graph! {
            struct $name(seen: Seen<[u64; 3]>) {
                #[when(count(5))]
                let one: Camera = Camera::new();
                #[when(count(5))]
                let other: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let three: Three = Three::new(seen);
                #[copy]
                one.frame >> half.frame;
                #[capacity(5)] #[copy]
                one.frame >> three.$first;
                #[capacity(5)]
                other.frame >> three.$second;
                half.found >> three.$halved;
            }
        }
    };
}

use sources;

/// An operator that receives one message of each edge.
#[operator]
struct Many {
    #[input(many)]
    frames: &u64,
    seen: Seen<Vec<u64>>,
}

impl Compute for Many {
    fn compute(&mut self, io: ManyIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.frames.receive().into_data().copied().collect());
        Ok(())
    }
}

macro_rules! to_one_input {
    ($name:ident, [$($condition:tt)*]) => {
        graph! {
            struct $name(seen: Seen<Vec<u64>>) {
                #[when(count(5))]
                let camera: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let many: Many = Many::new(seen);
                camera.frame >> half.frame;
                #[capacity(5)]
                camera.frame >> many.frames;
                half.found >> many.frames;
            }
        }
    };
}

use to_one_input;
