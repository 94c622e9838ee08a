//! The engines of a simulated device, and the spans of simulated time in which each is busy. See [`clock`](super::clock).

use std::collections::VecDeque;

/// The number of latest records per stream, and of latest spans per engine, whose times are remembered.
pub(super) const REMEMBERED: usize = 64;

/// An engine of a device: it executes one operation at a time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine {
    /// Copies from the host.
    FromHost,
    /// Copies to the host, and copies to another device.
    ToHost,
    /// Kernels, fills, and copies within the device.
    Device,
}

/// The spans of simulated time in which an engine is busy, as pairs of a beginning and an end, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Busy(VecDeque<(u64, u64)>);

impl Busy {
    /// Reserves the first free span of length `takes` that begins at or after `begins`, and returns its end. Operations do
    /// not execute in the order of simulated time, so the span may be a gap between spans that were reserved earlier.
    pub(super) fn reserve(&mut self, begins: u64, takes: u64) -> u64 {
        let mut start = begins;
        let mut position = self.0.len();
        // Fast path: the last reserved span ends at or before `begins`.
        let ends_before = self.0.back().is_none_or(|&(_, to)| to <= begins);
        let skipped = if ends_before { self.0.len() } else { 0 };
        for (index, &(from, to)) in self.0.iter().enumerate().skip(skipped) {
            if start + takes <= from {
                position = index;
                break;
            }
            start = start.max(to);
        }
        let end = start + takes;
        self.0.insert(position, (start, end));
        if self.0.len() > REMEMBERED {
            // The two oldest spans are merged. The gap between them then counts as busy.
            if let (Some((from, _)), Some(second)) = (self.0.pop_front(), self.0.front_mut()) {
                second.0 = from;
            }
        }
        end
    }
}
