//! Known traces. A trace that has come once is remembered by its fingerprint. When it comes again, a lane is made of it.

use super::bound;
use super::lane::{Lane, Lanes, MOST, Made};
use super::state::State;
use super::trace::{Trace, Work};
use crate::driver::{Driver, DriverError, DriverResult};
use crate::log;

/// The fewest launches, copies, fills and library calls of a graph: launching a graph costs the host as much as launching
/// one kernel.
const LEAST: usize = 2;
/// The most bytes that each call of a graph accesses on average. With more bytes, the device is the limit, and not the host:
/// an H200 takes 4 µs for so many bytes, as long as the host takes to launch a kernel. A tick of NVIDIA's CudaStreamPool
/// example with 2160 × 3840 elements, 33 MB for each call, took 0.98 to 1.01 times as long replayed on an H200 as sent call
/// by call.
const LARGE: u64 = 16 << 20;
/// The number of launches of other lanes, and of traces without a lane, after which a lane may be replaced by a new one.
const IDLE: u64 = 4 * MOST as u64;

impl State {
    /// Remembers the trace of the segment that ends, or makes a lane of it if an equal trace has come before.
    pub(super) fn remember(&mut self, below: &dyn Driver) -> DriverResult<()> {
        match pays(self.current.submissions(), self.current.bytes()) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(why) => {
                self.mark_broken(why, None);
                return Ok(());
            }
        }
        // A library's call is captured only when it occurs for the second time. Until then no lane can contain it.
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

    /// Makes a lane of a segment whose trace comes for the first time, and returns the lane's index.
    /// `STREAMFLOW_REPLAY=always` turns this on, so that tests with few ticks replay, too.
    pub(super) fn learn(&mut self, below: &dyn Driver) -> DriverResult<Option<usize>> {
        if self.current.submissions() == 0 || !self.has_captured(&self.current) {
            return Ok(None);
        }
        let Some(index) = self.free_place(below)? else { return Ok(None) };
        let mut trace = Trace::default();
        trace.copy(&self.current, self.current.len());
        Ok(self.add_lane(below, index, trace).map_err(log_not_made).ok().map(|()| index))
    }

    /// Returns the index for a new lane: the next free one, or that of an idle lane, which the new lane replaces; `None` if
    /// there is neither.
    fn free_place(&mut self, below: &dyn Driver) -> DriverResult<Option<usize>> {
        if self.lanes.len() < MOST {
            return Ok(Some(self.lanes.len()));
        }
        // A thread in `wait_for` uses the events of lanes without the lock, so no lane may be destroyed now.
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

    /// The time by which the age of lanes is measured: the number of launches plus the number of noted traces. A new lane's
    /// `used` is the current value, so the new lane is not the oldest one.
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
        // Rule 4: the existing lanes come after all work that was sent to streams of earlier traces. The new lane's stream waits
        // for their streams, and so comes after that work, too.
        let comes_after = |lane: &Lane| {
            // SAFETY: the event and the streams are this layer's.
            unsafe {
                below.record_event(border, lane.stream)?;
                below.wait_event(made.stream(), border)
            }
        };
        // The lane at `index`, if there is one, is about to be destroyed under the lock, and has no work left. So no record
        // is made on its stream.
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

/// Logs that no graph could be made. The run goes on. If the driver has refused one of the calls, the driver refuses it
/// again when it is sent, and the caller gets that error.
#[cold]
fn log_not_made(error: DriverError) {
    log::write(move || {
        tracing::warn!(%error, "a graph could not be made: its calls are sent one by one");
    });
}

/// Whether launching a graph with `submissions` launches, copies, fills and library calls costs less than these calls. `Err`
/// is the reason why a large graph does not pay.
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
