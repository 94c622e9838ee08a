//! Where memory was allocated, and who may use it.
//!
//! An allocation is in the order of its stream. Another stream may use the memory once the host has waited for that
//! stream. An event would do as well, and is not understood here: so a free, which comes after events, is no use.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// Streams with work other than allocations.
    worked: BTreeSet<u64>,
    /// Streams with allocations.
    allocated: BTreeSet<u64>,
    /// Memory that the host has not waited for: its size and its stream, by the address.
    unordered: BTreeMap<u64, (u64, u64)>,
}

impl Allocations {
    /// Notes work on a stream. Returns whether memory was allocated on it.
    pub(crate) fn work(&mut self, stream: u64) -> bool {
        self.worked.insert(stream) && self.allocated.contains(&stream)
    }

    /// Notes an allocation. Returns whether its stream has work.
    pub(crate) fn allocate(&mut self, stream: u64, address: u64, bytes: u64) -> bool {
        self.unordered.insert(address, (bytes, stream));
        self.allocated.insert(stream) && self.worked.contains(&stream)
    }

    /// Notes that the host has waited for a stream. Returns whether it has waited for work.
    pub(crate) fn wait(&mut self, stream: u64) -> bool {
        self.unordered.retain(|_, (_, allocated_on)| *allocated_on != stream);
        self.worked.contains(&stream)
    }

    /// Whether a stream may use memory.
    pub(crate) fn may_use(&self, stream: u64, address: u64) -> bool {
        let before = self.unordered.range(..=address).next_back();
        before.is_none_or(|(start, (bytes, allocated_on))| {
            address - start >= *bytes || *allocated_on == stream
        })
    }

    pub(crate) fn free(&mut self, address: u64) {
        self.unordered.remove(&address);
    }
}
