//! Law 15: A run says why it ended.
//!
//! When no node can run and no node waits for a stream, a moment or another thread, a run is over, unless an edge [gives
//! way](giving_way) or the `flush` of a node is [due](flush). The run has *ended* if every source is done and no message waits
//! that a node should have taken. If not, the run has *stalled*: some node is stuck, and this file finds out which node, and why
//! it waits. Both schedulers call this file. Its result does not depend on the order in which they ran the nodes:
//! `stall/timing.rs` says why. While some nodes still run, [`meanwhile`] finds the edges that give way, and the `flush`es that
//! are due, whatever the running nodes do.
//!
//! A node that is not done is stuck if
//! - it has all messages that it needs, and an edge that it sends to is full; or
//! - a message waits for it, and another one is missing, or it ran and left the message in its queue; or
//! - a feedback edge that leads to it is empty, so that the next run could not begin.
//!
//! A node that is being flushed needs no messages, only room at its outputs.
//!
//! A node also needs the message, or the room, for which one of its conditions waits. If its conditions can never hold again,
//! because all their handles were dropped, the node is stuck if a message waits for it.
//!
//! Some messages may wait although no node is stuck. Messages of a lossy edge (`pop`, `reject`) may be lost. Messages of a
//! feedback edge are state. A message at an optional input may be left when the node lacks another message. A message that
//! `same_sequence` compares may be left, since the condition drops messages without a partner. Two kinds of nodes are never
//! stuck, since timing decides how many ticks they do (`stall/timing.rs`): *thinned* nodes, which are behind a lossy edge, and
//! *attendants*, which have no end of their own and send only to thinned nodes, optional inputs and attendants.
//!
//! A node is not stuck if it waits only for nodes that ended themselves: by `finish`, by a condition or at the limit of the run.
//! The messages that wait for it are dropped. If such a node is a source without an end, the report still names it and what it
//! waited for.

mod branches;
mod flush;
mod serving;
mod timing;

use std::collections::{HashMap, HashSet, VecDeque};

pub(super) use self::flush::{due, flushed, meanwhile};
pub(super) use self::serving::{Waits, may_go_on, waits};
use self::timing::Timing;
use crate::message::EdgeStatus;
use crate::operator::{Flushing, NodeStatus, PortStatus, UnmetCondition};

/// The largest number of nodes in the text of a chain. A longer chain is cut in the middle.
const MOST_LINKS: usize = 24;

/// The nodes that wait for other nodes at the end of a run, as text. Each text is a chain of nodes, each of which waits for the
/// next one. Each node is described once.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The chains that begin at stuck nodes. Empty if the run has ended without a stall.
    pub(super) stalled: Vec<String>,
    /// The chains that begin at thinned nodes and attendants which would count as stuck if they were other nodes. Such a node is
    /// never stuck, since timing decides how many ticks it does (`stall/timing.rs`).
    pub(super) waited: Vec<String>,
}

/// Finds the nodes that wait for other nodes at the end of a run.
pub(super) fn find(nodes: &[NodeStatus]) -> Found {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let mut excused = vec![None; nodes.len()];
    let waits = |node: &usize| {
        graph.is_stuck(*node, &timing)
            && (timing.attends(*node) || !graph.is_by_finish(*node, &timing, &mut excused))
    };
    let waiting = (0..nodes.len()).filter(waits);
    let (waited, stuck) = waiting.partition(|node| timing.decides(*node));
    let chains = |nodes| graph.chains(nodes, &timing);
    Found { stalled: chains(stuck), waited: chains(waited) }
}

/// Returns the edges that give way when no node can run any more, so that the run goes on. Empty if the run is over.
pub(super) fn giving_way(nodes: &[NodeStatus]) -> Vec<usize> {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    (0..nodes.len()).flat_map(|node| timing.kept_by(node, &graph)).collect()
}

