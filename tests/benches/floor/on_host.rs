//! The host's part alone, on a driver that does nothing: nanoseconds, instructions and allocations of an operator, beside
//! the same program wired by hand on streamflow's streams.

use std::cell::RefCell;
use std::sync::Arc;

use indicatif::ProgressBar;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_tests::allocations;
use streamflow_tests::layers::Null;

use crate::counts::Counter;
use crate::forms::{self, Form};
use crate::table::{self, Row};
use crate::turns::{Size, difference, quantile, take_turns};
use crate::wired::Wired;
use crate::workloads::{Mode, Work, Workload};

/// After this many ticks, queues and pools have stopped growing. Each operator has several blocks of memory, and each
/// block keeps a list that grows to the largest number of streams that have read it at once.
const WARM_UP: u64 = 200;

/// How many operators a batch runs. A batch must be shorter than a time slice of the operating system.
const OPERATORS: usize = 1_000;

/// A platform on a driver that can be switched off, so that only streamflow's own host time is measured.
pub(crate) struct OnHost {
    null: Arc<Null>,
    platform: Platform,
    counter: RefCell<Option<Counter>>,
}

impl OnHost {
    pub(crate) fn new() -> Result<Self> {
        let null = Arc::new(Null::new(Arc::new(HostDriver::builder().build())));
        // The race checker is off: debug builds turn it on by default, and it allocates memory.
        let driver = Arc::new(Replaying::over(null.clone()));
        let platform = Platform::builder().race_check(false).driver(driver)?;
        Ok(Self { null, platform, counter: RefCell::new(Counter::open().ok()) })
    }

    /// Returns the text that says how instructions are counted, or that they are not.
    pub(crate) fn counters(&self) -> &'static str {
        if self.counter.borrow().is_some() {
            "by this machine's counters"
        } else {
            "no counters here"
        }
    }

    /// Returns a workload's forms. Each form has run on the simulator once, and its results were compared.
    pub(crate) fn forms(&self, workload: &Workload, modes: &[&Mode]) -> Result<Vec<Box<dyn Form>>> {
        let mut list: Vec<Box<dyn Form>> = vec![Box::new(Wired::new(&self.platform, workload)?)];
        for mode in modes {
            list.push(forms::streamed(&self.platform, workload, mode)?);
        }
        for form in &mut list {
            form.batch(1, 4)?;
            form.check()?;
        }
        Ok(list)
    }

    /// Measures a workload and returns its rows.
    pub(crate) fn rows(
        &self,
        workload: &Workload,
        modes: &[&Mode],
        (turns, ticks): (usize, Option<u64>),
        bar: &ProgressBar,
    ) -> Result<Vec<Row>> {
        let mut forms = self.forms(workload, modes)?;
        let operators = workload.operators() as f64;
        let ticks = ticks.unwrap_or_else(|| (OPERATORS / workload.operators()).max(2) as u64);
        let size = Size { turns, ticks, latencies: 0, check: false };
        let times = self.null.off(|| take_turns(&mut forms, &mut [], size, bar))?;
        let mut rows = Vec::new();
        // The program by hand is the form 0, and every other form is compared with it.
        let others: Vec<_> = (0..forms.len())
            .map(|index| table::others(&forms, &vec![0; forms.len()], index))
            .collect();
        for ((form, own), others) in forms.iter_mut().zip(&times).zip(others) {
            let each = |seconds: Option<f64>| seconds.map(|it| it * 1e9 / operators);
            let more =
                (!std::ptr::eq(own, &times[0])).then(|| difference(&own.host, &times[0].host));
            let [instructions, allocations] = self.null.off(|| self.counts(&mut **form, ticks))?;
            let numbers = [
                ("ns least", each(quantile(&own.host, 0.0))),
                ("ns median", each(quantile(&own.host, 0.5))),
                ("ns over hand", each(more.flatten())),
                ("instructions", instructions.map(|it| it / operators)),
                ("alloc a tick", allocations),
                ("replayed %", table::replayed(&**form)),
            ];
            rows.push(Row::new(&workload.name, form.name(), None, &numbers).beside(others));
        }
        // The forms are dropped while the driver is on again, since they return memory and streams to it.
        drop(forms);
        Ok(rows)
    }

    /// Returns the instructions and allocations per tick: the difference between a run of `2 * ticks` and one of `ticks`.
    /// What a run needs only once cancels out.
    fn counts(&self, form: &mut dyn Form, ticks: u64) -> Result<[Option<f64>; 2]> {
        let mut of = |ticks| -> Result<[Option<u64>; 2]> {
            let read = || self.counter.borrow_mut().as_mut().map(Counter::read).transpose();
            let before = read()?;
            let (allocations, done) = allocations::count(|| form.batch(1, ticks));
            done?;
            let after = read()?;
            let instructions = after.zip(before).map(|(after, before)| after - before);
            Ok([instructions, Some(allocations)])
        };
        of(WARM_UP)?;
        // Queues and pools first grow to the size that the longer run needs.
        (0..4).try_for_each(|_| of(2 * ticks).map(drop))?;
        let (few, many) = (of(ticks)?, of(2 * ticks)?);
        let more = |index: usize| Some((many[index]? as f64 - few[index]? as f64) / ticks as f64);
        Ok([more(0), more(1)])
    }

    /// Runs one form for `ticks` ticks, for an outside program that counts instructions (valgrind).
    pub(crate) fn run_once(
        &self,
        workload: &Workload,
        mode: Option<&Mode>,
        ticks: u64,
    ) -> Result<()> {
        let mut forms = self.forms(workload, mode.as_slice())?;
        if let Some(form) = forms.last_mut() {
            self.null.off(|| form.batch(1, ticks))?;
        }
        Ok(())
    }
}

/// Whether a workload is worth a row when the device does nothing. The image sizes then cost the same, so only the
/// smallest has a row.
pub(crate) fn is_own(workload: &Workload) -> bool {
    !matches!(workload.work, Work::Seed(shape) if shape != [1, 256])
}
