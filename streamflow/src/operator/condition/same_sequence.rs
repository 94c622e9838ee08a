//! `#[when(same_sequence)]`: a node that runs only for messages with equal sequence numbers.
//!
//! Several paths from one source join at the node, and each path may drop messages. A message is *alone* if the next message of
//! another path has a larger number: numbers grow on each path, so its partner will not come. The check drops messages that are
//! alone, oldest first, until the numbers are equal. Which messages are dropped depends on the messages alone, not on the times
//! at which they arrive.
//!
//! Sequence numbers of different origins can't be compared: a tick that would receive such messages fails.
//!
//! The check stages the messages that it compares, so no queue's policy drops one of them between the check and the tick.

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term, find};
use crate::error::{Failure, Result, drop_all};
use crate::message::Mark;

/// The condition that the messages of some inputs have equal sequence numbers.
#[derive(Debug)]
pub(super) struct SameSequence {
    /// The inputs that the condition names; if empty, it compares the messages of all required inputs.
    names: Vec<&'static str>,
    /// For each input of the operator, whether its messages are compared.
    compares: Vec<bool>,
}

impl SameSequence {
    pub(super) fn new(names: &[&'static str]) -> Self {
        Self { names: names.into(), compares: Vec::new() }
    }
}

/// A summary of the messages that the next tick would receive.
#[derive(Default)]
struct Heads {
    /// The mark of the first message, and the name of its input.
    first: Option<(Mark, &'static str)>,
    newest: u64,
    is_missing: bool,
    differ: bool,
    /// The name of an input whose message has another origin than the first message.
    foreign: Option<&'static str>,
}

impl Heads {
    fn add(&mut self, input: &'static str, head: Option<Mark>) {
        let Some(mark) = head else { return self.is_missing = true };
        let (first, _) = *self.first.get_or_insert((mark, input));
        self.differ |= first.sequence() != mark.sequence();
        self.newest = self.newest.max(mark.sequence());
        if first.origin() != mark.origin() {
            self.foreign = self.foreign.or(Some(input));
        }
    }
}

impl Term for SameSequence {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        self.compares = vec![false; ports.inputs.len()];
        for name in &self.names {
            let index = find(ports.inputs, name)?;
            self.compares[index] = true;
            if ports.inputs[index].optional {
                return Err(format!(
                    "`{name}` is an optional input, without whose messages the node runs; leave it out, or declare it \
                     `#[input]`"
                ));
            }
            if ports.inputs[index].edges.iter().all(|edge| edge.feedback) {
                return Err(format!(
                    "`{name}` carries the state of an earlier tick, by `#[feedback]`; leave it out"
                ));
            }
        }
        let mut edges = 0;
        for (input, compares) in ports.inputs.iter().zip(&mut self.compares) {
            let of_input = input.edges.iter().filter(|edge| !edge.feedback).count();
            *compares |= self.names.is_empty() && !input.optional && of_input > 0;
            edges += if *compares { of_input } else { 0 };
        }
        if edges < 2 {
            return Err(
                "it compares messages of two edges or more, and one leads to a required input; remove the condition".into(),
            );
        }
        Ok(())
    }

    fn pairs(&self, input: usize) -> bool {
        self.compares.get(input) == Some(&true)
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let mut heads = Heads::default();
        self.visit(at, |input| {
            let name = input.name();
            input.heads(&mut |head| heads.add(name, head));
        });
        if heads.is_missing {
            return Ok(Verdict::Blocked);
        }
        if let (Some(other), Some((_, first))) = (heads.foreign, heads.first) {
            at.failure = Some(Failure::msg(format!(
                "`same_sequence` compares the message of `{other}` with that of `{first}`, but their data began at different \
                 nodes, whose numbers say nothing about each other; name the inputs whose messages come from one source, \
                 `same_sequence([a, b])`"
            )));
            return Ok(Verdict::Ready);
        }
        if !heads.differ {
            return Ok(Verdict::Ready);
        }
        at.has_dropped = true;
        drop_all(|| self.visit(at, |input| input.drop_older(heads.newest)))
            .map_err(|panic| *panic)?;
        Ok(Verdict::Blocked)
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        // `None`: the lack is a message of another input. The node reports that lack itself, since it needs the message in any
        // case.
        None
    }
}

impl SameSequence {
    /// Calls `visit` with each input whose messages are compared.
    fn visit(
        &self,
        at: &mut Situation<'_>,
        mut visit: impl FnMut(&mut dyn crate::port::ReceivingEnd),
    ) {
        let mut compares = self.compares.iter();
        at.ports.inputs(&mut |input| {
            if compares.next() == Some(&true) {
                visit(input);
            }
        });
    }
}
