//! The state of a [`Replaying`](super::Replaying) driver: the streams, events and kernels that it knows, and its lanes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Omission;
use super::bound;
use super::captures::Captures;
use super::cursor::{Cursor, Outside};
use super::fingerprint::Seen;
use super::lane::Lane;
use super::lost::Lost;
use super::mode::{Mode, Pass};
use super::objects::Objects;
use super::trace::Trace;
use crate::driver::{
    DeviceId, Driver, DriverError, DriverResult, RawEvent, RawFunction, RawStream, StreamFlags,
    StreamOptions, report_unless_refused,
};

/// The state of a driver that replays, behind one lock.
// The fields that each call reads come first, so that a call touches few cache lines.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct State {
    /// The number of the thread whose calls are compared with the trace at the cursor; 0 if no thread follows a trace.
    pub(super) follower: u64,
    pub(super) cursor: Cursor,
    /// The index of the lane whose graph was launched last.
    pub(super) latest: u32,
    pub(super) lanes: Vec<Lane>,
    /// The number of the current segment. Each segment gets the next number when it begins.
    pub(super) segment: u64,
    /// The number of graph launches so far, over all lanes.
    pub(super) launches: u64,
    pub(super) events: Objects<Event>,
    pub(super) streams: Objects<Stream>,
    pub(super) pass: Option<Pass>,
    kernels: FxHashMap<u64, Kernel>,
    pub(super) captures: Captures,
    /// The names of the nodes of the run that is making passes.
    pub(super) nodes: Arc<[Arc<str>]>,
    /// The calls of the current segment, held back or sent. Not used while the calls equal a lane's trace up to the cursor:
    /// the calls are then in that trace.
    pub(super) current: Trace,
    /// The held-back waits for records from outside of the segment. They are not in `current`.
    pub(super) outside: Vec<Outside>,
    /// The device of all lanes. Only one device's calls are replayed.
    pub(super) device: Option<DeviceId>,
    /// The event with which lanes are made to wait for work that was sent to other streams.
    pub(super) border: Option<RawEvent>,
    /// The first error of a call that had been held back and failed when it was sent.
    pub(super) failed: Option<DriverError>,
    pub(super) lost: Lost,
    pub(super) omission: Option<Omission>,
    /// Whether a lane is made when its trace comes for the first time, and not only the second time.
    pub(super) is_eager: bool,
    /// The number of runs that are replaying now.
    pub(super) runs: u32,
    /// Whether the last run has ended and the [switch](super::switch) is still on, because a graph's launch may be
    /// incomplete.
    pub(super) is_resting: bool,
    /// Decides, while `is_resting`, which submissions query whether the launches are complete.
    pub(super) questions: Questions,
    /// The number of threads that wait for lanes' events without the lock. While it is above 0, no lane is destroyed.
    pub(super) waiting: u32,
    /// The fingerprints of the traces that have come once.
    pub(super) seen: Seen,
}

/// Decides which submissions query the device's progress: the first one, and then each after a gap that is twice as long as
/// the gap before. So queries that are answered "not yet" cost less and less. The completion is noticed at the latest when
/// as many further submissions were made as before it.
#[derive(Debug, Default)]
pub(super) struct Questions {
    gap: u32,
    skipped: u32,
}

impl Questions {
    /// Counts a submission. Returns whether this submission queries the device.
    pub(super) fn is_due(&mut self) -> bool {
        if self.skipped < self.gap {
            self.skipped += 1;
            return false;
        }
        *self = Self { gap: self.gap.saturating_mul(2).max(1), skipped: 0 };
        true
    }
}

#[derive(Debug)]
pub(super) struct Stream {
    /// Whether calls of the stream can be held back: this driver made the stream with default options, and no other code has
    /// the handle.
    pub(super) is_plain: bool,
    /// The number of the latest launch that contains work of the stream.
    pub(super) tail: u64,
    /// The number of a launch. Calls that are sent to the stream come after this launch and all launches before it.
    pub(super) joined: u64,
    pub(super) sent: Sent,
    /// Whether a call of the stream was ever made in a pass. If not, no call of the stream is held back.
    pub(super) is_in_passes: bool,
}

/// Whether work was sent to a stream, and the lanes have not been ordered after that work yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Nothing,
    /// Unknown, since the driver does not note calls while no run replays. A query of the stream decides: if the stream is
    /// empty, the lanes need no order.
    Perhaps,
    Something,
}

