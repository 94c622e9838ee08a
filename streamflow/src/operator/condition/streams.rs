//! `#[when(stream_done(input))]` and `#[when(host_done(input))]`: a node that runs only when the device has done the work for the
//! message that the next tick receives.
//!
//! The first check stages the messages that the next tick receives. So the condition has waited for each message that the tick
//! receives. A queue's policy can't replace the staged message by a later one, which could keep the node from running for ever.

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term, find};
use crate::error::Result;

/// The condition that work is complete: the work that wrote a message, or the downloads in the message.
#[derive(Debug)]
pub(super) struct Done {
    name: &'static str,
    index: usize,
    awaited: Awaited,
}

/// The work for which the condition waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Awaited {
    /// All work on the stream of the message up to the message's point.
    Stream,
    /// The copy of each [`Download`](crate::Download) in the message.
    Downloads,
}

impl Done {
    pub(super) fn new(name: &'static str, awaited: Awaited) -> Self {
        Self { name, index: 0, awaited }
    }
}

impl Term for Done {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        self.index = find(ports.inputs, self.name)?;
        Ok(())
    }

    fn may_await(&self, is_one_of_several: bool) -> bool {
        is_one_of_several
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        // If all conditions must hold, the scheduler needs to wait for only one point at a time.
        let has_point = at.needs_all && !at.waits.points().is_empty();
        let (mut found, mut any) = (Ok(None), false);
        let (platform, awaited) = (at.platform, self.awaited);
        at.input(self.index, |input| {
            any = input.waiting() > 0;
            input.stage(&mut |point| {
                if let (Ok(None), Awaited::Stream, false) = (&found, awaited, has_point) {
                    let complete = platform.is_complete(point);
                    found = complete.map(|complete| (!complete).then_some(point));
                }
            });
            if let (Awaited::Downloads, false) = (awaited, has_point) {
                found = input.incomplete_download(platform);
            }
        });
        Ok(match found? {
            // An optional input without a message leaves nothing to wait for. In `any(…)`, where one condition is enough, that
            // must not make the node run.
            None if !any && at.needs_all => Verdict::Ready,
            None if !any => Verdict::Blocked,
            None if has_point => Verdict::OUTSIDE,
            None => Verdict::Ready,
            Some(point) => {
                at.waits.for_point(point);
                Verdict::OUTSIDE
            }
        })
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        let edges = &ports.inputs[self.index].edges;
        if edges.iter().any(|edge| edge.waiting > 0) {
            return Some(Lack::outside("the device".into()));
        }
        let names: Vec<_> = edges.iter().map(|edge| format!("`{}`", edge.name)).collect();
        let text = format!("a message of {}", names.join(" and "));
        let edges = edges.iter().map(|edge| edge.id).collect();
        Some(Lack { text, edges, is_room: false, has_some: false })
    }
}
