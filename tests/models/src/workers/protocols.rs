//! Models of the protocols by which workers sleep and wake each other. If a wake-up is lost, a worker sleeps for ever,
//! and loom reports a deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering as PlainOrdering};

use loom::thread;

use super::core::WorkerId;
use super::ring::ring;
use super::team::{ASKS, CHANGED, Kept, NOTHING, Node, Team, Wait, node};
use crate::explore::explore_switches;
use crate::sync::{AtomicBool, Ordering};

/// How many preemptions an interleaving has at most. One or two are enough to lose a wake-up.
const SWITCHES: usize = 2;

/// Runs the nodes of `team` on workers, with `other` on one more thread. The calling thread is the first worker.
fn run(team: &Arc<Kept>, workers: usize, other: Option<fn(&Team)>) {
    let spawned = |body: Box<dyn FnOnce(&Team) + Send>| {
        let team = team.clone();
        thread::spawn(move || body(&team))
    };
    let threads = (1..workers).map(|worker| spawned(Box::new(move |team| team.work(worker))));
    let mut threads: Vec<_> = threads.collect();
    threads.extend(other.map(|other| spawned(Box::new(other))));
    team.work(0);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Makes two nodes and a ring of one slot between them: the first sends `values` values, the second takes them. Also
/// returns the count of values that have arrived.
fn queue(values: usize, homes: [Option<WorkerId>; 2]) -> ([Node; 2], Arc<AtomicUsize>) {
    let (mut writer, mut reader) = ring(1);
    let arrived = Arc::new(AtomicUsize::new(0));
    let (counted, mut sent) = (arrived.clone(), 0);
    let sends = move |_: &Team, _| {
        if sent == values {
            return Ok(NOTHING);
        }
        let Some(slot) = writer.slot() else { return Ok(NOTHING) };
        *slot = Some(sent);
        writer.send();
        sent += 1;
        Ok(CHANGED)
    };
    let takes = move |_: &Team, _| {
        let Some(value) = reader.take() else { return Ok(NOTHING) };
        assert_eq!(value, counted.fetch_add(1, PlainOrdering::SeqCst), "out of order");
        Ok(CHANGED)
    };
    ([node(homes[0], &[1], sends), node(homes[1], &[0], takes)], arrived)
}

fn pass(values: usize, homes: [Option<WorkerId>; 2]) {
    explore_switches(SWITCHES, move || {
        let (nodes, arrived) = queue(values, homes);
        run(&Team::new(nodes.into(), 2), 2, None);
        assert_eq!(arrived.load(PlainOrdering::SeqCst), values, "values are left at the end");
    });
}

/// One worker pushes or pops a value of a queue while the other worker parks. Each worker runs the node at one end of the
/// queue.
#[test]
pub(crate) fn a_queue_between_two_workers() {
    pass(2, [Some(0), Some(1)]);
}

/// One worker pushes or pops a value of a queue while the other worker parks. Both workers may run both nodes.
#[test]
pub(crate) fn a_queue_of_two_workers() {
    pass(1, [None, None]);
}

/// Makes a node that waits until a flag is set.
fn waits_for(flag: &Arc<AtomicBool>, home: WorkerId, seen: &Arc<AtomicUsize>) -> Node {
    let (flag, seen) = (flag.clone(), seen.clone());
    node(Some(home), &[], move |_, _| {
        if !flag.load(Ordering::Acquire) {
            return Err(Wait::Flag(flag.clone()));
        }
        seen.fetch_add(1, PlainOrdering::SeqCst);
        Ok(NOTHING)
    })
}

/// Each worker in `homes` has a node that waits for a flag. Another thread sets the flag and raises the signal, while a worker
/// adds its node's wait and another worker goes to sleep.
fn wait_for_flags(workers: usize, homes: std::ops::Range<WorkerId>) {
    explore_switches(SWITCHES, move || {
        let flags = Arc::new(AtomicBool::new(false));
        let seen = Arc::new(AtomicUsize::new(0));
        let (waiting, nodes) = (homes.len(), homes.clone());
        let nodes = nodes.map(|home| waits_for(&flags, home, &seen)).collect();
        let team = Team::new(nodes, workers);
        let other = team.clone();
        let device = thread::spawn(move || {
            flags.store(true, Ordering::Release);
            other.run.raise();
        });
        run(&team, workers, None);
        device.join().unwrap();
        assert_eq!(seen.load(PlainOrdering::SeqCst), waiting, "a node waits at the end");
    });
}

#[test]
pub(crate) fn a_wait_during_a_completion() {
    wait_for_flags(1, 0..1);
}

#[test]
pub(crate) fn waits_of_two_workers_during_a_completion() {
    wait_for_flags(2, 0..2);
}

/// Only the second worker has a node, which waits for the flag. The worker that polls polls for this node, which is not
/// its own.
#[test]
pub(crate) fn a_wait_that_another_worker_asks_for() {
    wait_for_flags(2, 1..2);
}

/// Runs two workers with a node each. One node sends a value; with `naps`, its hook first sleeps on the simulated clock.
/// The other node waits for the value and for a later moment. The clock must not advance while a hook runs, or while a
/// value waits in the ring.
fn wait_until_a_moment(naps: bool) {
    explore_switches(SWITCHES, move || {
        let (mut writer, mut reader) = ring(1);
        let (mut has_sent, mut has_value) = (false, false);
        let sends = move |team: &Team, me| {
            if std::mem::replace(&mut has_sent, true) {
                return Ok(NOTHING);
            }
            if naps {
                team.nap(me, 1);
                assert_eq!(team.clock(), 1, "a nap that is too long or too short");
            }
            *writer.slot().unwrap() = Some(());
            writer.send();
            Ok(CHANGED)
        };
        let takes = move |team: &Team, _| {
            has_value |= reader.take().is_some();
            if team.clock() < 2 {
                return Err(Wait::Until(2));
            }
            assert!(has_value, "a moment comes before what happens earlier");
            Ok(NOTHING)
        };
        let nodes = vec![node(Some(0), &[], takes), node(Some(1), &[0], sends)];
        let team = Team::new(nodes, 2);
        run(&team, 2, None);
        assert_eq!(team.clock(), 2, "the run ends before the moment");
    });
}

#[test]
pub(crate) fn a_moment_and_a_push() {
    wait_until_a_moment(false);
}

#[test]
pub(crate) fn a_moment_and_a_nap() {
    wait_until_a_moment(true);
}

/// A worker's node has ended, and this worker finds out which other nodes have ended with it. Meanwhile the other
/// worker's node waits for a moment of the clock.
#[test]
pub(crate) fn a_moment_and_a_question() {
    explore_switches(SWITCHES, || {
        let waits =
            |team: &Team, _| if team.clock() < 1 { Err(Wait::Until(1)) } else { Ok(NOTHING) };
        let nodes = vec![node(Some(0), &[], waits), node(Some(1), &[], |_, _| Ok(ASKS))];
        let team = Team::new(nodes, 2);
        run(&team, 2, None);
        assert_eq!(team.clock(), 1, "the run ends before the moment");
    });
}

/// Two hooks sleep on the simulated clock at the same time, so no worker is left that could advance the clock for them.
#[test]
pub(crate) fn naps_of_all_workers() {
    explore_switches(SWITCHES, || {
        let naps = |home: usize| {
            let until = home as u64 + 1;
            node(Some(home), &[], move |team: &Team, me| {
                team.nap(me, until);
                assert_eq!(team.clock(), until, "a nap that is too long or too short");
                Ok(NOTHING)
            })
        };
        run(&Team::new(vec![naps(0), naps(1)], 2), 2, None);
    });
}

/// Another thread ends a run in which one node waits for ever, and a second node sends values to a third.
fn stopped(stop: fn(&Team)) {
    // At most one preemption: with two, the three threads have millions of interleavings.
    explore_switches(1, move || {
        let ([sends, takes], _) = queue(1, [Some(0), Some(1)]);
        let never = Arc::new(AtomicBool::new(false));
        let waits = waits_for(&never, 0, &Arc::default());
        run(&Team::new(vec![sends, takes, waits], 2), 2, Some(stop));
    });
}

#[test]
pub(crate) fn a_run_that_another_thread_ends() {
    stopped(|team| team.board.change(|core| core.end()));
}

#[test]
pub(crate) fn a_run_that_another_thread_stops() {
    stopped(Team::stop);
}
