//! Programs that are right for the sake of one edge, and their controls.

use std::sync::Arc;

use streamflow::MemoryOptions;
use streamflow::driver::host::HostDriver;
use streamflow::driver::{Driver, RawEvent, RawStream};
use streamflow::prelude::*;

use crate::layers::DropWaits;
use crate::{Failed, Suite, check};

/// Whether its data was right.
pub type Program = fn(&Platform) -> Result<bool>;

/// Which waits of a stream for an event are taken away.
pub type Drops = fn(RawStream, RawEvent) -> bool;

/// One freed block in flight: the next allocation of its size takes it, and must wait for it.
pub const MEMORY: MemoryOptions =
    MemoryOptions { in_flight: 1, small_in_flight: 1, release_threshold: u64::MAX };

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
        self.both(name, move |given| right(program, given))
    }

    /// Adds a control, `name_control`: `is_right` must find wrong data often enough.
    #[must_use]
    pub fn control(
        self,
        name: &str,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.control_on(&format!("{name}_control"), 1, MUST_SHOW, is_right)
    }

    /// As [`control`](Self::control), under a full name of its own, on several devices: on the simulator
    /// `must_show` of 100 seeds must find wrong data.
    #[must_use]
    pub fn control_on(
        self,
        name: &str,
        devices: usize,
        must_show: usize,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        let on_gpu = is_right.clone();
        self.plain(&format!("{name}::host"), move || {
            let mut shown = 0;
            for seed in 0..CONTROL_SEEDS {
                let driver = HostDriver::builder().devices(devices).seed(seed).build();
                shown += usize::from(!is_right(Arc::new(driver))?);
            }
            check(shown >= must_show, || {
                format!(
                    "inconclusive: without the edge only {shown} of {CONTROL_SEEDS} seeds gave wrong \
                     data"
                )
            })
        })
        .cuda_devices(name, devices, move |platform| {
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

/// A platform on any driver, with [`MEMORY`].
///
/// # Errors
/// The platform's.
pub fn platform(driver: Arc<dyn Driver>) -> Result<Platform> {
    Platform::with_memory(driver, MEMORY)
}

/// Fails unless a program's data is right, with [`MEMORY`].
///
/// # Errors
/// The program's, and wrong data.
pub fn right<E>(program: fn(&Platform) -> Result<bool, E>, on: &Platform) -> Result<(), Failed>
where
    Failed: From<E>,
{
    let right = program(&platform(on.driver().clone())?)?;
    check(right, || "the data is wrong".into())
}

/// Whether a program's data is right, where no race checker ends the run before it is looked at. On a GPU
/// there may be one below already: then the races that it has found are what shows the missing edge.
fn by_data(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let options = PlatformOptions { memory: MEMORY, race_check: Some(false) };
    let platform = Platform::with_options(driver, options)?;
    let right = match program(&platform) {
        Err(Error::Races(_)) => false,
        other => other?,
    };
    Ok(right & platform.take_races().is_empty())
}

/// Whether a program's data is right without some of the waits between streams.
///
/// # Errors
/// The program's, and that it has no such wait, so that it would prove nothing.
pub fn without(program: Program, driver: Arc<dyn Driver>, drops: Drops) -> Result<bool, Failed> {
    let broken = Arc::new(DropWaits::when(driver, drops));
    let right = by_data(program, broken.clone())?;
    check(broken.dropped() > 0, || "the program never waits: the control proves nothing".into())?;
    Ok(right)
}

/// As [`without`], without any wait between streams.
///
/// # Errors
/// As there.
pub fn without_waits(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    without(program, driver, |_, _| true)
}
