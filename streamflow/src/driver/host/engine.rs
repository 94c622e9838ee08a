//! The engines of a simulated device, and when they are busy. See [`clock`](super::clock).

use std::collections::VecDeque;

/// How many records of a stream, and spans of an engine, are remembered with their time.
pub(super) const REMEMBERED: usize = 64;

/// One of a device's engines.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine {
    FromHost,
    ToHost,
    Device,
}

/// When an engine is busy: spans with a beginning and an end, in order.
#[derive(Debug, Default)]
pub(super) struct Busy(VecDeque<(u64, u64)>);

impl Busy {
    /// Takes the first time from `begins` on in which it is free for so long, and says when that ends. The
    /// simulator does not execute in the order of time, so a gap before other work may be taken.
    pub(super) fn take(&mut self, begins: u64, takes: u64) -> u64 {
        let mut start = begins;
        let mut place = self.0.len();
        // Nearly always it is free again after the last of them.
        let all_over = self.0.back().is_none_or(|&(_, to)| to <= begins);
        let in_the_way = if all_over { self.0.len() } else { 0 };
        for (index, &(from, to)) in self.0.iter().enumerate().skip(in_the_way) {
            if start + takes <= from {
                place = index;
                break;
            }
            start = start.max(to);
        }
        let end = start + takes;
        self.0.insert(place, (start, end));
        if self.0.len() > REMEMBERED {
            // What is that old counts as busy throughout.
            if let (Some((from, _)), Some(second)) = (self.0.pop_front(), self.0.front_mut()) {
                second.0 = from;
            }
        }
        end
    }
}
