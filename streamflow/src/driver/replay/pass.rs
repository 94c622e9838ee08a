//! A pass and its segments: what is held back, compared, launched, and sent.

use std::borrow::Cow;
use std::sync::Arc;

use super::Omission;
use super::lane::{Lanes, MOST, Made};
use super::report::PassDone;
use super::state::{Event, Outside, State};
use super::trace::{Given, Trace, Work};
use crate::driver::{CopyKind, Driver, DriverError, DriverResult, RawEvent, RawStream};

/// A trace with fewer launches, copies and fills is sent: a launch of a graph costs the host as much as one of a kernel.
const LEAST: usize = 2;
/// A segment with more calls is sent: the first kernel would begin when the last call was asked for.
const LONGEST: usize = 4096;
/// With more bytes for each call the device needs much longer than the host: nothing is saved.
const LARGE: u64 = 256 << 20;
/// After so many launches of other lanes a lane is taken for one that is no longer needed.
const IDLE: u64 = 8 * MOST as u64;
/// The most traces that came once and are kept.
const SEEN: usize = 64;

/// The pass of a thread.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) thread: u64,
    nodes: Arc<[Arc<str>]>,
    mode: Mode,
    pub(super) done: PassDone,
}

/// What happens to the calls of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// They are held back: they are those of these lanes so far.
    Hold(Lanes),
    /// They are sent, and kept to be compared.
    Keep,
    /// They are sent.
    Send,
}

/// What the caller does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Held,
    /// It is sent now.
    Send,
}

impl State {
    pub(super) fn begin_pass(&mut self, thread: u64, nodes: &Arc<[Arc<str>]>) {
        let done = PassDone::default();
        self.pass = Some(Pass { thread, nodes: nodes.clone(), mode: Mode::Send, done });
        self.begin_segment();
    }

