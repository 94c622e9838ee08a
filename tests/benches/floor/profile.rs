//! Measures where the host's time of a tick goes, for each kind of driver call.

use std::sync::Arc;

use indicatif::ProgressBar;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::foreign::floor::Floor;
use streamflow_tests::layers::{Kind, Null, Timed};

use crate::cpp::{self, Cpp};
use crate::forms::{self, Form};
use crate::table::Row;
use crate::turns::quantile;
use crate::workloads::{Mode, Workload};

/// How many tasks a turn runs.
const TASKS: usize = 4_000;

/// A platform whose driver measures the time of each call.
pub(crate) struct Profile {
    timed: Arc<Timed>,
    platform: Platform,
    null: Option<Arc<Null>>,
    /// The programs by hand in CUDA C++, if there is a GPU.
    by_hand: Option<Floor>,
}

impl Profile {
    /// Creates a profile on a GPU, or, with `is_host`, over a driver that does nothing.
    pub(crate) fn new(is_host: bool) -> Result<Self> {
        let null = match is_host {
            true => Some(Arc::new(Null::new(
                Platform::builder().race_check(false).host()?.driver().clone(),
            ))),
            false => None,
        };
        let timed = Arc::new(match &null {
            Some(null) => Timed::new(null.clone()),
            None => Timed::new(Arc::new(CudaDriver::new()?)),
        });
        let driver = Arc::new(Replaying::over(timed.clone()));
        let platform = Platform::builder().race_check(false).driver(driver)?;
        let by_hand = if is_host { None } else { Some(cpp::compile()?) };
        Ok(Self { timed, platform, null, by_hand })
    }

    /// Returns a row for each form. For each part of a tick: the host's time, the number of calls, and the nanoseconds of
    /// one call of each kind.
    pub(crate) fn rows(
        &self,
        workload: &Workload,
        modes: &[&Mode],
        turns: usize,
        bar: &ProgressBar,
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let ticks = (TASKS / workload.operators()).clamp(10, 200) as u64;
        let parts = workload.parts() as f64;
        if let Some(floor) = self.by_hand {
            for layout in workload.layouts {
                let mut form = Cpp::new(floor, &self.platform, workload, *layout)?;
                let mut host = Vec::new();
                for turn in 0..=turns {
                    host.push(form.batch(turn as u32, ticks)?.0 * 1e9 / (ticks as f64 * parts));
                }
                let mut numbers = vec![("host ns", quantile(&host[1..], 0.5)), ("own ns", None)];
                numbers.extend(columns().map(|name| (name, None)));
                rows.push(Row::new(&workload.name, form.name(), None, &numbers));
            }
        }
        let clock = Timed::clock();
        for mode in modes {
            let mut form = forms::streamed(&self.platform, workload, mode)?;
            let mut samples: Vec<Vec<f64>> = Vec::new();
            for _ in 0..=turns {
                samples.push(match &self.null {
                    Some(null) => null.off(|| self.sample(&mut *form, ticks, parts, clock))?,
                    None => self.sample(&mut *form, ticks, parts, clock)?,
                });
            }
            let median = |column: usize| {
                quantile(&samples[1..].iter().map(|it| it[column]).collect::<Vec<_>>(), 0.5)
            };
            let names = ["host ns", "own ns"].into_iter().chain(columns());
            let numbers: Vec<_> =
                names.enumerate().map(|(column, name)| (name, median(column))).collect();
            rows.push(Row::new(&workload.name, mode.name, None, &numbers));
            drop(form);
            bar.inc(1);
        }
        Ok(rows)
    }

    /// Measures one turn. Calls are also counted in a batch's warm-up ticks, which its time leaves out. So a batch of `2
    /// * ticks` minus one of `ticks` is used: it has the calls and the time of exactly `ticks` ticks.
    fn sample(&self, form: &mut dyn Form, ticks: u64, parts: f64, clock: f64) -> Result<Vec<f64>> {
        let mut batch = |ticks| -> Result<_> {
            let before = self.timed.spent();
            let (host, _) = form.batch(1, ticks)?;
            let after = self.timed.spent();
            let spent = after.iter().zip(&before);
            let spent = spent
                .map(|(a, b)| ((a.calls - b.calls) as f64, (a.nanoseconds - b.nanoseconds) as f64));
            Ok((host * 1e9, spent.collect::<Vec<_>>()))
        };
        let (few, many) = (batch(ticks)?, batch(2 * ticks)?);
        let per = ticks as f64 * parts;
        let all_calls: f64 = few.1.iter().zip(&many.1).map(|(few, many)| many.0 - few.0).sum();
        // Each measured call reads the clock twice, so that time is subtracted.
        let host = (many.0 - few.0 - all_calls * clock * 2.0) / per;
        let mut numbers = vec![host, host];
        for (few, many) in few.1.iter().zip(&many.1) {
            let calls = many.0 - few.0;
            let time = many.1 - few.1 - calls * clock;
            numbers[1] -= time / per;
            numbers.push(calls / per);
            numbers.push(if calls > 0.0 { time / calls } else { 0.0 });
        }
        Ok(numbers)
    }
}

/// Returns the table's columns for all kinds of calls.
fn columns() -> impl Iterator<Item = &'static str> {
    Kind::ALL.into_iter().flat_map(|kind| [kind.name(), "ns"])
}
