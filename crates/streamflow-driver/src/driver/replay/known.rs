//! The known traces. A trace that occurred once is remembered; one that occurs again gets a lane.

use super::bound;
use super::lane::{Lane, Lanes, MOST, Made};
use super::state::State;
use super::trace::{Trace, Work};
use crate::driver::{Driver, DriverError, DriverResult};
use crate::log;

/// The fewest launches, copies, fills and library calls of a graph: the launch of a graph costs the host as much as the launch of
/// one kernel.
const LEAST: usize = 2;
/// The most bytes that a graph's calls access on average. With more, the device is the limit, and not the host: an H200 takes 4
/// µs for so many bytes, as long as the host takes to launch a kernel. There a tick of NVIDIA's CudaStreamPool example with 2160
/// × 3840 elements with 33 MB for each call took 0.98 to 1.01 times as long replayed as sent call by call.
const LARGE: u64 = 16 << 20;
/// The number of launches of other lanes, and of traces without a lane, after which a lane counts as no longer needed.
const IDLE: u64 = 4 * MOST as u64;

impl State {
    /// Remembers the trace of the segment, or makes a lane of it if an equal trace came before.
    pub(super) fn remember(&mut self, below: &dyn Driver) -> DriverResult<()> {
        match pays(self.current.submissions(), self.current.bytes()) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(why) => {
                self.mark_broken(why, None);
                return Ok(());
            }
        }
        // A library's call is captured only when it comes a second time. Until then no lane can have it.
        if !self.seen.note(&self.current) || !self.has_captured(&self.current) {
            self.mark_broken("no earlier pass had equal calls", None);
            return Ok(());
        }
        let index = match self.free_place(below) {
            Ok(Some(index)) => index,
            Ok(None) => {
                self.mark_broken("more rotations of buffers than graphs that are kept", None);
                return Ok(());
            }
            Err(error) => {
                log::write(move || {
                    tracing::warn!(%error, "a graph's progress could not be asked for: no other one takes its place");
                });
                self.mark_broken(
                    "a graph could not be asked for its progress; the log has the error",
                    None,
                );
                return Ok(());
            }
        };
        let mut trace = Trace::default();
        trace.copy(&self.current, self.current.len());
        let made = self.add_lane(below, index, trace);
        self.mark_broken(
            match &made {
                Ok(()) => "these calls came again, and their graph was made",
                Err(_) => "no graph could be made; the log has the error",
            },
            None,
        );
        if let Err(error) = made {
            log_not_made(error);
        }
        Ok(())
    }

    /// Makes a lane of a segment that comes for the first time. `STREAMFLOW_REPLAY=always` turns this on, so that tests with few
    /// ticks replay, too.
    pub(super) fn learn(&mut self, below: &dyn Driver) -> DriverResult<Option<usize>> {
        if self.current.submissions() == 0 || !self.has_captured(&self.current) {
            return Ok(None);
        }
        let Some(index) = self.free_place(below)? else { return Ok(None) };
        let mut trace = Trace::default();
        trace.copy(&self.current, self.current.len());
        Ok(self.add_lane(below, index, trace).map_err(log_not_made).ok().map(|()| index))
    }

    /// The place of a new lane: behind the others, or that of a lane that has not been launched for long.
    fn free_place(&mut self, below: &dyn Driver) -> DriverResult<Option<usize>> {
        if self.lanes.len() < MOST {
            return Ok(Some(self.lanes.len()));
        }
        // A thread in `wait_for` uses the events of lanes without the lock, so none may be destroyed now.
        if self.waiting > 0 {
            return Ok(None);
        }
        let key = |index: &usize| (!self.lanes[*index].is_retired, self.lanes[*index].used);
        let Some(oldest) = (0..self.lanes.len()).min_by_key(key) else { return Ok(None) };
        let now = self.now();
        let lane = &mut self.lanes[oldest];
        bound::bind(below, lane.stream.device())?;
        let is_idle = lane.is_retired || now - lane.used > IDLE || self.is_eager;
        let is_free = is_idle && lane.is_complete(below, lane.last)? && lane.is_empty(below)?;
        Ok(is_free.then_some(oldest))
    }

    /// The clock for the age of lanes: the number of launches, plus the number of noted traces. A new lane's `used` is the
    /// current value, so it is not the oldest lane.
    pub(super) fn now(&self) -> u64 {
        self.launches + self.seen.noted()
    }

    fn add_lane(&mut self, below: &dyn Driver, index: usize, trace: Trace) -> DriverResult<()> {
        let Some(device) = trace.calls.first().map(|call| call.stream.device()) else {
            return Ok(());
        };
        let border = match self.border {
            Some(border) => border,
            None => {
                bound::bind(below, device)?;
                below.create_event(device)?
            }
        };
        (self.border, self.device) = (Some(border), Some(device));
        let name = |work: &Work| match work {
            Work::Launch(kernel) => self.kernel_name(kernel.function).to_string(),
            _ => String::new(),
        };
        let made = Made::new(below, device, &trace, self.omission, &self.captures, name)?;
        // Rule 4: the other lanes come after work that was sent to streams earlier. The new lane must come after that work, too.
        let comes_after = |lane: &Lane| {
            // SAFETY: all are this layer's.
            unsafe {
                below.record_event(border, lane.stream)?;
                below.wait_event(made.stream(), border)
            }
        };
        // The lane at `index` is about to be destroyed, under the lock, and has no work left. No record is queued on its stream.
        let (before, after) = self.lanes.split_at(index);
        let mut others = before.iter().chain(after.iter().skip(1));
        if let Err(error) = others.try_for_each(comes_after) {
            crate::driver::report_in_drop("destroying a graph", made.destroy(below));
            return Err(error);
        }
        let now = self.now();
        let mut lane = made.into_lane(trace, |stream| self.place_of(stream));
        lane.used = now;
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
}

/// Logs that no graph could be made. The run goes on: if the driver refuses one of the calls, it refuses that call again when it
/// is sent, and the caller gets the error then.
#[cold]
fn log_not_made(error: DriverError) {
    log::write(move || {
        tracing::warn!(%error, "a graph could not be made: its calls are sent one by one");
    });
}

/// Whether a graph with `submissions` launches, copies, fills and library calls is cheaper than these calls. An error says why
/// not.
fn pays(submissions: usize, bytes: u64) -> Result<bool, &'static str> {
    if submissions >= LEAST && bytes / submissions as u64 > LARGE {
        return Err("the kernels are so large that the device is the limit, and not the host");
    }
    Ok(submissions >= LEAST)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn single_calls_and_large_kernels_gain_nothing() {
        assert_eq!(pays(1, 8), Ok(false));
        assert_eq!(pays(2, 8), Ok(true));
        assert_eq!(pays(2, 2 * LARGE), Ok(true));
        assert!(pays(2, 3 * LARGE).is_err());
    }
}
