//! Following a trace: the cursor moves to the next call of the trace, or to the trace of another lane, or the segment stops
//! following.

use super::Omission;
use super::cursor::Cursor;
use super::lane::Lane;
use super::mode::Mode;
use super::state::State;
use super::trace::{Given, Trace, Work};
use crate::driver::RawStream;

impl State {
    /// Holds a call back if it is the next call of the trace of `lane`. The caller has checked that the calls held back so
    /// far are the first calls of that trace.
    pub(super) fn follow(&mut self, lane: u32, who: (u32, RawStream), given: Given<'_>) -> bool {
        let (place, omission) = (self.cursor.place as usize, self.omission);
        let trace = self.lanes.get(lane as usize).map(|lane| &lane.trace);
        if !trace.is_some_and(|trace| trace.is_call(place, who, given, omission)) {
            return false;
        }
        // `is_call` does not compare the events of two records. The new event may be one whose records can't be held back.
        if let Given::Record(event, at) = given
            && !self.events.at(at).is_some_and(|known| known.raw == Some(event) && known.is_plain)
        {
            return false;
        }
        self.go_to(lane);
        match given {
            Given::Record(event, at) => return self.hold_record(event, at),
            Given::Launch(launch) => self.change(launch.params),
            _ => {}
        }
        self.cursor.place += 1;
        true
    }

    /// Moves the cursor to another lane, if one has a trace that begins with the held-back calls followed by this call.
    /// Returns whether there is such a lane.
    #[cold]
    pub(super) fn switch(&mut self, who: (u32, RawStream), given: Given<'_>) -> bool {
        (0..self.lanes.len() as u32)
            .any(|lane| self.could_go_to(lane) && self.follow(lane, who, given))
    }

    /// Moves the cursor to another lane, if one has a trace that consists of exactly the held-back calls. Returns whether
    /// there is such a lane.
    #[cold]
    pub(super) fn switch_to_whole(&mut self) -> bool {
        let len = self.cursor.place as usize;
        let is_whole = |lane: &u32| self.lanes[*lane as usize].trace.len() == len;
        let whole = (0..self.lanes.len() as u32).filter(is_whole);
        let found = whole.into_iter().find(|lane| self.could_go_to(*lane));
        found.is_some_and(|lane| {
            self.go_to(lane);
            true
        })
    }

    /// Whether `lane` is another lane than that of the cursor, is not retired, and has a trace that begins with the
    /// held-back calls.
    fn could_go_to(&self, lane: u32) -> bool {
        let (Some(from), Some(to)) =
            (self.lanes.get(self.cursor.lane as usize), self.lanes.get(lane as usize))
        else {
            return false;
        };
        let len = self.cursor.place as usize;
        lane != self.cursor.lane && !to.is_retired && to.trace.begins_as(&from.trace, len)
    }

    /// Moves the cursor to the same index in the trace of another lane. That trace gets the events and the parameters of the
    /// held-back calls.
    fn go_to(&mut self, lane: u32) {
        let Cursor { lane: from, place, outside } = self.cursor;
        if from == lane {
            return;
        }
        self.cursor.lane = lane;
        let (from, to) = (from as usize, lane as usize);
        let takes_over = self.keeps(Omission::TakenOver);
        let Ok([from, to]) = self.lanes.get_disjoint_mut([from, to]) else { return };
        to.outside.clear();
        to.outside.extend_from_slice(&from.outside[..outside as usize]);
        for index in 0..place as usize {
            take_over(&from.trace, to, index, takes_over);
            if let Work::Record(event, at) = from.trace.calls[index].work
                && let Some(known) = self.events.at_mut(at)
                && known.raw == Some(event)
            {
                known.lane = lane;
            }
        }
    }

    /// Copies the held-back calls from the followed lane to `current`. From here on the segment follows no lane.
    pub(super) fn gather(&mut self) {
        if self.mode() == Some(Mode::Follow) {
            let Self { lanes, current, outside, cursor, .. } = self;
            current.clear();
            outside.clear();
            if let Some(lane) = lanes.get(cursor.lane as usize) {
                current.copy(&lane.trace, cursor.place as usize);
                outside.extend_from_slice(&lane.outside[..cursor.outside as usize]);
            }
        }
        self.set_mode(Mode::Gather);
    }

    /// Whether this hook has already made the same wait, for the record at index `record` of the segment.
    pub(super) fn has_waited(&self, node: u32, stream: RawStream, record: u32) -> bool {
        let len = self.len();
        let followed = self.lanes.get(self.cursor.lane as usize);
        match (self.mode(), followed) {
            (Some(Mode::Follow), Some(lane)) => lane.trace.has_waited(len, node, stream, record),
            _ => self.current.has_waited(len, node, stream, record),
        }
    }
}

/// Copies the event of a record, or the parameters of a launch, from a trace to the equal call of a lane's trace.
fn take_over(from: &Trace, to: &mut Lane, index: usize, parameters: bool) {
    let work = from.calls[index].work;
    match from.launch(&work, "") {
        Some(launch) if parameters => to.change(index as u32, launch.params),
        Some(_) => {}
        None if matches!(work, Work::Record(..)) => to.trace.calls[index].work = work,
        None => {}
    }
}
