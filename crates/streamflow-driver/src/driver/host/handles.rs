//! The handles of streams, events and kernels: each names a slot of the simulator's state.
//!
//! Slots of destroyed objects are reused. A slot's *generation* counts the objects that the slot has had. A [`StreamKey`]
//! always includes the generation; a handle includes it unless the [variant](super::variant) reuses handles.

use std::collections::VecDeque;

use super::order::Order;
use super::point::StreamKey;
use super::queue::{Event, Stream, StreamKind};
use super::refusal::invalid_handle;
use super::sim::Sim;
use crate::driver::{DeviceId, DriverResult, RawEvent, RawFunction, RawStream};

impl Sim {
    pub(super) fn add_stream(&mut self, device: DeviceId, kind: StreamKind) -> RawStream {
        let name = self.stream_names;
        self.stream_names += 1;
        let fresh = Stream {
            generation: 0,
            device,
            kind,
            name,
            queue: VecDeque::with_capacity(64),
            params: VecDeque::with_capacity(256),
            touches: VecDeque::with_capacity(256),
            running_touches: 0,
            submitted: 0,
            done: 0,
            busy: None,
            destroyed: false,
            vacant: false,
            used: false,
            time: 0,
            recorded: VecDeque::new(),
            order: Order::default(),
        };
        let index = self.streams.iter().position(|stream| stream.vacant);
        let index = match index {
            Some(index) => {
                let slot = &mut self.streams[index];
                *slot = Stream { generation: slot.generation, ..fresh };
                index
            }
            None => {
                self.streams.push(fresh);
                self.streams.len() - 1
            }
        };
        // The slot is part of the explored state, since it may depend on the executed operations which slots are vacant.
        self.observe_answer(index as u64);
        RawStream::new(device, self.handle(index, self.streams[index].generation))
    }

    /// Returns the slot of a stream that was not destroyed.
    pub(super) fn stream(&self, raw: RawStream, call: &'static str) -> DriverResult<usize> {
        let (index, generation) = split(raw.handle());
        match self.streams.get(index) {
            Some(stream)
                if (stream.generation == generation || self.variant.reuses_handles)
                    && stream.device == raw.device()
                    && !stream.vacant
                    && !stream.destroyed =>
            {
                Ok(index)
            }
            _ => Err(invalid_handle(call, raw.device(), "there is no such stream")),
        }
    }

    /// Returns the device of a stream that was not destroyed, from the handle without a device.
    pub(super) fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId> {
        const CALL: &str = "device_of_stream";
        let device = self.streams.get(split(handle).0).map(|stream| stream.device);
        let found = device.and_then(|device| {
            self.stream(RawStream::new(device, handle), CALL).ok().map(|index| (index, device))
        });
        match found {
            Some((index, device)) if self.streams[index].kind != StreamKind::Default => Ok(device),
            _ => {
                let message = format!(
                    "{handle:#x} is the handle of no stream: it may be destroyed; keep the other library's stream \
                     while streamflow uses it"
                );
                Err(invalid_handle(CALL, device.unwrap_or_default(), &message))
            }
        }
    }

    pub(super) fn key(&self, index: usize) -> StreamKey {
        StreamKey { index: index as u32, generation: self.streams[index].generation }
    }

    pub(super) fn destroy_stream(&mut self, index: usize) {
        self.streams[index].destroyed = true;
        self.vacate(index);
    }

    /// Frees the slot of a destroyed stream if all work of the stream is complete.
    pub(super) fn vacate(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        if stream.destroyed && !stream.vacant && stream.oldest().is_none() {
            stream.vacant = true;
            stream.generation = stream.generation.wrapping_add(1);
            self.choose_slowest();
        }
    }

    pub(super) fn add_event(&mut self, device: DeviceId, has_timing: bool) -> RawEvent {
        let name = self.event_names;
        self.event_names += 1;
        let order = Order::default();
        let (generation, records, latest, vacant) = (0, 0, None, false);
        let fresh = Event { generation, device, name, has_timing, records, latest, order, vacant };
        let index = match self.free_events.pop() {
            Some(index) => {
                let slot = &mut self.events[index as usize];
                // The old event's `order` is reused for its memory, so an event in a reused slot allocates nothing.
                let order = std::mem::take(&mut slot.order);
                *slot = Event { generation: slot.generation, order, ..fresh };
                index as usize
            }
            None => {
                self.events.push(fresh);
                self.events.len() - 1
            }
        };
        RawEvent::new(device, self.handle(index, self.events[index].generation))
    }

    /// Returns the slot of an event that was not destroyed.
    pub(super) fn event(&self, raw: RawEvent, call: &'static str) -> DriverResult<usize> {
        let (index, generation) = split(raw.handle());
        match self.events.get(index) {
            Some(event)
                if (event.generation == generation || self.variant.reuses_handles)
                    && event.device == raw.device()
                    && !event.vacant =>
            {
                Ok(index)
            }
            _ => Err(invalid_handle(call, raw.device(), "there is no such event")),
        }
    }

    /// Destroys an event. Waits for it that are already queued still hold: each contains the point of the record.
    pub(super) fn destroy_event(&mut self, raw: RawEvent, call: &'static str) -> DriverResult<()> {
        let index = self.event(raw, call)?;
        let event = &mut self.events[index];
        event.vacant = true;
        event.generation = event.generation.wrapping_add(1);
        self.free_events.push(index as u32);
        Ok(())
    }

    pub(super) fn function(&self, raw: RawFunction, call: &'static str) -> DriverResult<u32> {
        match self.functions.get(raw.handle() as usize) {
            Some(function) if function.device == raw.device() => Ok(raw.handle() as u32),
            _ => Err(invalid_handle(call, raw.device(), "there is no such kernel")),
        }
    }

    /// Returns the handle of the object in a slot. A handle without the generation equals the handles of the slot's earlier
    /// objects, as on CUDA, where a handle is a pointer to memory that is reused.
    fn handle(&self, index: usize, generation: u32) -> u64 {
        let generation = if self.variant.reuses_handles { 0 } else { generation };
        u64::from(generation) << 32 | index as u64
    }
}

fn split(handle: u64) -> (usize, u32) {
    (handle as u32 as usize, (handle >> 32) as u32)
}
