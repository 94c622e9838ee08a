//! The graphs that are explored. For each, a test states how many states must be found at least: it fails if a change of the
//! workers' rules makes the exploration visit fewer states.

use super::explore::explore;
use super::world::Scenario;
use super::*;

const NOTHING: Looked =
    Looked { changed: false, again: false, waits: false, restless: false, asks: false };
const CHANGED: Looked = Looked { changed: true, ..NOTHING };
const AGAIN: Looked = Looked { again: true, ..NOTHING };
const WAITS: Looked = Looked { waits: true, ..NOTHING };
const RESTLESS: Looked = Looked { restless: true, ..NOTHING };
const ASKS: Looked = Looked { asks: true, ..NOTHING };

/// Creates a scenario from the neighbours and the home of each node. Each look at a node may change something or not.
fn graph(nodes: &[(&[NodeId], Option<WorkerId>)], shared: usize, workers: usize) -> Scenario {
    let place = |(neighbours, home): &(&[NodeId], Option<WorkerId>)| NodeLinks {
        home: *home,
        neighbours: (*neighbours).into(),
    };
    Scenario {
        places: nodes.iter().map(place).collect(),
        shared,
        workers,
        outcomes: vec![vec![NOTHING, CHANGED]; nodes.len()],
        naps: 0,
        claims: false,
        ends: false,
    }
}

/// Creates a scenario of two nodes with an edge between them, neither of which belongs to a worker.
fn pair(workers: usize) -> Scenario {
    graph(&[(&[1], None), (&[0], None)], workers, workers)
}

fn explored(scenario: &Scenario, at_least: usize) {
    let states = explore(scenario);
    assert!(states >= at_least, "{states} states of {scenario:?}");
}

#[test]
fn nodes_that_change_one_another() {
    explored(&pair(1), 10);
    explored(&pair(2), 500);
    explored(&pair(3), 6_000);
    // A chain of three nodes, and a node that sends to two others.
    explored(&graph(&[(&[1], None), (&[0, 2], None), (&[1], None)], 2, 2), 1_000);
    explored(&graph(&[(&[1, 2], None), (&[0], None), (&[0], None)], 2, 2), 1_000);
    // Three nodes in a cycle.
    explored(&graph(&[(&[1, 2], None), (&[0, 2], None), (&[0, 1], None)], 2, 2), 1_000);
}

#[test]
fn nodes_that_are_looked_at_again() {
    for (workers, at_least) in [(1, 10), (2, 900), (3, 12_000)] {
        let outcomes = vec![vec![NOTHING, AGAIN, CHANGED], vec![NOTHING, CHANGED, RESTLESS]];
        explored(&Scenario { outcomes, ..pair(workers) }, at_least);
    }
    // The restless node has no edges.
    let apart = graph(&[(&[1], None), (&[0], None), (&[], None)], 2, 2);
    let outcomes = vec![vec![NOTHING, CHANGED], vec![NOTHING, CHANGED], vec![NOTHING, RESTLESS]];
    explored(&Scenario { outcomes, ..apart }, 1_000);
}

#[test]
fn nodes_that_wait() {
    for (workers, at_least) in [(1, 100), (2, 9_000)] {
        let outcomes = vec![vec![NOTHING, CHANGED, WAITS], vec![CHANGED, WAITS]];
        explored(&Scenario { outcomes, ..pair(workers) }, at_least);
    }
    let outcomes = vec![vec![NOTHING, WAITS], vec![NOTHING, CHANGED]];
    explored(&Scenario { outcomes, ..pair(3) }, 50_000);
}

#[test]
fn nodes_with_workers_of_their_own() {
    let named = graph(&[(&[1], None), (&[0, 2], Some(1)), (&[1], Some(1))], 1, 2);
    explored(&named, 800);
    let outcomes =
        vec![vec![NOTHING, CHANGED, WAITS], vec![CHANGED, WAITS], vec![NOTHING, CHANGED]];
    explored(&Scenario { outcomes, ..named }, 15_000);
    // Two workers with names, and one shared worker.
    let three = graph(&[(&[1, 2], None), (&[0], Some(1)), (&[0], Some(2))], 1, 3);
    explored(&three, 8_000);
    // A node that only the first worker may run, and one that each worker may run.
    let stays = graph(&[(&[1], Some(0)), (&[0], None)], 2, 2);
    let outcomes = vec![vec![NOTHING, CHANGED, WAITS]; 2];
    explored(&Scenario { outcomes, ..stays }, 5_000);
}

#[test]
fn hooks_that_sleep_in_simulated_time() {
    let outcomes = || vec![vec![NOTHING, WAITS], vec![NOTHING, CHANGED]];
    explored(&Scenario { naps: 2, outcomes: outcomes(), ..pair(1) }, 900);
    explored(&Scenario { naps: 2, ..pair(2) }, 30_000);
    explored(&Scenario { naps: 1, outcomes: outcomes(), ..pair(2) }, 10_000);
    let named = graph(&[(&[1], None), (&[0], Some(1))], 1, 2);
    explored(&Scenario { naps: 2, outcomes: outcomes(), ..named }, 10_000);
}

/// A worker that is to call `Team::ask` calls it before simulated time passes.
#[test]
fn questions_beside_hooks_that_sleep() {
    let outcomes = || vec![vec![NOTHING, ASKS], vec![NOTHING, CHANGED]];
    explored(&Scenario { naps: 1, outcomes: outcomes(), ..pair(2) }, 5_000);
    let outcomes = vec![vec![ASKS], vec![NOTHING]];
    explored(&Scenario { naps: 1, claims: true, outcomes, ..pair(2) }, 1_000);
}

/// The hook of one worker sleeps in simulated time, another worker polls, and a third calls `Team::ask` or claims nodes.
#[test]
fn questions_of_a_third_worker_beside_a_hook_that_sleeps() {
    let one = || graph(&[(&[], None)], 3, 3);
    explored(&Scenario { naps: 1, outcomes: vec![vec![NOTHING, ASKS]], ..one() }, 1_000);
    explored(&Scenario { naps: 1, claims: true, outcomes: vec![vec![NOTHING]], ..one() }, 1_000);
}

#[test]
fn nodes_that_a_report_looks_into() {
    explored(&Scenario { claims: true, ..pair(1) }, 50);
    let outcomes = vec![vec![CHANGED, WAITS], vec![NOTHING]];
    explored(&Scenario { claims: true, outcomes, ..pair(2) }, 10_000);
    let outcomes = vec![vec![NOTHING, AGAIN], vec![NOTHING]];
    explored(&Scenario { claims: true, naps: 1, outcomes, ..pair(2) }, 10_000);
}

#[test]
fn a_run_that_is_ended_at_any_time() {
    let outcomes = || vec![vec![NOTHING, WAITS], vec![NOTHING, CHANGED]];
    for workers in 1..=2 {
        let ends = Scenario { ends: true, outcomes: outcomes(), ..pair(workers) };
        explored(&Scenario { naps: 1, ..ends.clone() }, 200);
        explored(&ends, 50);
    }
    explored(&Scenario { ends: true, ..pair(3) }, 20_000);
}