/// A missing message or missing room for which a node waits.
#[derive(Clone, Copy)]
enum Blocker<'a> {
    /// The node waits for a message of this edge, from the node where the edge begins.
    Message(&'a EdgeStatus, usize),
    /// The node waits for room in this edge, from the node where the edge ends.
    Room(&'a EdgeStatus, usize),
    /// A condition of the node waits for a message that the other node would send, or for room that it would make.
    Condition(&'a UnmetCondition, usize),
    /// The node is an attendant, and the other node, a consumer of its messages, does not take the messages of this edge. No
    /// other node needs the attendant's messages.
    Taker(&'a EdgeStatus, usize),
}

impl Blocker<'_> {
    /// The node that could end the wait.
    fn node(self) -> usize {
        match self {
            Self::Message(_, node)
            | Self::Room(_, node)
            | Self::Condition(_, node)
            | Self::Taker(_, node) => node,
        }
    }

    fn is_message(self) -> bool {
        match self {
            Self::Message(..) => true,
            Self::Room(..) | Self::Taker(..) => false,
            Self::Condition(condition, _) => !condition.is_room,
        }
    }
}

struct Graph<'a> {
    nodes: &'a [NodeStatus],
    /// For each edge, by its id, the node where the edge begins; in `consumers`, the node where it ends.
    producers: HashMap<usize, usize>,
    consumers: HashMap<usize, usize>,
}

impl<'a> Graph<'a> {
    fn new(nodes: &'a [NodeStatus]) -> Self {
        let (mut producers, mut consumers) = (HashMap::new(), HashMap::new());
        for (index, node) in nodes.iter().enumerate() {
            let ends = |ports: &'a [PortStatus]| {
                ports.iter().flat_map(|port| &port.edges).map(move |edge| (edge.id, index))
            };
            consumers.extend(ends(&node.inputs));
            producers.extend(ends(&node.outputs));
        }
        Self { nodes, producers, consumers }
    }

    fn is_stuck(&self, node: usize, timing: &Timing) -> bool {
        let status = &self.nodes[node];
        if status.is_done() {
            let is_abandoned = status.ended_by.as_ref().is_some_and(|ended| ended.is_abandoned);
            let counts = |edge: &EdgeStatus| {
                !edge.is_lossy() && !edge.feedback && !timing.is_optional(edge.id)
            };
            return is_abandoned && self.waiting(node).any(counts);
        }
        let blockers = self.lasting_blockers(node, timing);
        let lacks_message = blockers.iter().any(|blocker| blocker.is_message());
        let edges = status.inputs.iter().flat_map(|input| &input.edges);
        if !lacks_message && !blockers.is_empty()
            || edges.clone().any(|edge| edge.feedback && edge.waiting == 0)
        {
            return true;
        }
        // A message that waits for its partner (`same_sequence`) may be left in the queue, so it does not count.
        let counts =
            |input: &&PortStatus| input.is_required() && !input.is_paired || !lacks_message;
        let counted = status.inputs.iter().filter(counts);
        let mut edges = counted.flat_map(|input| &input.edges);
        edges.any(|edge| edge.waiting > 0 && !edge.is_lossy() && !edge.feedback)
    }

    /// Returns the edges to a node that have messages in their queues.
    fn waiting(&self, node: usize) -> impl Iterator<Item = &'a EdgeStatus> {
        let edges = self.nodes[node].inputs.iter().flat_map(|input| &input.edges);
        edges.filter(|edge| edge.waiting > 0)
    }

    /// Returns what a node waits for at the end of a run, without room in edges that may give way, since timing decides about
    /// such room. If an attendant waits for nothing else, except perhaps for another attendant, the result has the consumers that
    /// do not take its messages.
    fn lasting_blockers(&self, node: usize, timing: &Timing) -> Vec<Blocker<'a>> {
        let mut blockers = self.blockers(node);
        blockers.retain(|blocker| !timing.is_passing(*blocker, self));
        if !timing.attends(node) || self.nodes[node].is_done() {
            return blockers;
        }
        let goes_on = |from: usize| timing.attends(from) && !self.nodes[from].is_done();
        blockers.retain(|blocker| !blocker.is_message() || !goes_on(blocker.node()));
        if blockers.is_empty() {
            let edges = self.nodes[node].outputs.iter().flat_map(|output| &output.edges);
            let taker =
                |edge: &'a EdgeStatus| Some(Blocker::Taker(edge, *self.consumers.get(&edge.id)?));
            blockers = edges.filter_map(taker).collect();
        }
        blockers
    }

    /// Whether enough of a node's waits end for the node to run. `ends` returns whether a wait ends.
    fn is_served(&self, node: usize, ends: &dyn Fn(Blocker<'_>) -> bool) -> bool {
        let blockers = self.blockers(node);
        // A message of one node is enough for a condition that several nodes could fulfil, and for a node with optional inputs
        // only.
        let any = |blocker: &&Blocker<'_>| match blocker {
            Blocker::Condition(..) => true,
            Blocker::Message(..) => !self.has_required(node),
            Blocker::Room(..) | Blocker::Taker(..) => false,
        };
        let mut each = blockers.iter().filter(|blocker| !any(blocker));
        let mut one = blockers.iter().filter(any).peekable();
        each.all(|blocker| ends(*blocker))
            && (one.peek().is_none() || one.any(|blocker| ends(*blocker)))
    }

    /// Whether the node has an input with edges that must have a message before the node can run.
    fn has_required(&self, node: usize) -> bool {
        let mut inputs = self.nodes[node].inputs.iter();
        inputs.any(|input| input.is_required() && !input.edges.is_empty())
    }

    /// Returns the missing messages and the missing room for which a node waits that is not done. Empty for a node that could
    /// run.
    fn blockers(&self, node: usize) -> Vec<Blocker<'a>> {
        let NodeStatus { inputs, outputs, unmet, runs_without_messages, .. } = &self.nodes[node];
        let is_flushed_now = self.nodes[node].is_flushed_now();
        let needs_none = *runs_without_messages
            || self.has_required(node)
            || self.waiting(node).next().is_some();
        let needs = |input: &&PortStatus| !is_flushed_now && (!input.optional || !needs_none);
        let required = inputs.iter().filter(needs);
        let empty = required.flat_map(|input| &input.edges).filter(|edge| edge.waiting == 0);
        let full = outputs.iter().flat_map(|output| &output.edges).filter(|edge| edge.blocks());
        let room = |edge: &'a EdgeStatus| {
            self.consumers.get(&edge.id).map(|node| Blocker::Room(edge, *node))
        };
        let of_condition = |condition: &'a UnmetCondition| {
            let others = if condition.is_room { &self.consumers } else { &self.producers };
            let nodes = condition.edges.iter().filter_map(|edge| others.get(edge));
            nodes.map(move |node| Blocker::Condition(condition, *node))
        };
        // If a condition names the same edge, the wait for the edge itself is left out, because the condition's text says more.
        let is_default = |edge: &&EdgeStatus, is_room| {
            !unmet.iter().any(|unmet| unmet.is_room == is_room && unmet.edges.contains(&edge.id))
        };
        let empty = empty.filter(|edge| is_default(edge, false));
        let full = full.filter(|edge| is_default(edge, true));
        let defaults = empty.filter_map(|edge| self.message(edge)).chain(full.filter_map(room));
        defaults.chain(unmet.iter().flat_map(of_condition)).collect()
    }

    /// Returns the messages that may be missing for a node that could run, but leaves its messages in the queue.
    fn optional_blockers(&self, node: usize) -> Vec<Blocker<'a>> {
        let edges = self.nodes[node].inputs.iter().flat_map(|input| &input.edges);
        edges.filter(|edge| edge.waiting == 0).filter_map(|edge| self.message(edge)).collect()
    }

    fn message(&self, edge: &'a EdgeStatus) -> Option<Blocker<'a>> {
        self.producers.get(&edge.id).map(|node| Blocker::Message(edge, *node))
    }

    /// Whether a node waits only for nodes that ended themselves, directly or through other nodes. `known` has the results that
    /// were found before.
    fn is_by_finish(&self, first: usize, timing: &Timing, known: &mut [Option<bool>]) -> bool {
        // This is a loop, since a recursion could exhaust the stack in a long graph. If a node is on the path already, nodes wait
        // for each other in a cycle, which does not count as waiting for nodes that ended themselves.
        let mut path = vec![first];
        while let Some(&node) = path.last() {
            let status = &self.nodes[node];
            let mut blockers = Vec::new();
            if !status.is_done() {
                blockers = self.lasting_blockers(node, timing);
                if blockers.is_empty() {
                    blockers = self.optional_blockers(node);
                }
            }
            let is_unknown = |blocker: &&Blocker<'_>| known[blocker.node()].is_none();
            let unknown = blockers.iter().find(is_unknown).map(|blocker| blocker.node());
            match unknown {
                Some(next) if known[node].is_none() => {
                    known[node] = Some(false);
                    path.push(next);
                }
                Some(next) => path.push(next),
                None => {
                    let all = |blocker: &Blocker<'_>| known[blocker.node()] == Some(true);
                    let by_others = !blockers.is_empty() && blockers.iter().all(all);
                    let has_ended = status.has_ended_early() || status.has_ended_itself();
                    known[node] = Some(has_ended || by_others);
                    path.pop();
                }
            }
        }
        known[first] == Some(true)
    }

    /// Returns the texts of the chains that begin at these nodes.
    fn chains(&self, mut nodes: Vec<usize>, timing: &Timing) -> Vec<String> {
        // Chains begin at sources first, because a source's chain leads through most of the other nodes.
        nodes.sort_by_key(|node| !self.nodes[*node].inputs.is_empty());
        let (mut starts, mut told, mut chains) =
            (VecDeque::from(nodes), HashSet::new(), Vec::new());
        while let Some(start) = starts.pop_front() {
            if !told.contains(&start) {
                chains.push(self.chain(start, timing, &mut told, &mut starts));
            }
        }
        chains
    }

    /// Returns the text of a chain: from a node to the node that it waits for, and so on, up to the cause or to a node that was
    /// described before. If a node waits for several nodes, the chain goes on at the first; the others begin chains of their own.
    fn chain(
        &self,
        first: usize,
        timing: &Timing,
        told: &mut HashSet<usize>,
        starts: &mut VecDeque<usize>,
    ) -> String {
        let (mut links, mut node) = (Vec::new(), first);
        loop {
            told.insert(node);
            let (link, blockers) = self.link(node, timing);
            links.push(link);
            let mut next = blockers.iter().map(|blocker| blocker.node());
            let mut untold = next.clone().filter(|next| !told.contains(next));
            match untold.next() {
                Some(next) => node = next,
                None => {
                    links.extend(
                        next.next().map(|above| format!("`{}`, as above", self.nodes[above].name)),
                    );
                    break;
                }
            }
            starts.extend(untold);
        }
        if links.len() > MOST_LINKS {
            let (begin, end) = (MOST_LINKS / 2, links.len() - MOST_LINKS / 2);
            let cut = format!("… {} more nodes …", end - begin);
            links.splice(begin..end, [cut]);
        }
        links.join(" → ")
    }

    /// Returns one link of a chain: a text about the messages that a node has and lacks, and what the node waits for.
    fn link(&self, node: usize, timing: &Timing) -> (String, Vec<Blocker<'a>>) {
        let status = &self.nodes[node];
        let name = &status.name;
        if status.is_finished {
            return (format!("`{name}` has finished"), Vec::new());
        }
        if status.is_at_limit {
            return (format!("`{name}` is done: the run's limit is reached"), Vec::new());
        }
        if let Some(ended) = &status.ended_by {
            let (condition, reason) = (ended.condition, &ended.reason);
            let has = match self.waiting(node).next() {
                Some(edge) if ended.is_abandoned => {
                    format!(" has the message of `{}`, but", edge.name)
                }
                _ => String::new(),
            };
            let text = format!(
                "`{name}`{has} is done: its condition `{condition}` can't hold again, since {reason}"
            );
            return (text, Vec::new());
        }
        if let Some(count) = status.count.filter(|_| status.has_reached_count()) {
            let failed = status.failed_ticks();
            let text = format!("`{name}` is done: its `count` of {count} is reached{failed}");
            return (text, Vec::new());
        }
        let failed = status.failed_ticks();
        let ticks = match (status.count, status.ticks) {
            (Some(count), ticks) => format!("`{name}`, after {ticks} of {count} ticks{failed},"),
            (None, 1) => format!("`{name}`, after 1 tick{failed},"),
            (None, ticks) => format!("`{name}`, after {ticks} ticks{failed},"),
        };
        let ticks = match status.flush {
            Flushing::GoesOn => format!("{ticks} has more to flush, and"),
            Flushing::Over => format!("{ticks} was flushed, and"),
            Flushing::Never | Flushing::Pending => ticks,
        };
        let has = self.waiting(node).map(|edge| format!("`{}`", edge.name)).collect::<Vec<_>>();
        let (blockers, has_some) = (self.lasting_blockers(node, timing), !has.is_empty());
        let has = match has.len() {
            1 => format!("the message of {}", has[0]),
            _ => format!("the messages of {}", has.join(" and ")),
        };
        let lacks = |blockers: &[Blocker<'_>]| {
            let mut lacks: Vec<_> = blockers.iter().map(|blocker| self.lack(*blocker)).collect();
            // If a condition waits for several nodes, there are several equal texts, of which one is enough.
            lacks.dedup();
            lacks.join(", and ")
        };
        if blockers.is_empty() {
            let optional = self.optional_blockers(node);
            let perhaps = match optional.len() {
                0 => String::new(),
                _ => format!(", and lacks {}", lacks(&optional)),
            };
            return (format!("{ticks} runs, but leaves {has}{perhaps}"), optional);
        }
        let has = if has_some { format!(" has {has}, but") } else { String::new() };
        let remedy = self.remedy_of_branches(node, &blockers);
        (format!("{ticks}{has} waits for {}{remedy}", lacks(&blockers)), blockers)
    }
}

