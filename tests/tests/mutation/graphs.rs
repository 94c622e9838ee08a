//! The graphs of the test that drops dependencies.

use super::plan::Origin::{Default, Kernel, Upload};
use super::plan::PlanNode::{
    Clock, Combine, Keep, Late as LateBy, Relay, Sink, Source, Taking, Unary,
};
use super::plan::Reading::{ButTheLast, Done, Late, Next};
use super::plan::UnaryWork::{self, Extra, Library, Map, Scratch};
use super::plan::{Calls, Plan, PlanNode, Short};
use super::{nested, random};

/// The number of random graphs.
const RANDOM: u64 = 8;

/// The seeds of the random graphs that call libraries.
const WITH_LIBRARIES: [u64; 3] = [10, 12, 14];

/// The seeds of the random graphs of graphs and of arrays.
pub(crate) const NESTED: [u64; 8] = [0, 1, 3, 2, 4, 7, 6, 9];

const S: PlanNode = Source(Kernel);

/// Returns graphs with the nodes and edges of the CudaStreamPool example's application, one for each of two ways
/// in which its sink reads.
pub(crate) fn forms_of_the_application() -> [Plan; 2] {
    let form = |name, reading| Plan::new(name, &[S, S, Combine(0, 1), Sink(reading, 2)]);
    [
        form("the CudaStreamPool example's form", Done),
        form("the CudaStreamPool example's form, read a tick later", Next),
    ]
}

/// Returns programs in which each claim that a library's call makes is needed.
fn calls() -> impl Iterator<Item = Plan> {
    let with = |name, calls| {
        let plan = Plan::new(name, &[S, Unary(UnaryWork::Calls(calls), 0), Sink(Late, 1)]);
        // A stream can get the memory of a dropped tensor without an order only if the memory was given back to the
        // driver first.
        if matches!(calls, Calls::Dropped(_)) { plan.freeing() } else { plan }
    };
    [
        ("a sum that another stream reads", Calls::Sum),
        ("a transform that another stream reads", Calls::Transform),
        ("two plans on two streams", Calls::Spectrum),
        ("a product that another stream reads", Calls::Product),
        ("a weight that another stream writes", Calls::Weight),
        ("a bias that another stream writes", Calls::Bias),
        ("a plan of a transform that is dropped", Calls::Dropped(Short::Forward)),
        ("a plan of an inverse that is dropped", Calls::Dropped(Short::Inverse)),
        ("a plan of a product that is dropped", Calls::Dropped(Short::Product)),
        ("a handle that is dropped", Calls::Dropped(Short::Sum)),
    ]
    .into_iter()
    .map(move |(name, calls)| with(name, calls))
}

