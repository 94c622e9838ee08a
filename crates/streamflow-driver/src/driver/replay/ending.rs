//! The end of a segment: its held-back calls are replaced by one launch of a graph, or sent.

use super::Omission;
use super::bound;
use super::lane::MOST;
use super::mode::Mode;
use super::sending::asked_by;
use super::state::State;
use super::trace::Work;
use crate::driver::passes::PassDone;
use crate::driver::{Driver, DriverError, DriverResult};
use crate::log;

impl State {
    pub(super) fn end_pass(&mut self, below: &dyn Driver) -> DriverResult<PassDone> {
        let ended = self.end_segment(below);
        self.follower = 0;
        let done = self.pass.take().map(|pass| pass.done).unwrap_or_default();
        // A call of the program that caused held-back calls to be sent may have discarded their error, so the end of the
        // pass returns it.
        let failed = self.failed.take();
        ended?;
        failed.map_or(Ok(done), Err)
    }

    /// Launches the lane whose trace equals the segment's held-back calls. Without such a lane, the calls are sent.
    pub(super) fn end_segment(&mut self, below: &dyn Driver) -> DriverResult<()> {
        match self.mode() {
            None | Some(Mode::Send) => Ok(()),
            Some(Mode::Keep) => self.remember(below),
            Some(Mode::Follow | Mode::Gather) if self.len() == 0 => {
                if self.has_waits() {
                    self.append_work();
                }
                self.send_held(below)
            }
            Some(Mode::Follow) => {
                self.append_work();
                let trace = self.lanes.get(self.cursor.lane as usize).map(|lane| &lane.trace);
                let is_whole = trace.is_some_and(|it| it.len() == self.cursor.place as usize);
                if is_whole || !self.keeps(Omission::Length) || self.switch_to_whole() {
                    self.launch(below, self.cursor.lane as usize)
                } else {
                    self.gather();
                    self.end_unknown(below)
                }
            }
            Some(Mode::Gather) => self.end_unknown(below),
        }
    }

    /// Ends a segment whose held-back calls equal no lane's whole trace: they are sent, or a lane is made of them
    /// (`is_eager`).
    #[cold]
    fn end_unknown(&mut self, below: &dyn Driver) -> DriverResult<()> {
        if !self.is_eager {
            self.send_held(below)?;
            self.mark_broken("the calls ended earlier than those of earlier passes", None);
            return self.remember(below);
        }
        let index = match self.learn(below) {
            Ok(Some(index)) => index,
            Ok(None) => return self.send_held(below),
            Err(error) => return self.send_held(below).and(Err(error)),
        };
        // The held-back records will be inside of the next launch, that of this lane.
        for call in &self.current.calls {
            if let Work::Record(event, at) = call.work
                && let Some(known) = self.events.at_mut(at)
                && known.raw == Some(event)
            {
                (known.launch, known.lane) = (self.launches + 1, index as u32);
            }
        }
        self.lanes[index].outside.clone_from(&self.outside);
        self.cursor.outside = self.outside.len() as u32;
        self.launch(below, index)
    }

    /// Launches a lane's graph in place of the held-back calls.
    fn launch(&mut self, below: &dyn Driver, index: usize) -> DriverResult<()> {
        let lane = &mut self.lanes[index];
        let device = lane.stream.device();
        if let Err(error) = bound::bind(below, device) {
            return self.not_launched(below, index, error);
        }
        if self.omission == Some(Omission::Parameters) {
            lane.forget_changed();
        }
        let is_changed = match lane.set_changed(below) {
            Ok(is_changed) => is_changed,
            Err((error, place)) => return self.not_set(below, index, error, place),
        };
        let number = self.launches + 1;
        let ordered = self.order(below, index);
        if let Err(error) = ordered.and_then(|()| self.lanes[index].launch(below, number)) {
            return self.not_launched(below, index, error);
        }
        self.launches = number;
        self.lanes[index].used = self.now();
        for (_, at) in &self.lanes[index].streams {
            if let Some(known) = self.streams.at_mut(*at) {
                known.tail = number;
            }
        }
        if self.keeps(Omission::WaitsBeside) {
            self.mark_waits_beside(index, number);
        }
        if let Some(before) = self.lanes.get_mut(self.latest as usize) {
            before.next = index as u32;
        }
        self.latest = index as u32;
        self.current.clear();
        self.outside.clear();
        (self.cursor.place, self.cursor.outside) = (0, 0);
        if let Some(pass) = &mut self.pass {
            pass.done.launched = true;
            pass.done.changed |= is_changed;
        }
        Ok(())
    }

    /// Notes the launch at the streams that have no call in the trace, but a held-back wait for a record from outside of the
    /// segment. Calls that are sent to such a stream later come after the launch, and so after the record of the wait.
    fn mark_waits_beside(&mut self, index: usize, number: u64) {
        for place in 0..self.cursor.outside as usize {
            let lane = &self.lanes[index];
            let Some(stream) = lane.outside.get(place).map(|wait| wait.stream) else { break };
            if lane.streams.iter().all(|(known, _)| *known != stream) {
                self.stream(stream).tail = number;
            }
        }
    }

    /// Sends the held-back calls one by one, after the launch of their graph has failed.
    #[cold]
    fn not_launched(
        &mut self,
        below: &dyn Driver,
        index: usize,
        error: DriverError,
    ) -> DriverResult<()> {
        // The failed launch has queued no work. The waits that were queued on the lane's stream for it do no harm.
        log::write(move || {
            tracing::warn!(%error, "a graph could not be launched: its calls are sent one by one");
        });
        self.mark_broken("the launch of a graph failed; the log has the error", None);
        self.give_up(below, index)
    }

    /// Sends the held-back calls one by one, after setting the parameters of a kernel in their graph has failed.
    #[cold]
    fn not_set(
        &mut self,
        below: &dyn Driver,
        index: usize,
        error: DriverError,
        place: u32,
    ) -> DriverResult<()> {
        let lane = &self.lanes[index];
        let node = lane.trace.calls.get(place as usize).map_or(u32::MAX, |call| call.node);
        let what = format!("the launch of kernel `{}`", lane.name_of(place));
        let error = asked_by(error, &what, self.node_name(node));
        log::write(move || {
            tracing::warn!(%error, "a kernel of a graph could not get other parameters: the graph's calls are sent one by one");
        });
        let what = "the parameters of a kernel could not be set in a graph; the log has the error";
        self.mark_broken(what, Some(node));
        self.give_up(below, index)
    }

    /// Sends the held-back calls, and retires the lane whose graph could not be launched.
    fn give_up(&mut self, below: &dyn Driver, index: usize) -> DriverResult<()> {
        let lane = &mut self.lanes[index];
        // Waits that were queued on the lane's stream since its latest launch may come after the record of `mark`. Another
        // lane that waits for that record then does not come after these waits, so `after` must not count them.
        (lane.is_retired, lane.after) = (true, [0; MOST]);
        self.send_held(below)
    }
}
