//! Fingerprints of traces. A fingerprint is a hash; traces that differ only in the bytes of kernels' parameters have the
//! same one.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::lane::MOST;
use super::trace::{Trace, Work, part};
use crate::driver::{AccessMode, MemoryRange};

/// The number of latest traces that are remembered. A trace that comes again only after more other traces is too rare for a
/// graph. The number leaves room for a few traces per pass, and for as many rotations of buffers as there are lanes.
const SEEN: usize = 2 * MOST;

/// The fingerprints of the latest traces that have come once and have no lane. The list has a fixed size, so ticks that
/// never repeat allocate nothing.
#[derive(Debug)]
pub(super) struct Seen {
    latest: [Option<u64>; SEEN],
    next: usize,
    /// The number of traces that were noted. The trace of a segment too small for a graph is not noted: a node that polls
    /// its stream makes any number of such segments.
    noted: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { latest: [None; SEEN], next: 0, noted: 0 }
    }
}

impl Seen {
    /// The number of traces that were noted so far.
    pub(super) fn noted(&self) -> u64 {
        self.noted
    }

    /// Notes a trace. If an equal trace is remembered, removes that one and returns `true`. Two traces with the same
    /// fingerprint count as equal: a graph is then made one occurrence too early.
    pub(super) fn note(&mut self, trace: &Trace) -> bool {
        self.noted += 1;
        let fingerprint = Some(trace.fingerprint());
        if let Some(known) = self.latest.iter_mut().find(|known| **known == fingerprint) {
            *known = None;
            return true;
        }
        self.latest[self.next] = fingerprint;
        self.next = (self.next + 1) % SEEN;
        false
    }
}

impl Trace {
    /// Returns the hash of a trace. Traces that differ only in the bytes of kernels' parameters have the same hash.
    fn fingerprint(&self) -> u64 {
        let mut hash = FxHasher::default();
        for call in &self.calls {
            hash.write_u64(call.stream.handle());
            match call.work {
                Work::Launch(kernel) => {
                    hash.write_u64(kernel.function.handle());
                    let sizes = kernel.grid.iter().chain(&kernel.block);
                    sizes.for_each(|size| hash.write_u64(u64::from(*size)));
                    hash.write_u64(u64::from(kernel.shared_bytes));
                    let accesses = part(&self.accesses, kernel.accesses).iter();
                    for access in accesses {
                        add_range(&mut hash, access.range);
                        hash.write_u64(u64::from(access.mode == AccessMode::Write));
                    }
                }
                Work::Copy(copy) => {
                    let copy = &self.copies[copy as usize];
                    add_range(&mut hash, copy.source);
                    add_range(&mut hash, copy.target);
                }
                Work::Fill(range, byte) => {
                    add_range(&mut hash, range);
                    hash.write_u64(u64::from(byte));
                }
                Work::Recycle(range) => add_range(&mut hash, range),
                Work::Record(..) => hash.write_u64(1),
                Work::Wait(record) => hash.write_u64(2 + u64::from(record)),
                Work::Library(number, _) => hash.write_u64(number),
            }
        }
        hash.finish()
    }
}

fn add_range(hash: &mut FxHasher, range: MemoryRange) {
    hash.write_u64(range.address);
    hash.write_u64(range.bytes);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::trace::Given;
    use super::*;
    use crate::driver::{DeviceId, RawStream};

    fn trace(address: u64) -> Trace {
        let mut trace = Trace::default();
        let stream = RawStream::new(DeviceId(0), 7);
        trace.push(0, stream, Given::Fill(MemoryRange { address, bytes: 8 }, 1));
        trace
    }

    #[test]
    fn a_trace_is_known_when_it_comes_again_soon() {
        let mut seen = Seen::default();
        assert!(!seen.note(&trace(8)));
        assert!(!seen.note(&trace(16)));
        assert!(seen.note(&trace(8)));
        assert!(!seen.note(&trace(8)), "it was forgotten");
        // Each of these two traces is removed from the list every second time that it comes, so the loop adds half as many
        // traces to the list as it has turns.
        for turn in 0..2 * SEEN as u64 {
            seen.note(&trace(24 + turn % 2 * 8));
        }
        assert!(!seen.note(&trace(16)), "too late");
        assert!(seen.note(&trace(16)));
    }

    #[test]
    fn the_latest_traces_are_known() {
        let mut seen = Seen::default();
        for place in 0..=SEEN as u64 {
            assert!(!seen.note(&trace(place)));
        }
        assert!(!seen.note(&trace(0)), "the oldest had to go");
        assert!(seen.note(&trace(SEEN as u64)));
    }
}
