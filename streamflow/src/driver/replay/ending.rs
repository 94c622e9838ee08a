//! The end of a segment: a launch of a graph in place of its calls, or the calls.

use super::Omission;
use super::lane::{Lanes, MOST};
use super::mode::Mode;
use super::report::PassDone;
use super::state::{Event, State};
use super::trace::Work;
use crate::driver::{Driver, DriverResult};

impl State {
    pub(super) fn end_pass(&mut self, below: &dyn Driver) -> DriverResult<PassDone> {
        let ended = self.end_segment(below);
        let done = self.pass.take().map(|pass| pass.done).unwrap_or_default();
        // The error of a call that another call made be sent may have been dropped there.
        let failed = self.failed.take();
        ended?;
        failed.map_or(Ok(done), Err)
    }

    /// Launches the lane whose trace the segment is, or sends what is held back.
    pub(super) fn end_segment(&mut self, below: &dyn Driver) -> DriverResult<()> {
        let Some(pass) = &self.pass else { return Ok(()) };
        match pass.mode {
            Mode::Send => Ok(()),
            Mode::Keep => self.remember(below),
            Mode::Hold(_) if self.current.len() == 0 => self.send_held(below),
            Mode::Hold(lanes) => match self.whole(lanes) {
                Some(lane) => self.launch(below, lane),
                None if self.is_eager => match self.learn(below)? {
                    Some(lane) => self.launch(below, lane),
                    None => self.send_held(below),
                },
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
}