impl Default for Stream {
    fn default() -> Self {
        Self { is_plain: false, tail: 0, joined: 0, sent: Sent::Something, is_in_passes: false }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event {
    /// The event's handle; `None` if the event was destroyed.
    pub(super) raw: Option<RawEvent>,
    /// The number of the launch that contains the event's latest record; 0 if that record was sent.
    pub(super) launch: u64,
    /// The index of the lane that made that launch.
    pub(super) lane: u32,
    /// The number of the segment in which the event was last recorded.
    pub(super) segment: u64,
    /// The index of that record among the calls of its segment.
    pub(super) place: u32,
    /// The number of the latest segment in which a wait was held back for a record of this event from outside of the
    /// segment.
    pub(super) waited: u64,
    /// Whether records of the event can be held back: this driver made the event, and the event has no timing.
    pub(super) is_plain: bool,
}

#[derive(Debug)]
struct Kernel {
    name: Arc<str>,
    /// Whether the kernel's code may have state beyond its declared accesses, such as the variables of a module.
    has_state: bool,
}

impl State {
    /// Whether the driver keeps a rule. `false` only in a test that leaves the rule out.
    pub(super) fn keeps(&self, rule: Omission) -> bool {
        self.omission != Some(rule)
    }

    /// Returns the entry of a stream. Adds the entry if this driver did not make the stream: a default stream, or a stream
    /// of other code.
    pub(super) fn stream(&mut self, stream: RawStream) -> &mut Stream {
        self.streams.get_or_add(stream_key(stream), Stream::default)
    }

    /// Returns the device of the lanes or, before the first lane, the device of the current segment's calls.
    pub(super) fn held_device(&self) -> Option<DeviceId> {
        let first = self.current.calls.first();
        self.device.or_else(|| first.map(|call| call.stream.device()))
    }

    /// Returns the index of a stream's entry in `streams`; `u32::MAX` if there is none.
    pub(super) fn place_of(&self, stream: RawStream) -> u32 {
        self.streams.find(stream_key(stream)).unwrap_or(u32::MAX)
    }

    pub(super) fn add_stream(&mut self, stream: RawStream, options: StreamOptions) {
        let is_plain = options == StreamOptions::default()
            && options.flags == StreamFlags::NonBlocking
            && self.device.is_none_or(|device| device == stream.device());
        self.streams.insert(stream_key(stream), Stream { is_plain, ..Stream::default() });
    }

    /// Removes the entry of a stream, and retires the lanes that have work of the stream.
    pub(super) fn remove_stream(&mut self, stream: RawStream) {
        self.streams.remove(stream_key(stream), Stream::default());
        self.retire(stream);
    }

    /// Retires the lanes that have work of a stream. The caller has sent the held-back calls first.
    pub(super) fn retire(&mut self, stream: RawStream) {
        for lane in &mut self.lanes {
            lane.is_retired |= lane.streams.iter().any(|(known, _)| *known == stream);
            // The lane forgets waits of this stream. A later wait that equals one in this list is held back without a check
            // of its stream, and the stream's calls must no longer be held back.
            lane.outside.retain(|wait| wait.stream != stream);
        }
        // In mode `Keep` the caller is another thread than the one that makes the pass. The pass must not become a lane,
        // since a stream of its trace is no longer plain.
        if self.mode() == Some(Mode::Keep)
            && self.current.calls.iter().any(|call| call.stream == stream)
        {
            self.set_mode(Mode::Send);
            self.mark_broken(
                "another thread destroyed a stream of the pass, or gave its handle to other code",
                None,
            );
        }
        let followed = self.lanes.get(self.cursor.lane as usize);
        if self.mode() == Some(Mode::Follow) && followed.is_some_and(|lane| lane.is_retired) {
            self.aim();
        }
    }

    pub(super) fn add_event(&mut self, event: RawEvent, is_plain: bool) {
        let known = Event { raw: Some(event), is_plain, ..Event::default() };
        self.events.insert(event.handle(), known);
    }

    pub(super) fn remove_event(&mut self, event: RawEvent) {
        self.events.remove(event.handle(), Event::default());
    }

    pub(super) fn add_kernel(&mut self, function: RawFunction, name: &str, has_state: bool) {
        let known = self
            .kernels
            .entry(function.handle())
            .or_insert_with(|| Kernel { name: name.into(), has_state });
        known.has_state |= has_state;
    }

    /// Whether a kernel has no state beyond the memory that it declares as accesses.
    pub(super) fn is_stateless(&self, function: RawFunction) -> bool {
        self.kernels.get(&function.handle()).is_some_and(|known| !known.has_state)
    }

    pub(super) fn kernel_name(&self, function: RawFunction) -> Arc<str> {
        let known = self.kernels.get(&function.handle());
        known.map_or_else(|| "?".into(), |known| known.name.clone())
    }

    /// The number of the launch that contains an event's latest record; 0 if that record was sent.
    pub(super) fn launch_of(&self, event: RawEvent) -> u64 {
        self.events.get(event.handle()).map_or(0, |known| known.launch)
    }

    /// Notes that the latest record of an event was sent to the driver below.
    pub(super) fn mark_recorded(&mut self, event: RawEvent) {
        if let Some(known) = self.events.get_mut(event.handle()) {
            known.launch = 0;
        }
    }

    /// Whether a thread's call, on a stream or on none, is *beside* all passes: it depends on no held-back call and on no
    /// launch. Such a call goes directly to the driver below, and needs nothing of this state. Work depends on another
    /// stream's work only by a record, and work that shares memory is ordered by records, too, by the contract of
    /// [`Launch`](crate::driver::Launch). The call's stream counts as one to which work was sent, until a launch has work of
    /// that stream.
    ///
    /// While no pass is under way, a call is beside all passes if its stream already comes after each launch that has work
    /// of the stream. During a pass of another thread, a call is beside if no pass has had a call of its stream. For the
    /// event of a record, the caller also checks [`spares`](Self::spares); for the event of a wait,
    /// [`is_sent`](Self::is_sent).
    #[inline]
    pub(super) fn is_beside(&self, thread: u64, stream: Option<RawStream>) -> bool {
        let is_clear = |stream| {
            let known = self.streams.get(stream_key(stream));
            known.is_some_and(|known| match &self.pass {
                None => known.tail <= known.joined,
                Some(_) => !known.is_in_passes,
            })
        };
        self.is_idle(thread) && stream.map_or(self.pass.is_none(), is_clear)
    }

    /// Whether three things hold: the thread is not making a pass, the driver refuses no calls, and no submission must query
    /// whether the launches of an ended run are complete.
    #[inline]
    pub(super) fn is_idle(&self, thread: u64) -> bool {
        let is_other = self.pass.as_ref().is_none_or(|pass| pass.thread != thread);
        is_other && !self.is_resting && self.lost.cause().is_none()
    }

    /// Whether recording an event changes nothing for held-back calls: none of them records the event or waits for it. A
    /// held-back wait, sent later, would wait for the newer record instead of the one that it was made for.
    #[inline]
    pub(super) fn spares(&self, event: RawEvent) -> bool {
        let is_awaited = |known: &Event| known.waited == self.segment;
        let known = self.events.get(event.handle());
        self.pass.is_none() || self.is_sent(event) && !known.is_some_and(is_awaited)
    }

    /// Whether the latest record of an event was sent: it is not held back, and no launch contains it.
    #[inline]
    pub(super) fn is_sent(&self, event: RawEvent) -> bool {
        let holds = self.mode().is_some_and(Mode::holds);
        let is_held = |known: &Event| holds && known.segment == self.segment;
        let known = self.events.get(event.handle());
        known.is_none_or(|known| known.launch == 0 && !is_held(known))
    }

    /// Notes that a wait was held back for a record from outside of the segment. `at` is the index of the event's entry.
    pub(super) fn mark_waited(&mut self, at: u32) {
        if let Some(known) = self.events.at_mut(at) {
            known.waited = self.segment;
        }
    }

    /// Notes that a call was sent directly to a stream, so later launches must come after the call.
    pub(super) fn mark_queued(&mut self, stream: RawStream) {
        if self.keeps(Omission::Meanwhile) {
            self.stream(stream).sent = Sent::Something;
        }
    }

    /// Prepares the state for turning the [switch](super::switch) off. Returns `false`, and the switch must stay on, while a
    /// run replays, a pass is under way, a launch may be incomplete, or the driver refuses calls.
    ///
    /// Without `may_ask` no launch is queried: a launch that is not known to be complete counts as incomplete.
    pub(super) fn rest(&mut self, below: &dyn Driver, may_ask: bool) -> DriverResult<bool> {
        let is_refused = self.lost.cause().is_some() || below.sticky_error().is_some();
        if self.runs > 0 || self.pass.is_some() || is_refused {
            return Ok(false);
        }
        for lane in &mut self.lanes {
            if lane.is_known_complete() {
                continue;
            }
            if !may_ask {
                return Ok(false);
            }
            bound::bind(below, lane.stream.device())?;
            if !lane.is_complete(below, lane.last)? {
                return Ok(false);
            }
        }
        if self.keeps(Omission::SentMeanwhile) {
            self.streams.iter_mut().for_each(|stream| stream.sent = Sent::Perhaps);
        }
        if self.keeps(Omission::RecordedMeanwhile) {
            self.events.iter_mut().for_each(|event| event.launch = 0);
        }
        Ok(true)
    }

    /// Destroys all lanes, all captured graphs, and the event `border`.
    pub(super) fn destroy(&mut self, below: &dyn Driver) {
        for lane in self.lanes.drain(..) {
            // If destroying a lane finds that the device is lost, the objects of the remaining lanes live until the process
            // ends.
            report_unless_refused("destroying a graph", lane.destroy(below));
        }
        for graph in self.captures.keep_only(std::iter::empty()) {
            // SAFETY: this layer made the graph, and launches it no more.
            let destroyed = unsafe { below.destroy_graph(graph) };
            report_unless_refused("destroying a captured call", destroyed);
        }
        if let Some(border) = self.border.take() {
            // SAFETY: this layer made the event, and no call uses it any more.
            let destroyed = unsafe { below.destroy_event(border) };
            report_unless_refused("destroying an event", destroyed);
        }
    }
}

/// Returns a key of a stream that is unique over all devices: the default streams of all devices have the same handle.
fn stream_key(stream: RawStream) -> u64 {
    stream.handle() ^ (stream.device().index() as u64) << 56
}
