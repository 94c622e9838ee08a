//! A pass and its segments: which calls are held back, and what ends that.

use std::sync::Arc;

use super::Omission;
use super::lane::Lanes;
use super::mode::{Mode, Pass, Taken};
use super::report::PassDone;
use super::state::{Outside, State};
use super::trace::Given;
use crate::driver::{CopyKind, Driver, DriverResult, RawStream};

/// A segment with more calls is sent: the first kernel would begin when the last call was asked for.
const LONGEST: usize = 4096;

impl State {
    pub(super) fn begin_pass(&mut self, thread: u64, nodes: &Arc<[Arc<str>]>) {
        let done = PassDone::default();
        self.pass = Some(Pass { thread, nodes: nodes.clone(), mode: Mode::Send, done });
        self.begin_segment();
    }

    pub(super) fn begin_segment(&mut self) {
        self.segment += 1;
        self.current.clear();
        self.outside.clear();
        let mut lanes: Lanes = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            lanes |= Lanes::from(!lane.is_retired) << index;
        }
        let is_held = lanes != 0 || self.is_eager;
        self.set_mode(if is_held { Mode::Hold(lanes) } else { Mode::Keep });
    }

    pub(super) fn set_mode(&mut self, mode: Mode) {
        if let Some(pass) = &mut self.pass {
            pass.mode = mode;
        }
    }

    /// The mode, if the calling thread is that of the pass.
    pub(super) fn mode_of(&self, thread: u64) -> Option<Mode> {
        self.pass.as_ref().filter(|pass| pass.thread == thread).map(|pass| pass.mode)
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.outside.is_empty() || self.current.len() > 0
    }

    pub(super) fn note_broken(&mut self, what: &'static str, node: Option<u32>) {
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
        if matches!(pass.mode, Mode::Hold(_)) && self.is_holding() && self.keeps(Omission::Threads)
        {
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
        let given = match given {
            Given::Wait(event, _) => match self.events.get(&event.handle()) {
                Some(known) if known.segment == self.segment => Given::Wait(event, known.place),
                _ => {
                    return self.take_outside(
                        below,
                        mode,
                        Outside { place: 0, node, stream, event },
                    );
                }
            },
            given => given,
        };
        if let Given::Wait(_, record) = given
            && self.current.has_waited(node, stream, record)
        {
            return Ok(if mode == Mode::Keep { Taken::Send } else { Taken::Held });
        }
        let place = self.current.len();
        let with = match mode {
            Mode::Hold(lanes) => self.with_call(lanes, place, stream, given),
            _ => 0,
        };
        let mut taken = Taken::Send;
        if with != 0 {
            // What a lane's call is equal to is accepted, as that was: a stream or an event that changes retires its lanes.
            self.set_mode(Mode::Hold(with));
            taken = Taken::Held;
        } else if let Some(what) = self.refusal(stream, &given) {
            self.interrupt(below, what, Some(node))?;
            return Ok(Taken::Send);
        } else if self.is_eager && mode != Mode::Keep {
            // No lane has these calls. The end of the segment makes one.
            self.set_mode(Mode::Hold(0));
            taken = Taken::Held;
        } else if mode != Mode::Keep {
            // Waits alone are no begin: they are no part of a trace.
            let has_begun = self.current.len() > 0;
            self.send_held(below)?;
            if has_begun {
                self.note_broken("a call differed from those of earlier passes", Some(node));
            }
        } else if place >= LONGEST {
            self.interrupt(
                below,
                "so many calls that the first would be held back for too long",
                None,
            )?;
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

    /// Takes a wait for a record from outside of the segment.
    fn take_outside(
        &mut self,
        below: &dyn Driver,
        mode: Mode,
        wait: Outside,
    ) -> DriverResult<Taken> {
        // Its owner may destroy an event of other code as soon as this returns.
        let is_foreign =
            !self.events.contains_key(&wait.event.handle()) && self.keeps(Omission::ForeignEvents);
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
        self.outside.push(Outside { place: self.current.len() as u32, ..wait });
        Ok(Taken::Held)
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
        // Which event holds a record is not compared: it may be one that can't be held back.
        if let Given::Record(event) = given
            && !self.events.get(&event.handle()).is_some_and(|known| known.is_plain)
        {
            return 0;
        }
        with
    }

    /// Why a call can't be part of a trace.
    fn refusal(&mut self, stream: RawStream, given: &Given<'_>) -> Option<&'static str> {
        if self.device.is_some_and(|device| device != stream.device()) {
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
}
