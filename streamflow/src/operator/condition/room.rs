//! `#[when(room(output))]`: a node that runs only while its output has room, also on edges whose policy would drop a message.

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term, find};
use crate::error::Result;

/// The condition that each edge of an output has room for a message.
#[derive(Debug)]
pub(super) struct Room {
    name: &'static str,
    index: usize,
}

impl Room {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, index: 0 }
    }
}

impl Term for Room {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        self.index = find(ports.outputs, self.name)?;
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let mut is_full = false;
        at.output(self.index, |output| is_full = output.is_full());
        Ok(if is_full { Verdict::Blocked } else { Verdict::Ready })
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        let edges = &ports.outputs[self.index].edges;
        let full: Vec<_> = edges.iter().filter(|edge| edge.is_full()).collect();
        let texts = full.iter().map(|edge| {
            format!("`{}`, which is full ({} of {})", edge.name, edge.waiting, edge.capacity)
        });
        let text = format!("room in {}", texts.collect::<Vec<_>>().join(" and in "));
        let edges = full.iter().map(|edge| edge.id).collect();
        (!full.is_empty()).then_some(Lack { text, edges, is_room: true, has_some: false })
    }
}
