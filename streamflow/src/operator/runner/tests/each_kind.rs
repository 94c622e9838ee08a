//! Tests that a node of each kind does the work of all its ticks, whichever workers run the graph and also if it is replayed. A
//! tick without effect would change the result of its row.
//!
//! In each row, a source fills images with the number of its tick, a node of the tested kind changes them, and a sink folds all
//! images into one. So the result of a row depends on each tick of its three nodes.

mod graphs;
mod nodes;

use std::collections::BTreeMap;

use self::graphs::{Conditions, Kinds, Replayed, Threads};
use self::nodes::Rows;
use crate::memory::MemoryOptions;
use crate::operator::{AsyncHandle, BooleanHandle};
use crate::prelude::*;
use crate::schedule::{Report, Workers};
use crate::stream::Assign;

/// Enough ticks that memory is reused, and that a replayed graph is launched.
const TICKS: u64 = 24;
/// Returns the expected result of a sink that receives one image for each tick of a source. `value` computes the image's value
/// from the tick.
fn folded(value: impl FnMut(u32) -> u32) -> u32 {
    (0..TICKS as u32).map(value).fold(0, |sum, value| sum.wrapping_mul(31).wrapping_add(value))
}

fn of_kinds() -> BTreeMap<&'static str, u32> {
    let mut before = 0_u32;
    let sum: u32 = (0..TICKS as u32).sum();
    BTreeMap::from([
        ("source and sink", folded(|n| n)),
        ("operator", folded(|n| n + 1)),
        ("join", folded(|n| n + 3 * n)),
        ("many", folded(|n| n + n)),
        ("optional input", folded(|n| n + 5)),
        ("pop", folded(|n| n + 2)),
        ("reject", folded(|n| n + 3)),
        ("fault", folded(|n| n + 4)),
        ("one of two", folded(|n| n + 5)),
        ("other of two", folded(|n| n + 5)),
        (
            "feedback",
            folded(|n| {
                before = before.wrapping_mul(3).wrapping_add(n);
                before
            }),
        ),
        ("flush", sum * 31 + 7),
    ])
}

fn of_conditions() -> BTreeMap<&'static str, u32> {
    BTreeMap::from([
        ("periodic", folded(|n| n + 1)),
        ("boolean", folded(|n| n + 2)),
        ("thread beside the graph", folded(|n| n + 3)),
        ("stream_done", folded(|n| n + 4)),
        ("same_sequence", folded(|n| n + 3 * (n + 5))),
    ])
}

fn of_threads() -> BTreeMap<&'static str, u32> {
    BTreeMap::from([
        ("worker", folded(|n| n + 1)),
        ("stays", folded(|n| n + 6)),
        ("on_failure", folded(|n| n + 2)),
    ])
}

/// Calls `run` on platforms with and without the race checker and statistics, and compares the results of the sinks with `rows`.
fn find(rows: &BTreeMap<&'static str, u32>, form: &str, run: impl Fn(&Platform, Rows) -> Report) {
    for (race_check, statistics) in [(false, false), (true, false), (false, true)] {
        // Allow little memory in flight, so that replayed ticks soon use the same memory again.
        let memory = MemoryOptions::new().in_flight(2).small_in_flight(2);
        let builder = Platform::builder().memory(memory).spin(std::time::Duration::ZERO);
        let platform = builder.race_check(race_check).statistics(statistics).host().unwrap();
        let found = Rows::default();
        let report = run(&platform, found.clone());
        let found = found.lock().unwrap();
        assert_eq!(
            *found, *rows,
            "{form}, race check {race_check}, statistics {statistics}: {report}"
        );
    }
}

fn pool(assign: Assign) -> CudaStreamPool {
    CudaStreamPool::new().assign(assign)
}

/// The workers with which a graph runs, without replay: none (the calling thread runs the nodes), one, and two.
fn forms() -> [Workers; 3] {
    [Workers::none(), Workers::new(1), Workers::new(2)]
}

#[test]
fn each_kind_of_node_does_its_work_in_each_form() {
    for assign in [Assign::PerOperator, Assign::Planned { depth: 1 }, Assign::Planned { depth: 2 }]
    {
        for workers in forms() {
            find(&of_kinds(), &format!("{assign:?}, {workers:?}"), |platform, rows| {
                let mut graph = Kinds::new(platform, pool(assign), rows).unwrap();
                graph.workers(workers.clone()).unwrap().run().unwrap()
            });
        }
        find(&of_kinds(), &format!("replayed, {assign:?}"), |platform, rows| {
            let report = Replayed::new(platform, pool(assign), rows).unwrap().run().unwrap();
            let replay = report.replay.as_ref().unwrap();
            assert!(replay.replayed > TICKS / 3, "{report}");
            report
        });
    }
}

#[test]
fn a_node_with_a_condition_does_its_work_in_each_form() {
    for workers in forms() {
        find(&of_conditions(), &format!("{workers:?}"), |platform, rows| {
            let (on, notices) = (BooleanHandle::new(false), AsyncHandle::new());
            let mut graph = Conditions::new(platform, on.clone(), notices.clone(), rows).unwrap();
            graph.workers(workers.clone()).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    on.set(true).unwrap();
                    (0..TICKS).for_each(|_| notices.notify().unwrap());
                    notices.close();
                });
                graph.run().unwrap()
            })
        });
    }
}

#[test]
fn a_node_with_a_thread_or_a_policy_of_its_own_does_its_work() {
    find(&of_threads(), "a named worker", |platform, rows| {
        Threads::new(platform, rows).unwrap().run().unwrap()
    });
    find(&of_threads(), "one thread", |platform, rows| {
        let mut graph = Threads::new(platform, rows).unwrap();
        graph.workers(Workers::none()).unwrap().run().unwrap()
    });
}