impl Graph<'_> {
    fn lack(&self, blocker: Blocker<'_>) -> String {
        match blocker {
            Blocker::Message(edge, node) => {
                let producer = &self.nodes[node];
                let is_silent =
                    |output: &&PortStatus| output.edges.iter().any(|one| one.id == edge.id);
                let silent = producer.silent_outputs().find(is_silent).map(|output| {
                    let (name, ticks) = (&producer.name, producer.ticks);
                    format!(
                        ": none of the {ticks} tick(s) of `{name}` has called `emit` on `{}`",
                        output.name
                    )
                });
                format!(
                    "a message of `{}`, which is empty{}",
                    edge.name,
                    silent.unwrap_or_default()
                )
            }
            Blocker::Room(edge, _) => {
                format!(
                    "room in `{}`, which is full ({} of {})",
                    edge.name, edge.waiting, edge.capacity
                )
            }
            Blocker::Taker(edge, _) => format!("a node that takes messages of `{}`", edge.name),
            Blocker::Condition(UnmetCondition { condition, lacks, has_some, .. }, _) => {
                let remedy = if *has_some {
                    " (`any(…, expiring(…))` or `#[operator(flush)]` would also take the last ones)"
                } else {
                    ""
                };
                format!("{lacks}, condition `{condition}`{remedy}")
            }
        }
    }
}
