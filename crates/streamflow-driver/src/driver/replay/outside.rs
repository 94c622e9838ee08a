//! The order between launches of graphs, and between a launch and calls that are sent: rules 1 to 5 of the [module](super).

use super::Omission;
use super::lane::Lanes;
use super::state::{Sent, State};
use crate::driver::{Driver, DriverResult, RawEvent, RawStream};

/// The records that the host has to wait for. Each is the index of a lane, the number of that lane's latest launch before
/// the record, and the event.
pub(super) type Awaited = smallvec::SmallVec<[(usize, u64, RawEvent); 4]>;

impl State {
    /// Applies rule 1 before a call is sent to a stream: the stream waits for the latest launch with work of the stream and
    /// all launches before that one. Marks the stream as one to which work was sent.
    pub(super) fn settle(&mut self, below: &dyn Driver, stream: RawStream) -> DriverResult<()> {
        let known = self.stream(stream);
        known.sent = Sent::Something;
        let (tail, joined) = (known.tail, known.joined);
        if tail > joined && self.keeps(Omission::SentAfterLaunches) {
            self.join(below, stream)?;
        }
        Ok(())
    }

    /// Makes a stream wait for all launches so far that are not known to be complete.
    pub(super) fn join(&mut self, below: &dyn Driver, stream: RawStream) -> DriverResult<()> {
        let joined = self.stream(stream).joined;
        for lane in &mut self.lanes {
            if lane.last > joined && lane.completed < lane.last {
                lane.make_mark(below)?;
                // SAFETY: the stream is live, since the program is making a call on it. The event is the lane's.
                unsafe { below.wait_event(stream, lane.mark) }?;
            }
        }
        let launches = self.launches;
        self.stream(stream).joined = launches;
        Ok(())
    }

