//! A node that waits for a message of another branch. A tick of an operator with branches sends on at most one of them, so a node
//! behind two branches may have a message of one of them, and wait for a message of the other one without end.

use std::collections::HashSet;

use super::{Blocker, Graph};
use crate::message::EdgeStatus;
use crate::operator::PortStatus;

/// A branch: its node, and the index of the output.
type Branch = (usize, usize);

impl Graph<'_> {
    /// Returns the remedy for a node that has messages and waits for one that would come along another branch. Empty for any other
    /// node, and for a node that optional inputs would not help: a condition names them, or a feedback edge always has a message.
    pub(super) fn remedy_of_branches(&self, node: usize, blockers: &[Blocker<'_>]) -> String {
        let Some(chooser) = self.chooser(node, blockers) else { return String::new() };
        let is_behind = |input: &&PortStatus| {
            let mut edges = input.edges.iter();
            edges.any(|edge| {
                self.branches_before(edge, false).iter().any(|(from, _)| *from == chooser)
            })
        };
        let required = self.nodes[node].inputs.iter().filter(|input| input.is_required());
        let inputs: Vec<&PortStatus> = required.filter(is_behind).collect();
        let feedback = |input: &PortStatus| input.edges.iter().any(|edge| edge.feedback);
        if inputs.iter().any(|input| input.is_paired || input.is_awaited)
            || self.nodes[node].inputs.iter().any(feedback)
        {
            return String::new();
        }
        let names: Vec<String> = inputs.iter().map(|input| format!("`{}`", input.name)).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        let (names, name) = (names.join(" and "), &self.nodes[node].name);
        let branches = self.nodes[chooser].outputs.iter().filter(|output| output.is_branch);
        let full = branches.flat_map(|output| &output.edges).find(|edge| edge.blocks());
        let pairs = full.map(|edge| {
            format!(
                "; for pairs, give `{}` a `#[capacity(n)]` for the messages that come in a row",
                edge.name
            )
        });
        format!(
            " (a tick of `{}` sends on one branch: if {names} {are} `optional`, `{name}` runs without the missing message{})",
            self.nodes[chooser].name,
            pairs.unwrap_or_default()
        )
    }

    /// Returns the node whose choice keeps the message away that this node waits for: its ticks have chosen other branches. If
    /// there are several, the one that also sent a message that waits.
    fn chooser(&self, node: usize, blockers: &[Blocker<'_>]) -> Option<usize> {
        let chose_another = |(chooser, output): &Branch| {
            let mut others = self.nodes[*chooser].outputs.iter().enumerate();
            others.any(|(other, port)| other != *output && port.is_branch && port.has_emitted)
        };
        let missing = blockers.iter().filter_map(|blocker| match blocker {
            Blocker::Message(edge, _) if !edge.feedback => Some(self.branches_before(edge, true)),
            _ => None,
        });
        let missing: Vec<Branch> = missing.flatten().filter(chose_another).collect();
        let mut waiting = self.waiting(node).filter(|edge| !edge.feedback).peekable();
        if missing.is_empty() || waiting.peek().is_none() {
            return None;
        }
        let present: HashSet<Branch> =
            waiting.flat_map(|edge| self.branches_before(edge, false)).collect();
        let absent = missing.iter().filter(|branch| !present.contains(*branch));
        let causes: Vec<usize> = absent.map(|(chooser, _)| *chooser).collect();
        let has_sent = |cause: &&usize| present.iter().any(|(chooser, _)| chooser == *cause);
        causes.iter().find(has_sent).or(causes.first()).copied()
    }

    /// Returns the branches that a message of this edge may have come along. If `missing` is true, the edge lacks a message, and
    /// the search ends at a node that keeps it back for another reason: messages wait for the node, or it has never called `emit`.
    fn branches_before(&self, edge: &EdgeStatus, missing: bool) -> Vec<Branch> {
        let (mut edges, mut visited, mut branches) = (vec![edge.id], HashSet::new(), Vec::new());
        while let Some(edge) = edges.pop() {
            let Some(&node) = self.producers.get(&edge).filter(|_| visited.insert(edge)) else {
                continue;
            };
            let status = &self.nodes[node];
            let begins = |output: &PortStatus| output.edges.iter().any(|other| other.id == edge);
            let Some(output) = status.outputs.iter().position(begins) else { continue };
            if status.outputs[output].is_branch {
                branches.push((node, output));
            }
            if missing && self.keeps_back(node, status.outputs[output].name) {
                continue;
            }
            let inputs = status.inputs.iter().flat_map(|input| &input.edges);
            edges.extend(inputs.filter(|edge| !edge.feedback).map(|edge| edge.id));
        }
        branches
    }

    fn keeps_back(&self, node: usize, output: &str) -> bool {
        self.waiting(node).any(|edge| !edge.feedback)
            || self.nodes[node].silent_outputs().any(|silent| silent.name == output)
    }
}
