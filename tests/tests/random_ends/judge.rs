//! Compares several runs of one graph.

use super::build::edge_name;
use super::plan::{Kind, Plan};
use super::run::{Ended, Messages, Seen, Way, run};

/// Returns the ways in which the graph of a seed runs, for the `nth` time. All other runs are compared with the
/// first.
pub(crate) fn ways(seed: u64, nth: u64) -> Vec<Way> {
    let seed = seed.wrapping_mul(4).wrapping_add(4 * nth);
    let free = [Way::Greedy, Way::Stepped, Way::Workers(2), Way::Workers(4), Way::Workers(2)];
    let turns = [(2, 0), (2, 1), (4, 2), (3, 3)];
    let turns = turns.map(|(workers, add)| Way::Turns(workers, seed.wrapping_add(add)));
    free.into_iter().chain(turns).collect()
}

/// Runs the graph in these ways. Returns what differs, if anything.
pub(crate) fn fault(plan: &Plan, ways: &[Way]) -> Option<String> {
    let first = match run(plan, Way::Greedy) {
        Ok(seen) => seen,
        Err(error) => return Some(format!("Greedy: {error}")),
    };
    ways.iter().find_map(|way| match run(plan, *way) {
        Ok(seen) => wrong(plan, &first, &seen)
            .map(|text| format!("{way:?}: {text}\n{way:?}: {seen}\nGreedy: {first}")),
        Err(error) => Some(format!("{way:?}: {error}")),
    })
}

fn wrong(plan: &Plan, first: &Seen, seen: &Seen) -> Option<String> {
    if let Ended::Other(error) = &seen.ended {
        return Some(format!("it ended by {error}"));
    }
    let missing = seen.edges.iter().position(|messages| {
        let Messages { sent, received, dropped, left, .. } = messages;
        *sent != received + dropped + left
    });
    if let Some(index) = missing {
        return Some(format!("messages of {} are not accounted for", edge_name(index)));
    }
    let miscounted = |messages: &Messages| [messages.sent, messages.received] != messages.counted;
    if let Some(index) = seen.edges.iter().position(miscounted) {
        return Some(format!("the operators of {} count other messages", edge_name(index)));
    }
    let up = plan.up_to_timing();
    // If timing decides how far a node without an end gets, it also decides whether that node stands still.
    let ends_all = |node: usize| {
        let of = &plan.nodes[node];
        let is_endless = of.kind == Kind::Source && of.count.is_none();
        // A node that has only optional inputs may receive its messages in any number of ticks.
        (up.ticks[node] || of.kind == Kind::Merge) && (is_endless || of.ends_all())
    };
    let ends = [&first.ended, &seen.ended].map(Ended::is_abrupt);
    if ends[0] != ends[1] && (0..plan.nodes.len()).any(ends_all) {
        return None;
    }
    // If two nodes have such a tick, the tick that comes first ends the run.
    if ends[0] && ends[1] {
        return None;
    }
    let own = |ended: &Ended| match ended {
        Ended::Well(finished) => {
            let is_own = |name: &&String| {
                let node = name[1..].parse::<usize>().ok();
                node.is_some_and(|node| !up.ticks[node])
            };
            Ended::Well(finished.iter().filter(is_own).cloned().collect())
        }
        other => other.clone(),
    };
    if own(&first.ended) != own(&seen.ended) {
        return Some("another end".to_owned());
    }
    // A run that ended with some errors has no report.
    if seen.ticks.is_empty() {
        return None;
    }
    let is_own = |node: &usize| !up.ticks[*node] && plan.nodes[*node].kind != Kind::Merge;
    let mut nodes = (0..plan.nodes.len()).filter(is_own);
    if let Some(node) = nodes.find(|node| first.ticks[*node] != seen.ticks[*node]) {
        return Some(format!("n{node} did another number of ticks"));
    }
    let differs = |index: &usize| {
        let (one, other) = (&first.edges[*index], &seen.edges[*index]);
        let has_other_producer = !up.ticks[plan.edges[*index].from] && one.sent != other.sent;
        has_other_producer || !up.edges[*index] && one != other
    };
    let edge = (0..plan.edges.len()).find(differs);
    edge.map(|edge| format!("other messages on {}", edge_name(edge)))
}
