//! The edges of a trace's graph: which calls must execute before which.

use smallvec::SmallVec;

use super::Omission;
use super::trace::{Trace, Work};
use crate::driver::RawStream;

impl Trace {
    /// For each call that becomes a graph node: the indices of the nearest earlier such calls that it comes after, by the
    /// order of its stream and by waits. For a record or a wait the list is empty.
    pub(super) fn edges(&self, left_out: Option<Omission>) -> Vec<SmallVec<[u32; 4]>> {
        // `next`: for each stream, the calls that its next work must come after. `covered`: for each record, the calls that
        // a wait for it comes after.
        let mut next: Vec<(RawStream, SmallVec<[u32; 4]>)> = Vec::new();
        let mut covered: Vec<SmallVec<[u32; 4]>> = Vec::with_capacity(self.len());
        let mut edges = Vec::with_capacity(self.len());
        for (index, call) in self.calls.iter().enumerate() {
            let place = next.iter().position(|(stream, _)| *stream == call.stream);
            let place = place.unwrap_or_else(|| {
                next.push((call.stream, SmallVec::new()));
                next.len() - 1
            });
            let after = &mut next[place].1;
            let (mut before, mut covers) = (SmallVec::new(), SmallVec::new());
            match call.work {
                Work::Record(..) => covers.clone_from(after),
                Work::Wait(record) if left_out != Some(Omission::Edges) => {
                    for node in &covered[record as usize] {
                        if !after.contains(node) {
                            after.push(*node);
                        }
                    }
                }
                Work::Wait(_) => {}
                _ => {
                    before = std::mem::take(after);
                    after.push(index as u32);
                }
            }
            covered.push(covers);
            edges.push(before);
        }
        edges
    }
}
