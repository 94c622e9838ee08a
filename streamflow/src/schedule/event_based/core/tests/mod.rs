//! Tests of the scheduler's state machine in every order of the events of a few workers.
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod explore;
mod graphs;
mod steps;
mod world;

use super::*;

/// Creates a node without neighbours that the worker `home` alone may run; if `home` is `None`, all shared workers may.
fn place(home: Option<usize>) -> NodeLinks {
    NodeLinks { home, neighbours: [].into() }
}

/// Worker 0 is shared, and worker 1 has a name. When the named worker polls, it finds a node that it may not run, so it wakes
/// worker 0.
#[test]
fn a_named_worker_that_polls_wakes_the_worker_of_what_it_finds() {
    let mut core = Core::new(vec![place(None), place(Some(1))], 1, 2);
    let waits = Looked { waits: true, ..Looked::default() };
    assert_eq!(core.next(1, true), Next::Look(1));
    core.looked(1, 1, Looked::default());
    assert_eq!(core.next(1, true), Next::Poll);
    assert_eq!(core.next(0, true), Next::Look(0));
    core.looked(0, 0, waits);
    assert_eq!(core.next(0, true), Next::Park);
    let _before = core.take_wakes();
    core.touch_all([0].into_iter());
    assert_eq!(core.take_wakes().as_slice(), [0]);
    assert_eq!(core.next(0, true), Next::Look(0));
}

/// A queued node may be ready at the present simulated time, so time must not pass. While a report has claimed such a node, the
/// node is in no queue.
#[test]
fn time_stands_still_while_a_report_looks_into_a_queued_node() {
    let mut core = Core::new(vec![place(Some(1)), place(None)], 1, 3);
    assert_eq!(core.next(1, true), Next::Look(0));
    assert!(core.claim(1));
    core.nap(1, 5);
    assert!(!core.is_still());
    core.release(1);
    assert!(!core.is_still());
    assert_eq!(core.next(0, true), Next::Look(1));
    core.looked(0, 1, Looked::default());
    assert!(core.is_still());
}

/// A worker in `Team::ask` finds two nodes held by other workers. The caller needs to know only of the first node whether it
/// may run.
#[test]
fn a_question_learns_which_nodes_it_misses() {
    let mut core = Core::new(vec![place(None), place(None), place(None)], 3, 3);
    assert_eq!(core.next(0, true), Next::Look(0));
    assert_eq!(core.next(1, true), Next::Look(1));
    assert_eq!(core.next(2, true), Next::Look(2));
    core.looked(2, 2, Looked::default());
    let mut claimed = [false; 3];
    assert!(core.claim_free(&mut claimed, |node| node != 1));
    assert_eq!(claimed, [false, false, true]);
    core.release_beside(&claimed);
    // The worker of the first node calls `Team::ask` after giving it back. The worker of the second does not, and no worker looks
    // at a node again.
    core.looked(0, 0, Looked::default());
    core.looked(1, 1, Looked::default());
    assert_eq!(core.next(0, true), Next::Ask);
    assert!(!core.is_still());
    core.asked(0);
    assert!(core.is_still());
    assert_eq!(core.next(1, true), Next::End);
}

/// A node that always has work does not hold up nodes that wait: between its looks, the only worker checks their waits.
#[test]
fn a_busy_worker_asks_for_nodes_that_wait() {
    let mut core = Core::new(vec![place(None), place(None)], 1, 1);
    let again = Looked { again: true, ..Looked::default() };
    let waits = Looked { waits: true, ..Looked::default() };
    let (mut looks, mut checks) = (0, 0);
    for _ in 0..20 {
        match core.next(0, true) {
            Next::Look(node) => {
                looks += 1;
                core.looked(0, node, if node == 0 { again } else { waits });
            }
            next => {
                assert_eq!(next, Next::Check);
                checks += 1;
            }
        }
    }
    // The worker checks after every three looks: that is one look more than there are nodes.
    assert_eq!((looks, checks), (15, 5));
}

/// A restless node is looked at after each change of another node: also if that node is not its neighbour, and also if the change
/// comes during the look.
#[test]
fn a_node_that_changed_nothing_is_looked_at_after_each_change() {
    let restless = Looked { restless: true, ..Looked::default() };
    let changed = Looked { changed: true, ..Looked::default() };
    let mut core = Core::new(vec![place(None), place(None)], 1, 1);
    assert_eq!(core.next(0, true), Next::Look(0));
    core.looked(0, 0, restless);
    assert_eq!(core.next(0, true), Next::Look(1));
    core.looked(0, 1, changed);
    assert_eq!(core.next(0, true), Next::Look(0));
    let mut core = Core::new(vec![place(None), place(None)], 2, 2);
    assert_eq!(core.next(0, true), Next::Look(0));
    assert_eq!(core.next(1, true), Next::Look(1));
    core.looked(1, 1, changed);
    core.looked(0, 0, restless);
    assert_eq!([core.next(0, true), core.next(1, true)], [Next::Look(1), Next::Look(0)]);
}

/// A worker runs the queued nodes in their order, whether they are its own or shared ones, even if its own node always has work.
#[test]
fn a_worker_with_a_node_of_its_own_runs_what_was_queued_first() {
    let again = Looked { again: true, ..Looked::default() };
    let mut core = Core::new(vec![place(Some(0)), place(None)], 1, 1);
    for _ in 0..4 {
        for node in [0, 1] {
            assert_eq!(core.next(0, true), Next::Look(node));
            core.looked(0, node, again);
        }
    }
}
