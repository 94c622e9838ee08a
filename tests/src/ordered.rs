//! Programs whose data is right only because one dependency orders their work, and their controls: the same programs
//! without the dependency.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::driver::{Driver, RawEvent, RawStream};
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;

use crate::layers::DropWaits;
use crate::{Failed, Suite, check};

/// A program. It returns whether its data was right.
pub type Program = fn(&Platform) -> Result<bool>;

/// Selects the waits of a stream for an event that a control drops.
pub type Drops = fn(RawStream, RawEvent) -> bool;

/// One freed block in flight: the next allocation of its size takes this block, and must wait for it.
pub const MEMORY: MemoryOptions = MemoryOptions::new().in_flight(1).small_in_flight(1);

/// The number of seeds of a control, and of the seeds that must give wrong data.
const CONTROL_SEEDS: u64 = 100;
const MUST_SHOW: usize = 30;

/// The number of runs of a control on a GPU. One of them must give wrong data.
const CONTROL_TRIES: usize = 5;

impl Suite {
    /// Adds a program for both platforms, and a control: the program without any wait between streams must give wrong
    /// data. A control that gives right data fails as inconclusive.
    #[must_use]
    pub fn ordered(self, name: &str, program: Program) -> Self {
        self.right(name, program).control(name, move |driver| without_waits(program, driver))
    }

    /// As [`ordered`](Self::ordered), for a program whose control may be inconclusive on a GPU while graphs are replayed: a
    /// tick that is one launch has other times, in which the work that nothing orders may still come in the right order.
    /// `why` says which work that is. The simulator and the control without replay show the missing wait.
    #[must_use]
    pub fn ordered_unless_replayed(self, name: &str, why: &'static str, program: Program) -> Self {
        let is_right = move |driver| without_waits(program, driver);
        self.right(name, program)
            .control_on_host(&format!("{name}_control"), 1, MUST_SHOW, is_right)
            .cuda_devices_or(&format!("{name}_control"), 1, move |platform| {
                match (inconclusive(platform, is_right)?, is_replayed()) {
                    (Some(text), false) => Err(Failed::msg(text)),
                    (Some(text), true) => Ok(Some(format!("{text}. With replay {why}"))),
                    (None, _) => Ok(None),
                }
            })
    }

    /// As [`ordered`](Self::ordered), for order that does not come from a stream's wait. The control is `wrong`, a
    /// program without that order.
    #[must_use]
    pub fn contrasted(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program).control(name, move |driver| by_data(wrong, driver))
    }

    /// As [`ordered`](Self::ordered), for order that comes from a condition, so that streams need not wait. The control
    /// is `wrong`, the program without the condition, and without waits.
    #[must_use]
    pub fn conditional(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program).control(name, move |driver| without_waits(wrong, driver))
    }

    fn right(self, name: &str, program: Program) -> Self {
        self.both(name, move |given| right(program, given))
    }

    /// Adds a control, `name_control`: `is_right` must return false for enough seeds.
    #[must_use]
    pub fn control(
        self,
        name: &str,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.control_on(&format!("{name}_control"), 1, MUST_SHOW, is_right)
    }

    /// As [`control`](Self::control), with a full name and on several devices. On the simulator, `must_show` of 100
    /// seeds must give wrong data.
    #[must_use]
    pub fn control_on(
        self,
        name: &str,
        devices: usize,
        must_show: usize,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        let on_gpu = is_right.clone();
        self.control_on_host(name, devices, must_show, is_right).cuda_devices(
            name,
            devices,
            move |platform| match inconclusive(platform, &on_gpu)? {
                Some(text) => Err(Failed::msg(text)),
                None => Ok(()),
            },
        )
    }

    fn control_on_host(
        self,
        name: &str,
        devices: usize,
        must_show: usize,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + 'static,
    ) -> Self {
        // Replay puts graphs that share memory in order by itself, so that fewer seeds show a missing wait.
        let must_show = if is_replayed() { must_show / 3 } else { must_show };
        self.plain(&format!("{name}::host"), move || {
            let mut shown = 0;
            for seed in 0..CONTROL_SEEDS {
                let driver = HostDriver::builder().devices(devices).seed(seed).build();
                shown += usize::from(!is_right(Arc::new(Replaying::new(driver)))?);
            }
            check(shown >= must_show, || {
                format!(
                    "inconclusive: without the dependency, only {shown} of {CONTROL_SEEDS} seeds gave wrong \
                     data"
                )
            })
        })
    }
}

/// Runs a control on a GPU. Returns what it has found if the data was always right.
fn inconclusive(
    platform: &Platform,
    is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed>,
) -> Result<Option<String>, Failed> {
    for _ in 0..CONTROL_TRIES {
        if !is_right(platform.driver().clone())? {
            return Ok(None);
        }
    }
    Ok(Some(format!(
        "inconclusive: without the dependency, the data was right {CONTROL_TRIES} times"
    )))
}

/// Whether the environment has each graph replayed.
fn is_replayed() -> bool {
    std::env::var("STREAMFLOW_REPLAY").is_ok_and(|value| value != "0")
}

/// A platform on any driver, with [`MEMORY`].
///
/// # Errors
/// Those of the platform.
pub fn platform(driver: Arc<dyn Driver>) -> Result<Platform, Error> {
    Platform::builder().memory(MEMORY).driver(driver)
}

/// Fails unless a program's data is right, with [`MEMORY`].
///
/// # Errors
/// Those of the program; wrong data.
pub fn right<E>(program: fn(&Platform) -> Result<bool, E>, on: &Platform) -> Result<(), Failed>
where
    Failed: From<E>,
{
    let right = program(&platform(on.driver().clone())?)?;
    check(right, || "the data is wrong".into())
}

/// Whether a program's data is right. This platform has no race checker, which could end the run before the data is
/// compared. The GPU's driver may have one already: then its races count as wrong data.
fn by_data(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let builder = Platform::builder().memory(MEMORY).race_check(false);
    let platform = builder.driver(driver)?;
    let right = match program(&platform) {
        Err(failure) if matches!(failure.downcast_ref(), Some(Error::Races(_))) => false,
        other => other?,
    };
    Ok(right & platform.take_races().is_empty())
}

/// Whether a program's data is right without some of the waits between streams.
///
/// # Errors
/// Those of the program; it has no such wait, so the control would prove nothing.
pub fn without(program: Program, driver: Arc<dyn Driver>, drops: Drops) -> Result<bool, Failed> {
    without_these(program, Arc::new(DropWaits::when(driver, drops)))
}

fn without_these(program: Program, broken: Arc<DropWaits>) -> Result<bool, Failed> {
    let right = by_data(program, broken.clone())?;
    check(broken.dropped() > 0, || "the program never waits: the control proves nothing".into())?;
    Ok(right)
}

/// As [`without`], without any wait between streams.
///
/// # Errors
/// Those of [`without`].
pub fn without_waits(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    without_these(program, Arc::new(DropWaits::all(driver)))
}
