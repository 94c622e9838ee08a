//! The segments of a pass: which of their calls are held back, and when the pass stops holding calls back.

use std::sync::Arc;

use super::Omission;
use super::cursor::{Cursor, Outside};
use super::lane::Lane;
use super::lost;
use super::mode::{Mode, Pass, Taken};
use super::state::State;
use super::trace::Given;
use crate::driver::passes::PassDone;
use crate::driver::{CopyKind, Driver, DriverResult, MemoryRange, RawStream};

/// The most calls of a trace. The first kernel of a held-back segment begins only after the segment's last call was made, so
/// a longer segment would leave the device idle.
const LONGEST: usize = 4096;

impl State {
    pub(super) fn begin_pass(&mut self, thread: u64, nodes: &Arc<[Arc<str>]>) {
        if !Arc::ptr_eq(&self.nodes, nodes) {
            self.nodes = nodes.clone();
        }
        self.pass = Some(Pass { thread, mode: Mode::Send, done: PassDone::default() });
        self.begin_segment();
    }

    pub(super) fn begin_segment(&mut self) {
        self.segment += 1;
        self.current.clear();
        self.outside.clear();
        self.aim();
    }

    /// Points the cursor at the lane that was launched next, the last time, after the lane that was launched last now. If
    /// that one is retired, at any lane that is not.
    pub(super) fn aim(&mut self) {
        let follows = |lane: &Lane| !lane.is_retired;
        let next = self.lanes.get(self.latest as usize).map_or(0, |lane| lane.next);
        let lane = match self.lanes.get(next as usize).is_some_and(follows) {
            true => Some(next),
            false => self.lanes.iter().position(follows).map(|lane| lane as u32),
        };
        self.cursor = Cursor { lane: lane.unwrap_or(0), place: 0, outside: 0 };
        self.set_mode(match lane {
            Some(_) => Mode::Follow,
            None if self.is_eager => Mode::Gather,
            None => Mode::Keep,
        });
    }

    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.follower = 0;
        if let Some(pass) = &mut self.pass {
            pass.mode = mode;
            if mode == Mode::Follow {
                self.follower = pass.thread;
            }
        }
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        self.pass.as_ref().map(|pass| pass.mode)
    }

    /// The mode of the pass, if `thread` is the thread that makes the pass.
    pub(super) fn mode_of(&self, thread: u64) -> Option<Mode> {
        self.pass.as_ref().filter(|pass| pass.thread == thread).map(|pass| pass.mode)
    }

    /// The number of calls of the segment so far, not counting waits for records from outside of the segment.
    pub(super) fn len(&self) -> usize {
        match self.mode() {
            Some(Mode::Follow) => self.cursor.place as usize,
            _ => self.current.len(),
        }
    }

    pub(super) fn is_holding(&self) -> bool {
        self.has_waits() || self.len() > 0
    }

    /// Whether waits for records from outside of the segment are held back.
    pub(super) fn has_waits(&self) -> bool {
        match self.mode() {
            Some(Mode::Follow) => self.cursor.outside > 0,
            _ => !self.outside.is_empty(),
        }
    }

    pub(super) fn append_work(&mut self) {
        if let Some(pass) = &mut self.pass {
            pass.done.has_work = true;
        }
    }

    #[cold]
    pub(super) fn mark_broken(&mut self, what: &'static str, node: Option<u32>) {
        if let Some(pass) = &mut self.pass {
            pass.done.broken.get_or_insert((what, node));
        }
    }

    /// For a call of another thread than the one that makes the pass: sends the held-back calls, unless the call depends on
    /// none of them (`is_beside`). Returns whether `thread` is such another thread.
    fn yield_to(&mut self, below: &dyn Driver, thread: u64, is_beside: bool) -> DriverResult<bool> {
        let Some(pass) = &self.pass else { return Ok(true) };
        if pass.thread == thread {
            return Ok(false);
        }
        let yields = !is_beside && self.keeps(Omission::Threads);
        if yields && pass.mode.holds() && self.is_holding() {
            self.interrupt(below, "another thread used the device meanwhile", None)?;
        }
        Ok(true)
    }

    /// The slow path of a call that a trace can contain: holds the call back, or tells the caller to send it.
    pub(super) fn take(
        &mut self,
        below: &dyn Driver,
        (thread, node): (u64, u32),
        stream: RawStream,
        given: Given<'_>,
    ) -> DriverResult<Taken> {
        self.lost.usable(lost::name_of(&given))?;
        let is_beside = self.is_beside(thread, Some(stream))
            && match given {
                Given::Record(event, _) => self.spares(event),
                Given::Wait(event, _) => self.is_sent(event),
                _ => true,
            };
        if self.yield_to(below, thread, is_beside)? {
            return Ok(Taken::Send);
        }
        let Some(mode) = self.mode_of(thread) else { return Ok(Taken::Send) };
        self.append_work();
        if mode == Mode::Send {
            return Ok(Taken::Send);
        }
        self.stream(stream).is_in_passes = true;
        let given = match given {
            Given::Wait(event, _) => match self.events.get(event.handle()) {
                Some(known) if known.segment == self.segment => Given::Wait(event, known.place),
                _ => {
                    let at = self.events.find(event.handle()).unwrap_or(u32::MAX);
                    let (place, launched) = (self.len() as u32, self.launched(at));
                    let wait = Outside { place, node, stream, event, at, launched };
                    return self.take_outside(below, mode, wait);
                }
            },
            Given::Record(event, _) => {
                Given::Record(event, self.events.find(event.handle()).unwrap_or(u32::MAX))
            }
            given => given,
        };
        if mode == Mode::Follow && self.follow(self.cursor.lane, (node, stream), given) {
            return Ok(Taken::Held);
        }
        if let Given::Wait(_, record) = given
            && self.has_waited(node, stream, record)
        {
            return Ok(if mode.holds() { Taken::Held } else { Taken::Send });
        }
        // A call that equals a call of a lane needs no check by `refusal`: the lanes of a stream are retired when the stream
        // is destroyed or its handle is handed out, and `follow` checks the event of a record.
        if mode == Mode::Follow && self.switch((node, stream), given) {
            return Ok(Taken::Held);
        }
        let place = self.len();
        let mut taken = Taken::Send;
        if let Some(what) = self.refusal(stream, &given) {
            self.interrupt(below, what, Some(node))?;
            return Ok(Taken::Send);
        } else if self.is_eager && mode != Mode::Keep {
            // No lane's trace has these calls. They stay held back, and the end of the segment makes a lane of them.
            self.gather();
            taken = Taken::Held;
        } else if mode != Mode::Keep {
            self.send_held(below)?;
            // `place` is 0 if only waits for records from outside of the segment are held back. Then no call has differed from a
            // trace yet: such waits are not part of a trace.
            if place > 0 {
                self.mark_broken("a call differed from those of earlier passes", Some(node));
            }
        } else if place >= LONGEST {
            let what = "so many calls that the first would be held back for too long";
            self.interrupt(below, what, None)?;
            return Ok(Taken::Send);
        }
        self.current.push(node, stream, given);
        if let Given::Record(event, _) = given
            && let Some(known) = self.events.get_mut(event.handle())
        {
            (known.segment, known.place) = (self.segment, place as u32);
        }
        Ok(taken)
    }

    /// Holds back a wait for a record from outside of the segment, or tells the caller to send the wait.
    fn take_outside(
        &mut self,
        below: &dyn Driver,
        mode: Mode,
        wait: Outside,
    ) -> DriverResult<Taken> {
        // The owner of an event that other code made may destroy it as soon as this call returns, so a wait for the event
        // can't be held back.
        let is_foreign =
            self.events.get(wait.event.handle()).is_none() && self.keeps(Omission::ForeignEvents);
        let what = match self.refusal(wait.stream, &Given::Wait(wait.event, 0)) {
            None if is_foreign => Some("a wait for an event that other code made"),
            found => found,
        };
        if let Some(what) = what {
            self.interrupt(below, what, Some(wait.node))?;
            return Ok(Taken::Send);
        }
        if mode == Mode::Keep {
            return Ok(Taken::Send);
        }
        match mode {
            Mode::Follow => self.hold_outside(wait),
            _ => {
                self.mark_waited(wait.at);
                self.outside.push(wait);
            }
        }
        Ok(Taken::Held)
    }

    /// Returns the reason why no trace can contain a call, or `None` if one can.
    pub(super) fn refusal(&mut self, stream: RawStream, given: &Given<'_>) -> Option<&'static str> {
        if self.held_device().is_some_and(|device| device != stream.device()) {
            return Some("work of a second device");
        }
        if !self.stream(stream).is_plain {
            return Some(
                "work on a stream that has options, that other code made, or whose handle other code has",
            );
        }
        match *given {
            Given::Launch(launch) if !self.is_stateless(launch.function) => {
                Some("a kernel of a module, which can have variables")
            }
            Given::Copy(copy) if copy.kind.blocks_host() => Some("a copy that blocks the host"),
            Given::Copy(copy) if matches!(copy.kind, CopyKind::Peer { .. }) => {
                Some("a copy between devices")
            }
            Given::Record(event, _)
                if !self.events.get(event.handle()).is_some_and(|known| known.is_plain) =>
            {
                Some("a record with timing, or of an event that other code made")
            }
            _ => None,
        }
    }

    /// Sends the held-back calls one by one. All later calls of the pass are sent, too.
    fn interrupt(
        &mut self,
        below: &dyn Driver,
        what: &'static str,
        node: Option<u32>,
    ) -> DriverResult<()> {
        let sent = self.send_held(below);
        self.set_mode(Mode::Send);
        self.mark_broken(what, node);
        sent
    }

    /// Applies rule 6, before memory is freed or disowned: retires the lanes that use the memory. If calls of the pass that
    /// is under way use the memory, the held-back calls are sent.
    ///
    /// CUDA ties a graph's copies and fills to the allocations that they access, if these are page-locked or made by
    /// `cuMemAlloc`, as adopted memory may be. So later memory at the same address needs a new graph. For memory of a
    /// stream-ordered pool (`cuMemAllocAsync`) CUDA does not demand a new graph, on an H200 with driver 580. This rule and
    /// the simulator demand it, since the contract of a driver does not say how memory was made.
    pub(super) fn give_back(&mut self, below: &dyn Driver, range: MemoryRange) -> DriverResult<()> {
        if !self.keeps(Omission::GivenBack) {
            return Ok(());
        }
        for lane in &mut self.lanes {
            lane.is_retired |= lane.trace.names(range);
        }
        // The caller may be another thread than the one that makes the pass, so calls may be held back now.
        let followed = self.lanes.get(self.cursor.lane as usize);
        let is_of_pass = match self.mode() {
            Some(Mode::Follow) => followed.is_some_and(|lane| lane.trace.names(range)),
            Some(Mode::Keep | Mode::Gather) => self.current.names(range),
            Some(Mode::Send) | None => false,
        };
        let sent = match is_of_pass {
            true => self.interrupt(below, "another thread gave memory of the pass back", None),
            false => Ok(()),
        };
        // All captured graphs that use the memory are destroyed, even if an earlier step has failed.
        self.captures.give_back(range).into_iter().fold(sent, |done, graph| {
            // SAFETY: this layer made the graph. No held-back call needs the graph any more, and the lanes that contain it
            // are retired.
            done.and(unsafe { below.destroy_graph(graph) })
        })
    }

    /// Prepares for a call that no trace can contain: sends the held-back calls, unless the call depends on none of them
    /// (`is_beside`).
    pub(super) fn disturb(
        &mut self,
        below: &dyn Driver,
        (thread, node): (u64, u32),
        what: &'static str,
        rule: Option<Omission>,
        is_beside: bool,
    ) -> DriverResult<()> {
        self.lost.usable(what)?;
        if self.yield_to(below, thread, is_beside)? || rule.is_some_and(|rule| !self.keeps(rule)) {
            return Ok(());
        }
        self.append_work();
        if self.mode_of(thread).is_some_and(|mode| mode != Mode::Send) {
            self.interrupt(below, what, Some(node))?;
        }
        Ok(())
    }

    /// Ends the segment before a query or a wait of the host: its held-back calls are launched as a graph, or sent.
    pub(super) fn before_answer(
        &mut self,
        below: &dyn Driver,
        thread: u64,
        is_beside: bool,
    ) -> DriverResult<()> {
        self.lost.usable("an answer to the host")?;
        if self.yield_to(below, thread, is_beside)? || !self.keeps(Omission::Answered) {
            return Ok(());
        }
        if self.mode_of(thread).is_some_and(|mode| mode != Mode::Send) {
            self.end_segment(below)?;
            self.begin_segment();
        }
        Ok(())
    }

    /// Stops building a trace after a call of the segment was sent and has failed: the segment's trace is not remembered.
    pub(super) fn spoil(&mut self, thread: u64) {
        if self.mode_of(thread) == Some(Mode::Keep) {
            self.set_mode(Mode::Send);
            self.mark_broken("a call failed", None);
        }
    }
}