/// Returns the plans of all programs but the CudaStreamPool example's application. That application has
/// no plan.
pub(crate) fn plans() -> Vec<Plan> {
    let mut plans = Vec::from(forms_of_the_application());
    plans.extend([
        // Graphs that are chains.
        Plan::new("source and sink", &[S, Sink(Late, 0)]),
        Plan::new("chain of one", &[S, Unary(Map, 0), Sink(Late, 1)]),
        Plan::new(
            "chain of three",
            &[S, Unary(Map, 0), Unary(Map, 1), Unary(Map, 2), Sink(Next, 3)],
        ),
        Plan::new("chain in place", &[S, Taking(0, false), Taking(1, false), Sink(Late, 2)]),
        Plan::new(
            "chain with more memory",
            &[S, Unary(Map, 0), Taking(1, false), Unary(Map, 2), Sink(Late, 3)],
        )
        .in_flight(2),
        Plan::new("chain that frees", &[S, Unary(Map, 0), Taking(1, false), Sink(Late, 2)])
            .freeing(),
        Plan::new("chain of one stream", &[S, Unary(Map, 0), Sink(Late, 1)]).adopting(),
        // This sink reads no copy, and only the end of the run waits for the last one.
        Plan::new("a download that is never read", &[S, Unary(Map, 0), Sink(ButTheLast, 1)]),
        // Graphs with an output that several nodes receive.
        Plan::new(
            "fan out to two",
            &[S, Unary(Map, 0), Unary(Map, 0), Sink(Late, 1), Sink(Late, 2)],
        ),
        Plan::new(
            "fan out to three",
            &[S, Unary(Map, 0), Unary(Map, 0), Sink(Next, 0), Sink(Late, 1), Sink(Done, 2)],
        ),
        Plan::new("fan out that frees", &[S, Unary(Map, 0), Sink(Late, 0), Sink(Late, 1)])
            .freeing(),
        Plan::new("fan in", &[S, S, S, Combine(0, 1), Combine(3, 2), Sink(Late, 4)]),
        Plan::new("fan in that frees", &[S, S, Combine(0, 1), Sink(Late, 2)]).freeing(),
        // Graphs in which branches are joined again.
        Plan::new("diamond", &[S, Unary(Map, 0), Unary(Map, 0), Combine(1, 2), Sink(Late, 3)]),
        Plan::new("half a diamond", &[S, Unary(Map, 0), Combine(1, 0), Sink(Late, 2)]),
        Plan::new(
            "half a diamond, the old message first",
            &[S, Unary(Map, 0), Combine(0, 1), Sink(Late, 2)],
        ),
        Plan::new(
            "diamond with a copy",
            &[S, Unary(Map, 0), Taking(0, true), Combine(1, 2), Sink(Late, 3)],
        ),
        // Graphs in which a node keeps a tensor for later ticks.
        Plan::new("kept", &[S, Keep(0), Sink(Late, 1)]).in_flight(2),
        Plan::new(
            "kept and read beside",
            &[S, Keep(0), Unary(Map, 0), Combine(1, 2), Sink(Late, 3)],
        ),
        // Graphs with nodes that use further streams and further memory.
        Plan::new("extra stream", &[S, Unary(Extra, 0), Sink(Late, 1)]),
        Plan::new("scratch", &[S, Unary(Scratch, 0), Sink(Late, 1)]),
        Plan::new("relayed", &[S, Relay(0), Sink(Late, 1), Unary(Map, 1), Sink(Late, 3)]),
        Plan::new("uploaded", &[Source(Upload), Unary(Map, 0), Sink(Late, 1)]),
        Plan::new("from the default stream", &[Source(Default), S, Combine(0, 1), Sink(Late, 2)]),
        // Graphs with calls of a library, which access what another stream writes and reads, and memory that is used
        // again.
        Plan::new("library", &[S, Unary(Library, 0), Sink(Late, 1)]),
        Plan::new(
            "library, twice, beside a reader",
            &[S, Unary(Library, 0), Unary(Map, 0), Unary(Library, 2), Combine(1, 3), Sink(Late, 4)],
        ),
        Plan::new(
            "library, in place afterwards, freed",
            &[S, Unary(Library, 0), Taking(1, false), Sink(Late, 2)],
        )
        .freeing(),
        // Graphs with feedback edges.
        Plan::new("feedback to itself", &[S, Combine(0, 1), Sink(Late, 1)]),
        Plan::new("feedback in place", &[S, Combine(0, 2), Taking(1, false), Sink(Late, 2)]),
        Plan::new(
            "feedback that frees",
            &[S, Combine(0, 2), Unary(Map, 1), Sink(Late, 1), Sink(Late, 2)],
        )
        .freeing(),
        // Graphs on two devices.
        Plan::new("transferred", &[S, Unary(Map, 0), Sink(Late, 1)]).far(&[1, 2]),
        Plan::new(
            "transferred there and back, beside a reader",
            &[S, Taking(0, false), Unary(Map, 0), Combine(2, 1), Sink(Late, 3)],
        )
        .far(&[1]),
        Plan::new("transferred, and freed", &[S, Unary(Map, 0), Sink(Late, 0), Sink(Late, 1)])
            .far(&[1, 3])
            .freeing(),
    ]);
    // Long runs in which messages wait until each event of their stream was recorded again.
    plans.extend([
        Plan::new("long", &[S, Unary(Map, 0), Sink(Next, 1)]).long(),
        Plan::new("received late", &[S, Clock, Unary(Map, 0), LateBy(2, 2, 1), Sink(Late, 3)])
            .long(),
        Plan::new(
            "received late, with the message that it was computed from",
            &[S, Clock, Unary(Map, 0), LateBy(2, 0, 1), Sink(Late, 3)],
        )
        .long()
        .freeing(),
        Plan::new(
            "received late, beside a reader that is in time",
            &[S, Clock, S, Combine(0, 2), LateBy(3, 0, 1), Sink(Next, 3), Sink(Late, 4)],
        )
        .long(),
        Plan::new("many small blocks", &[S, Unary(Map, 0), Sink(Late, 1)]).in_flight(8).long(),
    ]);
    plans.extend((0..RANDOM).map(random::plan));
    plans.extend(calls());
    plans.extend(WITH_LIBRARIES.map(random::with_libraries));
    plans.extend(NESTED.map(nested::plan));

    plans
}
