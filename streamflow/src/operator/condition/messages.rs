//! `#[when(message_available(…))]`, `#[when(multi_message(…))]` and `#[when(expiring(…))]`: conditions on the number of messages
//! that wait at inputs, and on their age.

use std::time::Duration;

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term, find};
use crate::error::Result;
use crate::message::EdgeStatus;
use crate::operator::status::PortStatus;

/// The condition that enough messages wait at one or more inputs.
#[derive(Debug)]
pub(super) struct Messages {
    inputs: Vec<Input>,
    need: Need,
}

#[derive(Debug)]
struct Input {
    name: &'static str,
    index: usize,
}

/// How many messages must wait at the inputs of a [`Messages`].
#[derive(Debug)]
pub(super) enum Need {
    /// The number of messages at all the inputs together.
    Sum(usize),
    /// The number of messages at each of the inputs, in their order.
    Each(Vec<usize>),
}

impl Messages {
    pub(super) fn new(names: &[&'static str], need: Need) -> Self {
        let input = |name: &&'static str| Input { name, index: 0 };
        Self { inputs: names.iter().map(input).collect(), need }
    }

    /// Returns groups of inputs, each with the number of messages that must wait at the inputs of the group together.
    fn groups(&self) -> impl Iterator<Item = (&[Input], usize)> {
        let (sum, each): (_, &[usize]) = match &self.need {
            Need::Sum(sum) => (Some((&*self.inputs, *sum)), &[]),
            Need::Each(each) => (None, each),
        };
        let single = self.inputs.iter().map(std::slice::from_ref);
        sum.into_iter().chain(single.zip(each.iter().copied()))
    }
}

fn edges<'a>(group: &[Input], ports: &NodePorts<'a>) -> Vec<&'a EdgeStatus> {
    group.iter().flat_map(|input| &ports.inputs[input.index].edges).collect()
}

impl Term for Messages {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        for input in &mut self.inputs {
            input.index = find(ports.inputs, input.name)?;
        }
        for (group, needed) in self.groups() {
            let capacity = edges(group, ports)
                .iter()
                .fold(0_usize, |sum, edge| sum.saturating_add(edge.capacity));
            let names = group.iter().map(|input| format!("`{}`", input.name));
            let names = names.collect::<Vec<_>>().join(" and ");
            if needed == 0 {
                return Err(format!("it waits for 0 messages at {names}; it takes at least 1"));
            }
            if needed > capacity {
                return Err(format!(
                    "it waits for {needed} messages, but the edges to {names} hold {capacity}; give them \
                     `#[capacity(n)]`, {needed} together, or wait for fewer"
                ));
            }
        }
        Ok(())
    }

    fn may_await(&self, _: bool) -> bool {
        true
    }

    fn awaits(&self, input: usize) -> bool {
        self.inputs.iter().any(|awaited| awaited.index == input)
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        for (group, needed) in self.groups() {
            let mut found = 0;
            for input in group {
                at.input(input.index, |input| found += input.waiting());
            }
            if found < needed {
                return Ok(Verdict::Blocked);
            }
        }
        Ok(Verdict::Ready)
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        let (mut texts, mut lacking, mut has_some) = (Vec::new(), Vec::new(), false);
        for (group, needed) in self.groups() {
            let edges = edges(group, ports);
            let found: usize = edges.iter().map(|edge| edge.waiting).sum();
            if found < needed {
                has_some |= found > 0;
                texts.push(format!("{found} of {needed} messages of {}", names(&edges)));
                // A full edge is left out: it already has all the messages that can wait there.
                let open = edges.iter().filter(|edge| edge.waiting < edge.capacity);
                lacking.extend(open.map(|edge| edge.id));
            }
        }
        let text = format!("more: {}", texts.join(" and "));
        (!texts.is_empty()).then_some(Lack { text, edges: lacking, is_room: false, has_some })
    }
}

fn names(edges: &[&EdgeStatus]) -> String {
    edges.iter().map(|edge| format!("`{}`", edge.name)).collect::<Vec<_>>().join(" and ")
}

/// The condition that the oldest message at an input was acquired at least `timeout` ago.
#[derive(Debug)]
pub(super) struct Expiring {
    name: &'static str,
    index: usize,
    timeout: Duration,
}

impl Expiring {
    pub(super) fn new(name: &'static str, timeout: Duration) -> Self {
        Self { name, index: 0, timeout }
    }
}

impl Term for Expiring {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        self.index = find(ports.inputs, self.name)?;
        if ports.inputs[self.index].edges.is_empty() {
            return Err(no_edge(self.name));
        }
        if self.timeout.is_zero() {
            return Err(format!(
                "the timeout is 0; give it a longer one, as `50ms`, or write `message_available({}, 1)`",
                self.name
            ));
        }
        Ok(())
    }

    fn needs_time(&self) -> bool {
        true
    }

    fn may_await(&self, _: bool) -> bool {
        true
    }

    fn awaits(&self, input: usize) -> bool {
        self.index == input
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let mut oldest = None;
        at.input(self.index, |input| oldest = input.oldest());
        Ok(match oldest {
            None => Verdict::Blocked,
            Some(acquired) if acquired + self.timeout > at.now => {
                Verdict::Until(acquired + self.timeout)
            }
            Some(_) => Verdict::Ready,
        })
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        let PortStatus { edges, .. } = &ports.inputs[self.index];
        if edges.iter().any(|edge| edge.waiting > 0) {
            return Some(Lack::outside("the time of its message".into()));
        }
        let text = format!("a message of {}", names(&edges.iter().collect::<Vec<_>>()));
        let edges = edges.iter().map(|edge| edge.id).collect();
        Some(Lack { text, edges, is_room: false, has_some: false })
    }
}

/// Returns the error text for an input to which no edge leads.
fn no_edge(input: &str) -> String {
    format!("no edge leads to `{input}`; connect it, or remove the condition")
}
