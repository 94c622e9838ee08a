//! The simulated time, from which events with timing get their times.
//!
//! The time is a model and measures nothing. Each device has an engine for copies from the host, an engine for copies to the
//! host or to another device, and an engine for all other work. An engine executes one operation at a time, at a fixed
//! speed. An operation begins at the latest of four times: when its stream is free, when the records that the stream waited
//! for are complete, when the host queued it, and when its engine is free. So operations on one stream take the sum of their
//! times, and operations on several streams overlap where a device could overlap them. The default stream's implicit barrier
//! is not modelled, and host code takes no time. The same seed and the same calls give the same times.

use super::HostDriver;
use super::context::Needs;
use super::engine::{Engine, REMEMBERED};
use super::point::Point;
use super::queue::{Op, Queued};
use super::refusal::{call_error, invalid_handle};
use super::sim::Sim;
use crate::driver::{CopyKind, DeviceId, DriverResult, RawEvent};

/// The fixed cost of each operation, in nanoseconds.
const OVERHEAD: u64 = 2_000;
/// The speed of copies from and to the host, and to another device, in bytes per nanosecond. `DEVICE_SPEED` is that of work
/// within a device.
const HOST_SPEED: u64 = 25;
const DEVICE_SPEED: u64 = 50;

impl Sim {
    /// Reserves the span of simulated time for an operation of stream `index` that executes now.
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
            Op::Fill { bytes, .. } => Some((Engine::Device, bytes / DEVICE_SPEED)),
            Op::Kernel { takes, .. } | Op::Library { takes, .. } => {
                Some((Engine::Device, takes.bytes / DEVICE_SPEED))
            }
            Op::Poison { .. } | Op::Record { .. } | Op::Wait { .. } | Op::Host(_) => None,
        };
        let stream = &mut self.streams[index];
        stream.time = stream.time.max(begins);
        if let Some((engine, takes)) = work {
            let engine = &mut self.devices[stream.device.index()].engines[engine as usize];
            stream.time = engine.reserve(stream.time, OVERHEAD + takes);
        }
        if let Op::Record { .. } = queued.op {
            if stream.recorded.len() == REMEMBERED {
                stream.recorded.pop_front();
            }
            stream.recorded.push_back((queued.number, stream.time));
        }
    }

    /// Notes that the host has found a point complete. Work that the host queues from now on begins no earlier than that
    /// point in simulated time.
    pub(super) fn host_found_complete(&mut self, point: Point) {
        self.host_time = self.host_time.max(self.time_of(point));
    }

    /// The simulated time at which a point was reached. If its record is no longer remembered, the time of the first
    /// remembered record after it on the stream; without such a record, the stream's time.
    pub(super) fn time_of(&self, point: Point) -> u64 {
        let stream = &self.streams[point.stream.index as usize];
        if stream.generation != point.stream.generation {
            return 0;
        }
        let later = stream.recorded.iter().find(|(number, _)| *number >= point.number);
        later.map_or(stream.time, |(_, time)| *time)
    }
}

impl HostDriver {
    /// Implements [`Driver::elapsed`](crate::driver::Driver::elapsed).
    pub(super) fn simulated_time_between(
        &self,
        start: RawEvent,
        end: RawEvent,
    ) -> DriverResult<f64> {
        const CALL: &str = "elapsed";
        let mut sim = self.enter(CALL, start.device(), Needs::Any)?;
        sim.check(start.device(), CALL)?;
        let time = |event: RawEvent| {
            let known = &sim.events[sim.event(event, CALL)?];
            if !known.has_timing {
                return Err(invalid_handle(CALL, event.device(), "the event has no timing"));
            }
            match known.latest {
                Some(latest) if sim.reached(latest) => Ok(sim.time_of(latest) as f64),
                Some(_) => {
                    let message = "the event's record is not complete";
                    Err(call_error(CALL, event.device(), 600, "CUDA_ERROR_NOT_READY", message))
                }
                None => Err(invalid_handle(CALL, event.device(), "the event was never recorded")),
            }
        };
        let (start, end) = (time(start)?, time(end)?);
        let elapsed = (end - start) / 1e6;
        // The answer is part of the explored state, since the time depends on the order in which operations executed.
        sim.observe_answer(elapsed.to_bits());
        Ok(elapsed)
    }

    /// Creates an event.
    pub(super) fn add_event(&self, device: DeviceId, has_timing: bool) -> DriverResult<RawEvent> {
        const CALL: &str = "create_event";
        let mut sim = self.enter(CALL, device, Needs::Own)?;
        sim.check(device, CALL)?;
        Ok(sim.add_event(device, has_timing))
    }
}
