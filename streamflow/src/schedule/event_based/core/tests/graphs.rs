//! The graphs that are explored, each with the least number of its states: if a change of the workers' rules loses states,
//! a test fails.

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

/// A scenario with nodes of these neighbours and homes. Each look at a node may change something or not.
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

/// Two nodes with an edge, both on shared workers.
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
    // A chain, and one node that sends to two.
    explored(&graph(&[(&[1], None), (&[0, 2], None), (&[1], None)], 2, 2), 1_000);
    explored(&graph(&[(&[1, 2], None), (&[0], None), (&[0], None)], 2, 2), 1_000);
    // A cycle.
    explored(&graph(&[(&[1, 2], None), (&[0, 2], None), (&[0, 1], None)], 2, 2), 1_000);
}

#[test]
fn nodes_that_are_looked_at_again() {
    for (workers, at_least) in [(1, 10), (2, 900), (3, 12_000)] {
        let outcomes = vec![vec![NOTHING, AGAIN, CHANGED], vec![NOTHING, CHANGED, RESTLESS]];
        explored(&Scenario { outcomes, ..pair(workers) }, at_least);
    }
    // No edge leads to the restless node.
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
    // Two workers with names, and a shared one.
    let three = graph(&[(&[1, 2], None), (&[0], Some(1)), (&[0], Some(2))], 1, 3);
    explored(&three, 8_000);
    // A node that stays on the first worker, beside one that any may run.
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

/// A worker that is to call `Team::ask` does so before simulated time passes.
#[test]
fn questions_beside_hooks_that_sleep() {
    let outcomes = || vec![vec![NOTHING, ASKS], vec![NOTHING, CHANGED]];
    explored(&Scenario { naps: 1, outcomes: outcomes(), ..pair(2) }, 5_000);
    let outcomes = vec![vec![ASKS], vec![NOTHING]];
    explored(&Scenario { naps: 1, claims: true, outcomes, ..pair(2) }, 1_000);
}

/// A worker naps, another one polls, and a third calls `Team::ask`, or claims nodes for a report.
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