    /// Whether launch `number` and all launches before it are complete (rule 3).
    pub(super) fn is_complete(&mut self, below: &dyn Driver, number: u64) -> DriverResult<bool> {
        if !self.keeps(Omission::Answers) {
            return Ok(true);
        }
        let only_latest = !self.keeps(Omission::EarlierLaunches);
        for lane in &mut self.lanes {
            if only_latest && lane.last != number {
                continue;
            }
            if !lane.is_complete(below, number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the records that the host must wait for, so that launch `number` and all launches before it are complete.
    /// From here on no lane is destroyed until the host has waited.
    pub(super) fn awaited(&mut self, below: &dyn Driver, number: u64) -> DriverResult<Awaited> {
        let mut list = Awaited::new();
        let only_latest = !self.keeps(Omission::EarlierLaunches);
        let is_asked = self.keeps(Omission::Answers);
        for (index, lane) in self.lanes.iter_mut().enumerate().filter(|_| is_asked) {
            let needed = lane.last.min(number);
            if lane.completed >= needed || only_latest && lane.last != number {
                continue;
            }
            if lane.asked < needed {
                lane.ask(below)?;
            }
            list.push((index, lane.asked, lane.answer));
        }
        self.waiting += 1;
        Ok(list)
    }

    /// Notes that the host has waited for the records in `list`: the launches before them are complete.
    pub(super) fn mark_complete(&mut self, list: &Awaited) {
        for &(lane, number, _) in list {
            let lane = &mut self.lanes[lane];
            lane.completed = lane.completed.max(number);
        }
    }

    /// Orders the next launch of a lane after the work that was sent to its streams, after the records from outside of the
    /// segment that the segment waits for, and after the launches of other lanes that access the same memory (rules 4 and
    /// 5).
    pub(super) fn order(&mut self, below: &dyn Driver, index: usize) -> DriverResult<()> {
        let stream = self.lanes[index].stream;
        let Some(border) = self.border else { return Ok(()) };
        let mut has_border = false;
        for place in 0..self.lanes[index].streams.len() {
            let (before, at) = self.lanes[index].streams[place];
            if !self.keeps(Omission::SentBefore) || !self.has_sent_work(below, before, at)? {
                continue;
            }
            // SAFETY: the streams of a lane are live: a call on each of them is held back. The event is this layer's.
            unsafe {
                below.record_event(border, before)?;
                below.wait_event(stream, border)?;
            }
            has_border = true;
        }
        let mut after: Lanes =
            if self.keeps(Omission::Conflicts) { self.lanes[index].conflicts } else { 0 };
        for place in 0..self.cursor.outside as usize {
            let Some(wait) = self.lanes[index].outside.get(place) else { break };
            let (event, mut launched) = (wait.event, wait.launched);
            if !self.keeps(Omission::RecordedAgain) {
                launched = self.launched(wait.at);
            }
            match launched {
                (0, _) if self.keeps(Omission::RecordsOutside) => {
                    // SAFETY: the event is live, by the contract of the held-back wait.
                    unsafe { below.wait_event(stream, event) }?;
                    has_border = true;
                }
                (0, _) => {}
                (_, lane) => after |= 1 << lane,
            }
        }
        if has_border {
            if self.lanes.len() > 1 && self.keeps(Omission::OtherLanes) {
                // SAFETY: the event and the streams are this layer's.
                unsafe { below.record_event(border, stream) }?;
                for other in self.lanes.iter().filter(|other| other.stream != stream) {
                    // SAFETY: the event and the streams are this layer's.
                    unsafe { below.wait_event(other.stream, border) }?;
                }
            }
            for place in 0..self.lanes[index].streams.len() {
                let (_, at) = self.lanes[index].streams[place];
                if let Some(known) = self.streams.at_mut(at) {
                    known.sent = Sent::Nothing;
                }
            }
        }
        self.order_after(below, index, after)
    }

    /// Whether work was sent to a stream and the lanes have not been ordered after it yet. At the first launch of a run this
    /// is not known, and the stream is queried: most streams are empty then, and a query costs the device nothing.
    fn has_sent_work(
        &mut self,
        below: &dyn Driver,
        stream: RawStream,
        at: u32,
    ) -> DriverResult<bool> {
        let Some(known) = self.streams.at_mut(at) else { return Ok(true) };
        // SAFETY: the stream is live, since a call on it is held back.
        if known.sent == Sent::Perhaps && unsafe { below.query_stream(stream) }? {
            known.sent = Sent::Nothing;
        }
        Ok(known.sent != Sent::Nothing)
    }

    /// Returns the number of the launch that contains the latest record of the event with index `at`, and the index of that
    /// launch's lane; number 0 if the record was sent.
    #[inline]
    pub(super) fn launched(&self, at: u32) -> (u64, u32) {
        self.events.at(at).map_or((0, 0), |known| (known.launch, known.lane))
    }

    /// Orders a lane's next launch after all launches so far of the lanes in `lanes`. Each round waits for the latest launch
    /// that is left: mostly that launch itself comes after the others, and no wait for them is needed.
    fn order_after(&mut self, below: &dyn Driver, index: usize, lanes: Lanes) -> DriverResult<()> {
        loop {
            // `latest` becomes the lane with the latest launch that this lane's stream does not come after yet; `number`
            // becomes the number of that launch.
            let (mut latest, mut number) = (index, 0);
            let mut left = lanes & !(1 << index);
            while left != 0 {
                let other = left.trailing_zeros() as usize;
                left &= left - 1;
                let Some(last) = self.lanes.get(other).map(|lane| lane.last) else { break };
                if last > number && self.lanes[index].after[other] < last {
                    (latest, number) = (other, last);
                }
            }
            let count = self.lanes.len();
            let Ok([own, other]) = self.lanes.get_disjoint_mut([index, latest]) else {
                return Ok(());
            };
            if other.completed < number {
                other.make_mark(below)?;
                // SAFETY: the stream and the event are this layer's.
                unsafe { below.wait_event(own.stream, other.mark) }?;
            }
            for (own, implied) in own.after.iter_mut().zip(&other.after).take(count) {
                *own = (*own).max(*implied);
            }
            own.after[latest] = number;
        }
    }
}
