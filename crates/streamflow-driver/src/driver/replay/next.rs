//! The fast path of replay: the comparison of a call with the next call of the followed trace. The caller's arguments are
//! compared in place, and not copied. A call that differs in more than the bytes of parameters takes the [slow
//! path](super::pass).
//!
//! The fast path saves 5,470 of 20,260 instructions of a replayed tick of NVIDIA's CudaStreamPool example, and 1,020 of
//! 5,660 for an operator of a chain of 100. Most waits for records from outside of the segment equal those of the latest pass
//! with the same trace. Comparing them, instead of resolving each one anew, is 570 of the 1,020. callgrind counted the
//! instructions, of the benchmark `floor`.

use super::cursor::{Cursor, Outside};
use super::state::State;
use super::trace::{Call, Given, Trace, Work};
use crate::driver::{LibraryCall, Param, RawEvent, RawStream};

impl State {
    /// Returns the next call of the followed trace, if it is of this node and this stream.
    #[inline]
    fn next_call(&self, node: u32, stream: RawStream) -> Option<(&Trace, &Call)> {
        let trace = &self.lanes.get(self.cursor.lane as usize)?.trace;
        let call = trace.calls.get(self.cursor.place as usize)?;
        (call.stream == stream && call.node == node).then_some((trace, call))
    }

    /// Whether a launch, a copy, a fill or a recycled range equals the next call of the trace, as [`Trace::is_call`]
    /// decides. If so, the call is held back, and the cursor moves on.
    #[inline]
    pub(super) fn is_next(&mut self, node: u32, stream: RawStream, given: Given<'_>) -> bool {
        let place = self.cursor.place as usize;
        let Some(lane) = self.lanes.get(self.cursor.lane as usize) else { return false };
        if !lane.trace.is_call(place, (node, stream), given, self.omission) {
            return false;
        }
        if let Given::Launch(launch) = given {
            self.change(launch.params);
        }
        self.cursor.place += 1;
        true
    }

    /// Whether a library's call equals the next call of the trace. If so, the call is held back, and the cursor moves on.
    #[inline]
    pub(super) fn is_next_library(
        &mut self,
        node: u32,
        stream: RawStream,
        call: &LibraryCall<'_>,
    ) -> bool {
        let Some((_, known)) = self.next_call(node, stream) else { return false };
        let Work::Library(number, _) = known.work else { return false };
        let is_next = self.captures.is(number, call, self.omission);
        self.cursor.place += u32::from(is_next);
        is_next
    }

    /// Stores the parameters of a kernel launch in the next call of the trace, if they differ from those stored there. The
    /// graph's node gets them before the graph is launched.
    #[inline(never)]
    pub(super) fn change(&mut self, params: &[Param]) {
        if let Some(lane) = self.lanes.get_mut(self.cursor.lane as usize) {
            lane.change(self.cursor.place, params);
        }
    }

    /// Whether a record equals the next call of the trace; if so, it is held back. The events may differ, since a stream
    /// records the events of its ring in turn. The trace gets the new event.
    #[inline]
    pub(super) fn is_next_record(&mut self, node: u32, stream: RawStream, event: RawEvent) -> bool {
        let Some((_, call)) = self.next_call(node, stream) else { return false };
        let Work::Record(before, at) = call.work else { return false };
        let at = if before == event { Some(at) } else { self.events.find(event.handle()) };
        at.is_some_and(|at| self.hold_record(event, at))
    }

