//! Explores every order of the events of a scenario, and checks each state that is reached.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::world::{Event, Phase, Scenario, World};
use super::*;

/// The events that led to a state, as a linked list that begins with the latest one.
struct Trace {
    event: Event,
    before: Option<Rc<Trace>>,
}

fn hash_of(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

/// Explores all states of a scenario and returns their number.
pub(super) fn explore(scenario: &Scenario) -> usize {
    let first = World::new(scenario);
    let mut seen = HashSet::from([hash_of(&first.normalized())]);
    // A search in breadth: no other wrong state has fewer events before it than the first one that is found.
    let mut open: VecDeque<(World, Option<Rc<Trace>>)> = VecDeque::from([(first, None)]);
    while let Some((world, before)) = open.pop_front() {
        for event in world.events(scenario) {
            let trace = Rc::new(Trace { event, before: before.clone() });
            let failed = std::panic::catch_unwind(|| {
                let mut next = world.clone();
                next.happens(event);
                check(&next, scenario);
                next
            });
            let Ok(next) = failed else { panic!("after\n{}of {scenario:?}", text(&trace)) };
            let next = next.normalized();
            if seen.insert(hash_of(&next)) {
                open.push_back((next, Some(trace)));
            }
        }
    }
    seen.len()
}

fn text(trace: &Rc<Trace>) -> String {
    let events = std::iter::successors(Some(trace), |trace| trace.before.as_ref());
    let mut events: Vec<_> = events.map(|trace| format!("{:?}\n", trace.event)).collect();
    events.reverse();
    events.concat()
}

/// Checks the invariants of `core.rs` in one state.
fn check(world: &World, scenario: &Scenario) {
    let World { core, phases, bells, is_nudged, .. } = world;
    let workers = || 0..scenario.workers;
    let polls = phases.iter().filter(|phase| phase.polls()).count();
    assert!(polls <= 1, "two workers poll");
    // Whether the worker is parked or sleeps as the poller, and nothing has woken it yet.
    let sleeps = |worker: WorkerId| match phases[worker] {
        Phase::Parked => !bells[worker],
        Phase::SleepsAsPoller { .. } => !is_nudged,
        _ => false,
    };
    let is_idle =
        |worker: WorkerId| phases[worker].node().is_none() && phases[worker] != Phase::Ended;
    // A worker that has claimed a node counts as awake, since it calls `Core::next` when it has given the node back.
    let is_awake = |worker: WorkerId| {
        let claims = matches!(phases[worker], Phase::Claims(_));
        claims || is_idle(worker) && !sleeps(worker)
    };
    if core.is_over {
        assert!(!workers().any(sleeps), "a worker sleeps after the end");
        let naps =
            |worker: WorkerId| matches!(phases[worker], Phase::Naps { .. }) && !bells[worker];
        assert!(!workers().any(naps), "a hook sleeps after the end");
        return;
    }
    for (index, node) in core.nodes.iter().enumerate() {
        let is_looked_at = matches!(node.state, State::Queued | State::Held { again: true });
        assert!(!world.owed[index] || is_looked_at, "no look of node {index} follows");
        if node.state == State::Queued {
            // A worker that is about to call `Core::next` wakes a shared worker for the queued node in that call.
            let may_run = |worker: &WorkerId| match node.place.home {
                Some(home) => *worker == home,
                None => *worker < core.shared,
            };
            let is_about_to_ask =
                |worker: WorkerId| matches!(phases[worker], Phase::Asks | Phase::Questions);
            let is_seen = workers().filter(may_run).any(is_awake)
                || node.place.home.is_none() && workers().any(is_about_to_ask);
            let sleeps = workers().filter(may_run).any(sleeps);
            assert!(is_seen || !sleeps, "node {index} is queued, and its workers sleep");
        }
    }
    let has_naps = phases.iter().any(|phase| matches!(phase, Phase::Naps { .. }));
    if polls == 0 && (core.waiting().next().is_some() || has_naps) {
        assert!(!workers().any(sleeps) || workers().any(is_awake), "nobody polls");
    }
    for phase in phases {
        let Phase::SleepsAsPoller { was_still } = phase else { continue };
        if *is_nudged {
            continue;
        }
        assert!(core.waiting().all(|node| world.list.1.contains(&node)), "the poller lacks a node");
        // A worker that is awake calls `Core::next` later, which wakes the poller. Until then the checks below need not hold.
        if workers().any(is_awake) {
            continue;
        }
        assert!(*was_still || !core.is_still(), "the poller does not know that nothing runs");
        assert!(!core.is_still() || core.nap_ends().is_none(), "nobody moves the clock");
    }
    let is_over = core.nodes.iter().all(|node| node.state == State::Quiet && !node.waits);
    let will_ask = |worker: WorkerId| match phases[worker] {
        Phase::Asks | Phase::Questions => true,
        Phase::Parked => bells[worker],
        _ => false,
    };
    assert!(!is_over || workers().any(will_ask), "nobody ends the run");
    let goes_on = |worker: WorkerId| match phases[worker] {
        Phase::Naps { .. } | Phase::Parked => bells[worker],
        Phase::SleepsAsPoller { .. } => *is_nudged || core.waiting().next().is_some(),
        Phase::Ended => false,
        _ => true,
    };
    assert!(workers().any(goes_on), "all workers sleep, and nothing wakes one");
}
