//! Programs that are right for the sake of one edge, and their controls.

use std::sync::Arc;

use streamflow::MemoryOptions;
use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::prelude::*;

use crate::layers::DropWaits;
use crate::{Failed, Suite, check};

/// Whether its data was right.
pub type Program = fn(&Platform) -> Result<bool>;

/// Seeds of a control, and how many of them must show the missing edge.
const CONTROL_SEEDS: u64 = 100;
const MUST_SHOW: usize = 30;

/// How often a control is tried on a GPU until it shows the missing edge.
const CONTROL_TRIES: usize = 5;

impl Suite {
    /// Adds a program for both platforms, and a control: that it is wrong when all waits between streams
    /// are taken away below it. A control that isn't says that it is inconclusive.
    #[must_use]
    pub fn ordered(self, name: &str, program: Program) -> Self {
        self.right(name, program).control(name, move |driver| without_waits(program, driver))
    }

    /// As [`ordered`](Self::ordered), for order that no wait of a stream keeps: the control is `wrong`,
    /// a program without what keeps it.
    #[must_use]
    pub fn contrasted(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program).control(name, move |driver| by_data(wrong, driver))
    }

    /// As [`ordered`](Self::ordered), for order that a condition keeps, so that no stream need wait: the
    /// control is `wrong`, the program without the condition, and without waits.
    #[must_use]
    pub fn conditional(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program).control(name, move |driver| without_waits(wrong, driver))
    }

    fn right(self, name: &str, program: Program) -> Self {
        self.both(name, move |given| {
            let right = program(&platform(given.driver().clone())?)?;
            check(right, || "the data is wrong".into())
        })
    }

    /// Adds a control: `is_right` must find wrong data often enough.
    #[must_use]
    pub fn control(
        self,
        name: &str,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        let on_gpu = is_right.clone();
        self.plain(&format!("{name}_control::host"), move || {
            let mut shown = 0;
            for seed in 0..CONTROL_SEEDS {
                let driver = Arc::new(HostDriver::builder().seed(seed).build());
                shown += usize::from(!is_right(driver)?);
            }
            check(shown >= MUST_SHOW, || {
                format!(
                    "inconclusive: without the edge only {shown} of {CONTROL_SEEDS} seeds gave wrong \
                     data"
                )
            })
        })
        .cuda(&format!("{name}_control"), move |platform| {
            for _ in 0..CONTROL_TRIES {
                if !on_gpu(platform.driver().clone())? {
                    return Ok(());
                }
            }
            Err(Failed::new(format!(
                "inconclusive: without the edge the data was right {CONTROL_TRIES} times"
            )))
        })
    }
}

/// One freed block in flight: the next allocation of its size takes it, and must wait for it.
fn platform(driver: Arc<dyn Driver>) -> Result<Platform> {
    Platform::with_memory(driver, MemoryOptions { in_flight: 1, ..MemoryOptions::default() })
}

/// Whether a program's data is right, where no race checker ends the run before it is looked at. On a GPU
/// there may be one below already: then the races that it has found are what shows the missing edge.
fn by_data(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let memory = MemoryOptions { in_flight: 1, ..MemoryOptions::default() };
    let options = PlatformOptions { memory, race_check: Some(false) };
    let platform = Platform::with_options(driver, options)?;
    let right = match program(&platform) {
        Err(Error::Races(_)) => false,
        other => other?,
    };
    Ok(right & platform.take_races().is_empty())
}

/// Whether a program's data is right without any wait between streams.
fn without_waits(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let broken = Arc::new(DropWaits::all(driver));
    let right = by_data(program, broken.clone())?;
    check(broken.dropped() > 0, || "the program never waits: the control proves nothing".into())?;
    Ok(right)
}