    /// Holds back a record of `event`, which is the next call of the trace. `at` is the index of the event's entry. Returns
    /// `false` if records of this event can't be held back.
    #[inline]
    pub(super) fn hold_record(&mut self, event: RawEvent, at: u32) -> bool {
        let Some(known) = self.events.at_mut(at) else { return false };
        // The event in the trace may have been destroyed, and its entry's index given to another event.
        if known.raw != Some(event) || !known.is_plain {
            return false;
        }
        (known.segment, known.place) = (self.segment, self.cursor.place);
        // The record will be inside of the next launch of a graph. If the held-back calls are sent instead, `mark_recorded`
        // clears the entry.
        (known.launch, known.lane) = (self.launches + 1, self.cursor.lane);
        let lane = self.lanes.get_mut(self.cursor.lane as usize);
        if let Some(call) = lane.and_then(|it| it.trace.calls.get_mut(self.cursor.place as usize)) {
            call.work = Work::Record(event, at);
        }
        self.cursor.place += 1;
        true
    }

    #[inline]
    pub(super) fn is_next_wait(&mut self, node: u32, stream: RawStream, event: RawEvent) -> bool {
        if let Some((trace, call)) = self.next_call(node, stream)
            && let Work::Wait(record) = call.work
            && let Some(known) = trace.calls.get(record as usize)
            && let Work::Record(before, at) = known.work
            && before == event
            && let Some(known) = self.events.at(at)
            && known.raw == Some(event)
            && (known.segment, known.place) == (self.segment, record)
        {
            self.cursor.place += 1;
            return true;
        }
        self.is_wait_for_outside(node, stream, event)
    }

    /// Whether a wait, on a stream of the trace, is for a record from outside of the segment. If so, the wait is held back in
    /// the lane's list `outside`. That list still has the waits of the latest segment with this trace, and the wait mostly
    /// equals the next one there.
    #[inline]
    fn is_wait_for_outside(&mut self, node: u32, stream: RawStream, event: RawEvent) -> bool {
        let Cursor { lane, place, outside } = self.cursor;
        let Some(lane) = self.lanes.get_mut(lane as usize) else { return false };
        if let Some(known) = lane.outside.get_mut(outside as usize)
            && (known.place, known.node) == (place, node)
            && (known.stream, known.event) == (stream, event)
            && let Some(event) = self.events.at_mut(known.at)
            && event.raw == Some(known.event)
            && event.segment != self.segment
        {
            event.waited = self.segment;
            known.launched = (event.launch, event.lane);
            self.cursor.outside += 1;
            return true;
        }
        self.is_new_wait_for_outside(node, stream, event)
    }

    #[inline(never)]
    fn is_new_wait_for_outside(&mut self, node: u32, stream: RawStream, event: RawEvent) -> bool {
        let Cursor { lane, place, .. } = self.cursor;
        let Some(lane) = self.lanes.get(lane as usize) else { return false };
        // The wait may be on any stream of the trace: `refusal` accepted each of them when the trace was made. Mostly the
        // next call is on the same stream, so its stream is compared first.
        let next = lane.trace.calls.get(place as usize);
        if next.is_none_or(|call| call.stream != stream)
            && !lane.streams.iter().any(|(known, _)| *known == stream)
        {
            return false;
        }
        let Some(at) = self.events.find(event.handle()) else { return false };
        let is_outside = self.events.at(at).is_some_and(|known| known.segment != self.segment);
        if is_outside {
            let launched = self.launched(at);
            self.hold_outside(Outside { place, node, stream, event, at, launched });
        }
        is_outside
    }

    /// Holds back a wait for a record from outside of the segment: the wait becomes the next one in the followed lane's list
    /// `outside`.
    pub(super) fn hold_outside(&mut self, wait: Outside) {
        self.mark_waited(wait.at);
        let Some(lane) = self.lanes.get_mut(self.cursor.lane as usize) else { return };
        let place = self.cursor.outside as usize;
        match lane.outside.get_mut(place) {
            // The wait differs only in its event, another one of a ring. The waits after it in the list may still be right,
            // so they stay.
            Some(known)
                if (known.place, known.node, known.stream)
                    == (wait.place, wait.node, wait.stream) =>
            {
                *known = wait;
            }
            _ => {
                lane.outside.truncate(place);
                lane.outside.push(wait);
            }
        }
        self.cursor.outside += 1;
    }
}
