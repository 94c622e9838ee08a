//! Simulated time: what events with timing are stamped with.
//!
//! It is a model, and no measurement of anything. Each device has an engine for copies from the host, one
//! for copies to the host or to another device, and one for all else; each does one thing at a time, at
//! a fixed speed. An operation begins when its stream, the records that it waited for and the host that
//! queued it are there, and its engine has time. So work on one stream takes the sum of its parts, and
//! work on several streams overlaps where a device could overlap it. The default stream's implicit barrier is not
//! modelled, and no host code takes time. The same seed and calls give the same times.

use std::collections::VecDeque;

use super::queue::{Op, Point, Queued};
use super::sim::Sim;
use crate::driver::CopyKind;

/// What an operation takes beside its bytes, in nanoseconds.
const OVERHEAD: u64 = 2_000;
/// Bytes in a nanosecond: copies from and to the host, and all that stays on a device.
const HOST_SPEED: u64 = 25;
const DEVICE_SPEED: u64 = 50;

/// How many records of a stream, and spans of an engine, are remembered with their time.
const REMEMBERED: usize = 64;

#[derive(Debug, Clone, Copy)]
enum Engine {
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
    fn take(&mut self, begins: u64, takes: u64) -> u64 {
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

impl Sim {
    /// Gives an operation that executes now its place in simulated time.
    pub(super) fn stamp(&mut self, index: usize, queued: &Queued) {
        let begins = match &queued.op {
            Op::Wait { until, .. } => self.time_of(*until),
            _ => queued.at,
        };
        let work = match &queued.op {
            Op::Copy { kind, bytes, .. } => Some(match kind {
                CopyKind::PinnedToDevice | CopyKind::PageableToDevice => {
                    (Engine::FromHost, bytes / HOST_SPEED)
                }
                CopyKind::DeviceToPinned | CopyKind::DeviceToPageable | CopyKind::Peer { .. } => {
                    (Engine::ToHost, bytes / HOST_SPEED)
                }
                CopyKind::DeviceToDevice => (Engine::Device, bytes / DEVICE_SPEED),
            }),
            Op::Fill { bytes, .. } | Op::Kernel { bytes, .. } => {
                Some((Engine::Device, bytes / DEVICE_SPEED))
            }
            Op::Poison { .. } | Op::Record { .. } | Op::Wait { .. } | Op::Host(_) => None,
        };
        let stream = &mut self.streams[index];
        stream.time = stream.time.max(begins);
        if let Some((engine, takes)) = work {
            let engine = &mut self.devices[stream.device.index()].engines[engine as usize];
            stream.time = engine.take(stream.time, OVERHEAD + takes);
        }
        if let Op::Record { .. } = queued.op {
            if stream.recorded.len() == REMEMBERED {
                stream.recorded.pop_front();
            }
            stream.recorded.push_back((queued.number, stream.time));
        }
    }

    /// The host has seen a place reached: what it queues from now on begins later.
    pub(super) fn host_saw(&mut self, point: Point) {
        self.host_time = self.host_time.max(self.time_of(point));
    }

    /// When a place was reached. Of a record that was forgotten, the earliest that is known after it.
    pub(super) fn time_of(&self, point: Point) -> u64 {
        let stream = &self.streams[point.stream.index as usize];
        if stream.generation != point.stream.generation {
            return 0;
        }
        let later = stream.recorded.iter().find(|(number, _)| *number >= point.number);
        later.map_or(stream.time, |(_, time)| *time)
    }
}
