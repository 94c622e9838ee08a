//! The state that a graph's operators share in a benchmark run: which ticks are measured, when they ended, and the
//! results.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use streamflow::Element;
use streamflow::prelude::*;

use crate::kernels::Kernels;

/// A tick number that no run reaches.
const NEVER: u64 = u64::MAX;

/// The shared state of all operators of a graph.
pub(crate) struct Run<T: Element> {
    pub(crate) kernels: Kernels,
    salt: AtomicU32,
    /// The last tick before the measured ones. The measurement begins when this tick ends.
    begin_after: AtomicU64,
    /// Results are kept from this tick on.
    keep_from: AtomicU64,
    kept: Mutex<Kept<T>>,
}

/// The moments of a run, and the results of its last tick.
pub(crate) struct Kept<T: Element> {
    begin: Option<Instant>,
    queued: Option<Instant>,
    arrived: Option<Instant>,
    has_kernels: bool,
    tick: u64,
    results: Vec<(usize, Download<T>)>,
}

/// Seconds since the beginning of the measurement: until all work was queued, and until the results had arrived.
pub(crate) type Seconds = (f64, Option<f64>);

impl<T: Element> Run<T> {
    pub(crate) fn new(kernels: Kernels) -> Self {
        let kept = Kept {
            begin: None,
            queued: None,
            arrived: None,
            has_kernels: kernels.any(),
            tick: NEVER,
            results: Vec::new(),
        };
        Self {
            kernels,
            salt: AtomicU32::new(0),
            begin_after: AtomicU64::new(NEVER),
            keep_from: AtomicU64::new(NEVER),
            kept: Mutex::new(kept),
        }
    }

    pub(crate) fn has_kernels(&self) -> bool {
        self.kernels.any()
    }

    /// Prepares a run. `salt` is added to the numbers of its ticks.
    pub(crate) fn prepare(&self, salt: u32, begin_after: Option<u64>, keep_from: u64) {
        self.salt.store(salt, Ordering::Relaxed);
        self.begin_after.store(begin_after.unwrap_or(NEVER), Ordering::Relaxed);
        self.keep_from.store(keep_from, Ordering::Relaxed);
        let mut kept = self.kept();
        (kept.begin, kept.queued, kept.arrived) = (None, None, None);
        kept.results.clear();
    }

    /// Returns the number of a tick of this run, as [`Kernels::number`] defines it.
    pub(crate) fn number(&self, tick: u64) -> u32 {
        self.kernels.number(self.salt.load(Ordering::Relaxed), tick)
    }

    /// Called at the end of a tick by each operator whose output no other operator reads. Notes the time, and keeps the
    /// result.
    pub(crate) fn end(
        &self,
        tick: u64,
        keep: impl FnOnce(&mut Kept<T>) -> Result<()>,
    ) -> Result<()> {
        if tick >= self.keep_from.load(Ordering::Relaxed) {
            let mut kept = self.kept();
            if kept.tick != tick {
                kept.results.clear();
            }
            kept.tick = tick;
            keep(&mut kept)?;
            kept.queued = Some(Instant::now());
        } else if tick == self.begin_after.load(Ordering::Relaxed) {
            self.kept().begin = Some(Instant::now());
        }
        Ok(())
    }

    /// Waits until the results have arrived on the host. The first operator whose `stop` is called does so.
    pub(crate) fn wait_blocking(&self) -> Result<()> {
        let mut kept = self.kept();
        if kept.arrived.is_none() {
            for (_, result) in &kept.results {
                result.wait_blocking()?;
            }
            kept.arrived = Some(Instant::now());
        }
        Ok(())
    }

    /// Waits until the results of a queued tick have arrived on the host.
    pub(crate) fn wait_for_tick_blocking(&self, tick: u64) -> Result<()> {
        let kept = self.kept();
        if kept.tick != tick {
            return Err(Failure::msg(format!("tick {tick} did not come to its end in one pass")));
        }
        kept.results.iter().try_for_each(|(_, result)| Ok(result.wait_blocking().map(drop)?))
    }

    /// Returns the measured seconds. The run must be over.
    pub(crate) fn seconds(&self) -> Result<Seconds> {
        let kept = self.kept();
        let (Some(begin), Some(queued)) = (kept.begin, kept.queued) else {
            return Err(Failure::msg("the run has not come to its end"));
        };
        // A workload without kernels has no results, so no result arrives.
        let arrived = kept.arrived.filter(|_| self.has_kernels());
        let since = |moment: Instant| (moment - begin).as_secs_f64();
        Ok((since(queued), arrived.map(since)))
    }

    /// Returns the number of the last tick, and its results in the order of the graph's result list.
    pub(crate) fn results_blocking(&self) -> Result<(u32, Vec<Vec<T>>)> {
        let mut kept = self.kept();
        kept.results.sort_by_key(|(place, _)| *place);
        let values = kept.results.iter().map(|(_, result)| Ok(result.wait_blocking()?.to_vec()));
        let values = values.collect::<Result<_>>()?;
        Ok((self.number(kept.tick), values))
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Element> Kept<T> {
    /// Keeps a result, if the tasks launch kernels. Tasks without kernels have no results.
    pub(crate) fn add(
        &mut self,
        place: usize,
        download: impl FnOnce() -> Result<Download<T>, Error>,
    ) -> Result<()> {
        if self.has_kernels {
            self.results.push((place, download()?));
        }
        Ok(())
    }
}