    fn begin_segment(&mut self) {
        self.segment += 1;
        self.current.clear();
        self.outside.clear();
        let mut lanes: Lanes = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            lanes |= Lanes::from(!lane.is_retired) << index;
        }
        self.set_mode(if lanes == 0 { Mode::Keep } else { Mode::Hold(lanes) });
    }

    fn set_mode(&mut self, mode: Mode) {
        if let Some(pass) = &mut self.pass {
            pass.mode = mode;
        }
    }

    /// The mode, if the calling thread is that of the pass.
    fn mode_of(&self, thread: u64) -> Option<Mode> {
        self.pass.as_ref().filter(|pass| pass.thread == thread).map(|pass| pass.mode)
    }

    fn is_holding(&self) -> bool {
        !self.outside.is_empty() || self.current.len() > 0
    }

    fn note_broken(&mut self, what: &'static str, node: Option<u32>) {
        if let Some(pass) = &mut self.pass {
            pass.done.broken.get_or_insert((what, node));
        }
    }

    /// Another thread than that of the pass makes a call: sends what is held back. Returns whether the thread is another.
    fn yield_to(&mut self, below: &dyn Driver, thread: u64) -> DriverResult<bool> {
        let Some(pass) = &self.pass else { return Ok(true) };
        if pass.thread == thread {
            return Ok(false);
        }
        if matches!(pass.mode, Mode::Hold(_)) && self.is_holding() && self.keeps(Omission::Threads) {
            self.interrupt(below, "another thread used the device meanwhile", None)?;
        }
        Ok(true)
    }

    /// Takes a call that a trace can have. It is held back, or the caller sends it.
    pub(super) fn take(
        &mut self,
        below: &dyn Driver,
        (thread, node): (u64, u32),
        stream: RawStream,
        given: Given<'_>,
    ) -> DriverResult<Taken> {
        if self.yield_to(below, thread)? {
            if let Given::Record(event) = given
                && let Some(known) = self.events.get_mut(&event.handle())
            {
                known.segment = 0;
            }
            return Ok(Taken::Send);
        }
        let Some(mode) = self.mode_of(thread) else { return Ok(Taken::Send) };
        if let Some(pass) = &mut self.pass {
            pass.done.has_work = true;
        }
        if mode == Mode::Send {
            return Ok(Taken::Send);
        }
        if let Some(what) = self.refusal(stream, &given) {
            self.interrupt(below, what, Some(node))?;
            return Ok(Taken::Send);
        }
        let given = match given {
            Given::Wait(event, _) => match self.events.get(&event.handle()) {
                Some(known) if known.segment == self.segment => Given::Wait(event, known.place),
                _ if matches!(mode, Mode::Hold(_)) => {
                    let place = self.current.len() as u32;
                    self.outside.push(Outside { place, node, stream, event });
                    return Ok(Taken::Held);
                }
                _ => return Ok(Taken::Send),
            },
            given => given,
        };
        let place = self.current.len();
        let mut taken = Taken::Send;
        if let Mode::Hold(lanes) = mode {
            let lanes = self.with_call(lanes, place, stream, given);
            if lanes == 0 {
                let has_begun = self.is_holding();
                self.send_held(below)?;
                if has_begun {
                    self.note_broken("a call differed from those of earlier passes", Some(node));
                }
            } else {
                self.set_mode(Mode::Hold(lanes));
                taken = Taken::Held;
            }
        } else if place >= LONGEST {
            self.interrupt(below, "so many calls that the first would be held back for too long", None)?;
            return Ok(Taken::Send);
        }
        self.current.push(node, stream, given);
        if let Given::Record(event) = given
            && let Some(known) = self.events.get_mut(&event.handle())
        {
            (known.segment, known.place) = (self.segment, place as u32);
        }
        Ok(taken)
    }

    /// Those of the lanes whose trace has this call at this place.
    fn with_call(&self, lanes: Lanes, place: usize, stream: RawStream, given: Given<'_>) -> Lanes {
        let (mut left, mut with) = (lanes, 0);
        while left != 0 {
            let index = left.trailing_zeros();
            left &= left - 1;
            let trace = &self.lanes[index as usize].trace;
            with |= Lanes::from(trace.is_call(place, stream, given, self.omission)) << index;
        }
        with
    }

    /// Why a call can't be part of a trace.
    fn refusal(&mut self, stream: RawStream, given: &Given<'_>) -> Option<&'static str> {
        if self.device.is_some_and(|device| device != stream.device()) {
            return Some("work of a second device");
        }
        if !self.stream(stream).is_plain {
            return Some("work on a stream that has options, that other code made, or whose handle other code has");
        }
        match *given {
            Given::Launch(launch) if !self.is_stateless(launch.function) => {
                Some("a kernel of a module, which can have variables")
            }
            Given::Copy(copy) if copy.kind.blocks_host() => Some("a copy that blocks the host"),
            Given::Copy(copy) if matches!(copy.kind, CopyKind::Peer { .. }) => {
                Some("a copy between devices")
            }
            Given::Record(event)
                if !self.events.get(&event.handle()).is_some_and(|known| known.is_plain) =>
            {
                Some("a record with timing, or of an event that other code made")
            }
            _ => None,
        }
    }

    /// Sends what is held back, one by one, and all later calls of the pass.
    fn interrupt(
        &mut self,
        below: &dyn Driver,
        what: &'static str,
        node: Option<u32>,
    ) -> DriverResult<()> {
        let sent = self.send_held(below);
        self.set_mode(Mode::Send);
        self.note_broken(what, node);
        sent
    }

    /// A call that no trace can have comes next.
    pub(super) fn disturb(
        &mut self,
        below: &dyn Driver,
        (thread, node): (u64, u32),
        what: &'static str,
        rule: Option<Omission>,
    ) -> DriverResult<()> {
        if self.yield_to(below, thread)? || rule.is_some_and(|rule| !self.keeps(rule)) {
            return Ok(());
        }
        if let Some(pass) = &mut self.pass {
            pass.done.has_work = true;
        }
        if self.mode_of(thread).is_some_and(|mode| mode != Mode::Send) {
            self.interrupt(below, what, Some(node))?;
        }
        Ok(())
    }

    /// The host asks or waits for something next.
    pub(super) fn before_answer(&mut self, below: &dyn Driver, thread: u64) -> DriverResult<()> {
        if self.yield_to(below, thread)? || !self.keeps(Omission::Answered) {
            return Ok(());
        }
        if self.mode_of(thread).is_some_and(|mode| mode != Mode::Send) {
            self.end_segment(below)?;
            self.begin_segment();
        }
        Ok(())
    }

    /// A call of the segment failed when it was sent: the segment is no example.
    pub(super) fn spoil(&mut self, thread: u64) {
        if self.mode_of(thread) == Some(Mode::Keep) {
            self.set_mode(Mode::Send);
            self.note_broken("a call failed", None);
        }
    }

    pub(super) fn end_pass(&mut self, below: &dyn Driver) -> DriverResult<PassDone> {
        let ended = self.end_segment(below);
        let done = self.pass.take().map(|pass| pass.done).unwrap_or_default();
        // The error of a call that another call made be sent may have been dropped there.
        let failed = self.failed.take();
        ended?;
        failed.map_or(Ok(done), Err)
    }

    /// Launches the lane whose trace the segment is, or sends what is held back.
    fn end_segment(&mut self, below: &dyn Driver) -> DriverResult<()> {
        let Some(pass) = &self.pass else { return Ok(()) };
        match pass.mode {
            Mode::Send => Ok(()),
            Mode::Keep => self.remember(below),
            Mode::Hold(_) if self.current.len() == 0 => self.send_held(below),
            Mode::Hold(lanes) => match self.whole(lanes) {
                Some(lane) => self.launch(below, lane),
                None => {
                    self.send_held(below)?;
                    self.note_broken("the calls ended earlier than those of earlier passes", None);
                    self.remember(below)
                }
            },
        }
    }

    /// The lane that has no more calls than the segment.
    fn whole(&self, mut lanes: Lanes) -> Option<usize> {
        while lanes != 0 {
            let index = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let is_whole = self.lanes[index].trace.len() == self.current.len();
            if is_whole || !self.keeps(Omission::Length) {
                return Some(index);
            }
        }
        None
    }

    /// Launches a lane in place of the held-back calls.
    fn launch(&mut self, below: &dyn Driver, index: usize) -> DriverResult<()> {
        let device = self.lanes[index].stream.device();
        let ordered = below.bind(device).and_then(|()| self.order(below, index));
        let number = self.launches + 1;
        let launched = ordered.and_then(|()| self.lanes[index].launch(below, number));
        if let Err(error) = launched {
            // Nothing of the graph is queued. The order that was made is one too many.
            tracing::warn!(%error, "a graph could not be launched: its calls are sent one by one");
            self.note_broken("the launch of a graph failed; the log has the error", None);
            let lane = &mut self.lanes[index];
            // What was waited for is behind the lane's latest launch, and so perhaps behind its mark.
            (lane.is_retired, lane.after) = (true, [0; MOST]);
            return self.send_held(below);
        }
        self.launches = number;
        for place in 0..self.lanes[index].streams.len() {
            let stream = self.lanes[index].streams[place];
            self.stream(stream).tail = number;
        }
        let Self { current, events, outside, pass, .. } = self;
        for call in &current.calls {
            if let Work::Record(event) = call.work
                && let Some(known) = events.get_mut(&event.handle())
            {
                *known = Event { launch: number, lane: index as u32, ..*known };
            }
        }
        current.clear();
        outside.clear();
        if let Some(pass) = pass {
            pass.done.launched = true;
        }
        Ok(())
    }

    /// Keeps the trace of a segment, or makes a lane of one that came before.
    fn remember(&mut self, below: &dyn Driver) -> DriverResult<()> {
        match pays(self.current.submissions(), self.current.bytes()) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(why) => {
                self.note_broken(why, None);
                return Ok(());
            }
        }
        let (current, left_out) = (&self.current, self.omission);
        let Some(place) = self.seen.iter().position(|seen| seen.is_equal(current, left_out)) else {
            // The memory of the oldest is used again: a graph whose ticks never repeat allocates nothing for long.
            let mut oldest = match self.seen.len() {
                SEEN => self.seen.remove(0),
                _ => Trace::default(),
            };
            oldest.copy(current);
            self.seen.push(oldest);
            return Ok(());
        };
        let trace = self.seen.swap_remove(place);
        let Some(index) = self.free_place(below)? else {
            self.note_broken("more rotations of buffers than graphs that are kept", None);
            return Ok(());
        };
        if let Err(error) = self.add_lane(below, index, trace) {
            tracing::warn!(%error, "a graph could not be made: its calls are sent one by one");
            self.note_broken("no graph could be made; the log has the error", None);
        }
        Ok(())
    }

    /// Where a new lane goes: behind the others, or in place of one that has not been launched for long.
    fn free_place(&mut self, below: &dyn Driver) -> DriverResult<Option<usize>> {
        if self.lanes.len() < MOST {
            return Ok(Some(self.lanes.len()));
        }
        let key = |index: &usize| (!self.lanes[*index].is_retired, self.lanes[*index].last);
        let Some(oldest) = (0..self.lanes.len()).min_by_key(key) else { return Ok(None) };
        let (lane, launches) = (&mut self.lanes[oldest], self.launches);
        let is_idle = lane.is_retired || launches - lane.last > IDLE;
        Ok((is_idle && lane.is_complete(below, lane.last)?).then_some(oldest))
    }

    fn add_lane(&mut self, below: &dyn Driver, index: usize, trace: Trace) -> DriverResult<()> {
        let Some(device) = trace.calls.first().map(|call| call.stream.device()) else { return Ok(()) };
        let border = match self.border {
            Some(border) => border,
            None => {
                below.bind(device)?;
                below.create_event(device)?
            }
        };
        (self.border, self.device) = (Some(border), Some(device));
        let made = Made::new(below, device, &trace, self.omission, |work| match work {
            Work::Launch { function, .. } => self.kernel_name(*function).to_string(),
            _ => String::new(),
        })?;
        // Rule 4: the other lanes come after what was sent before their launches. So does this one.
        for lane in &self.lanes {
            // SAFETY: all are this layer's.
            unsafe {
                below.record_event(border, lane.stream)?;
                below.wait_event(made.stream(), border)?;
            }
        }
        let mut lane = made.into_lane(trace);
        for (other, existing) in self.lanes.iter_mut().enumerate() {
            let conflicts = Lanes::from(other != index && lane.conflicts_with(existing));
            lane.conflicts |= conflicts << other;
            existing.conflicts &= !(1 << index);
            existing.conflicts |= conflicts << index;
        }
        if index < self.lanes.len() {
            let retired = std::mem::replace(&mut self.lanes[index], lane);
            retired.destroy(below)?;
        } else {
            self.lanes.push(lane);
        }
        Ok(())
    }

    /// Sends the held-back calls, one by one in their order.
    pub(super) fn send_held(&mut self, below: &dyn Driver) -> DriverResult<()> {
        if !matches!(self.pass.as_ref().map(|pass| pass.mode), Some(Mode::Hold(_))) {
            return Ok(());
        }
        // From here on they are no longer held back, also if one fails.
        self.set_mode(Mode::Keep);
        let (current, outside) =
            (std::mem::take(&mut self.current), std::mem::take(&mut self.outside));
        let mut first = Ok(());
        let mut waits = outside.iter().peekable();
        for place in 0..=current.len() {
            while let Some(wait) = waits.next_if(|wait| wait.place as usize == place) {
                let sent = self.send_wait(below, wait.stream, wait.event);
                self.keep_first(&mut first, sent, "a wait", wait.node);
            }
            let Some(call) = current.calls.get(place) else { break };
            let (sent, what) = self.send(below, &current, place, first.is_err());
            self.keep_first(&mut first, sent, &what, call.node);
        }
        (self.current, self.outside) = (current, outside);
        self.outside.clear();
        if let Err(error) = &first {
            self.failed.get_or_insert_with(|| error.clone());
        }
        first
    }

    /// Sends one held-back call. After a failure only records and waits are sent. Returns what it was, if it failed.
    fn send(
        &mut self,
        below: &dyn Driver,
        trace: &Trace,
        place: usize,
        has_failed: bool,
    ) -> (DriverResult<()>, Cow<'static, str>) {
        let call = &trace.calls[place];
        let stream = call.stream;
        if has_failed && !matches!(call.work, Work::Record(_) | Work::Wait(..)) {
            return (Ok(()), "".into());
        }
        if let Err(error) = self.settle(below, stream) {
            return (Err(error), "the order before a call".into());
        }
        // SAFETY: in each block, the call was asked for, with the contract of the method. Its objects and its memory are
        // as they were: whatever could change them comes after a call that sends what is held back.
        match call.work {
            Work::Launch { function, .. } => {
                let name = self.kernel_name(function);
                let Some(launch) = trace.launch(&call.work, &name) else { return (Ok(()), "".into()) };
                let sent = unsafe { below.launch(stream, &launch) };
                let what = match &sent {
                    Ok(()) => "".into(),
                    Err(_) => format!("the launch of kernel `{name}`").into(),
                };
                (sent, what)
            }
            Work::Copy(copy) => (unsafe { below.copy(stream, &copy) }, "a copy".into()),
            Work::Fill(range, byte) => {
                (unsafe { below.fill(stream, range, byte) }, "a fill".into())
            }
            Work::Recycle(range) => {
                (unsafe { below.recycle(stream, range) }, "memory that is used again".into())
            }
            Work::Record(event) => {
                let sent = unsafe { below.record_event(event, stream) };
                self.note_recorded(event);
                (sent, "a record".into())
            }
            Work::Wait(event, _) => {
                (unsafe { below.wait_event(stream, event) }, "a wait".into())
            }
        }
    }

    /// Makes a stream wait for the latest record of an event.
    pub(super) fn send_wait(
        &mut self,
        below: &dyn Driver,
        stream: RawStream,
        event: RawEvent,
    ) -> DriverResult<()> {
        self.settle(below, stream)?;
        match self.launch_of(event) {
            // SAFETY: the wait was asked for, with the contract of `Driver::wait_event`.
            0 => unsafe { below.wait_event(stream, event) },
            launch if self.stream(stream).joined < launch && self.keeps(Omission::WaitsForLaunches) => {
                self.join(below, stream)
            }
            _ => Ok(()),
        }
    }

    /// Keeps the first error of held-back calls, with the operator that asked for the call.
    fn keep_first(&self, first: &mut DriverResult<()>, sent: DriverResult<()>, what: &str, node: u32) {
        let Err(error) = sent else { return };
        if first.is_ok() {
            let nodes = self.pass.as_ref().map(|pass| &pass.nodes);
            let node = nodes.and_then(|nodes| nodes.get(node as usize));
            *first = Err(asked_by(error, what, node.map_or("?", |node| node)));
        }
    }
}

/// Whether a graph of a trace with so many launches, copies and fills is cheaper than its calls; an error says why not.
pub(super) fn pays(submissions: usize, bytes: u64) -> Result<bool, &'static str> {
    if submissions >= LEAST && bytes / submissions as u64 > LARGE {
        return Err("the kernels are so large that the device is the limit, and not the host");
    }
    Ok(submissions >= LEAST)
}

/// Adds to the message of an error which call it was, and which operator asked for it.
#[cold]
fn asked_by(error: DriverError, what: &str, node: &str) -> DriverError {
    match error {
        DriverError::Call { call, device, code, name, message } => {
            let message = format!(
                "{message}; it is {what} that operator `{node}` asked for, which replay had held back"
            );
            DriverError::Call { call, device, code, name, message }
        }
        other => other,
    }
}
