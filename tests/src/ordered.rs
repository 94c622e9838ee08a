//! Programs with data that is right only because one dependency orders their work, and their controls: the same
//! programs without the dependency.

use std::sync::Arc;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::driver::replay::Replaying;
use streamflow::driver::{Driver, RawStream};
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow_driver::driver::RawEvent;

use crate::forms::Form;
use crate::layers::gates::Ended;
use crate::layers::{DropWaits, Gates};
use crate::{Failed, Suite, check};

/// A program. Returns whether its data was right.
pub type Program = fn(&Platform) -> Result<bool>;

/// Selects the waits of a stream for an event that a control drops.
pub type Drops = fn(RawStream, RawEvent) -> bool;

/// Options for one freed block in flight: the next allocation of its size takes this block, and must wait for it.
pub const MEMORY: MemoryOptions = MemoryOptions::new().in_flight(1).small_in_flight(1);

/// The number of seeds of a control, and of the seeds that must give wrong data.
const CONTROL_SEEDS: u64 = 100;
const MUST_SHOW: usize = 30;

impl Suite {
    /// Adds a program for both platforms, and a control: the program without any wait between streams must give wrong
    /// data.
    #[must_use]
    pub fn ordered(self, name: &str, program: Program) -> Self {
        self.right(name, program, move |driver| without_waits(program, driver))
    }

    /// As [`ordered`](Self::ordered), for order that does not come from a stream's wait. The control is `wrong`, a
    /// program without that order.
    #[must_use]
    pub fn contrasted(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program, move |driver| by_data(wrong, driver))
    }

    /// As [`ordered`](Self::ordered), for order that comes from a condition, so that streams need not wait. The control
    /// is `wrong`, the program without the condition, and without waits.
    #[must_use]
    pub fn conditional(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program, move |driver| without_waits(wrong, driver))
    }

    fn right(
        self,
        name: &str,
        program: Program,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.both(name, move |given| right(program, given)).control_of(
            &format!("{name}_control"),
            (1, MUST_SHOW),
            Some(program),
            is_right,
        )
    }

    /// Adds a control, `name_control`: `is_right` must return false.
    #[must_use]
    pub fn control(
        self,
        name: &str,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.control_on(&format!("{name}_control"), 1, MUST_SHOW, is_right)
    }

    /// As [`control`](Self::control), with a full name and on several devices.
    #[must_use]
    pub fn control_on(
        self,
        name: &str,
        devices: usize,
        must_show: usize,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.control_of(name, (devices, must_show), None, is_right)
    }

    /// Adds a control. On both platforms `is_right` must return false behind [`Gates`], and `whole` true. On the simulator
    /// `must_show` of 100 seeds must give wrong data, too.
    fn control_of(
        self,
        name: &str,
        (devices, must_show): (usize, usize),
        whole: Option<Program>,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        // Replay puts graphs that share memory in order by itself, so that fewer seeds show a missing wait.
        let must_show = if Form::Replayed.is_set() { must_show / 3 } else { must_show };
        let on_gpu = is_right.clone();
        self.plain(&format!("{name}::host"), move || {
            let host = || HostDriver::builder().devices(devices);
            let lazy = host().seed(1).policy(Policy::Lazy).build();
            shows(Arc::new(Replaying::new(lazy)), whole, &is_right)?;
            let mut shown = 0;
            for seed in 0..CONTROL_SEEDS {
                let driver = host().seed(seed).build();
                shown += usize::from(!is_right(Arc::new(Replaying::new(driver)))?);
            }
            check(shown >= must_show, || {
                format!(
                    "without the dependency, only {shown} of {CONTROL_SEEDS} seeds gave wrong data"
                )
            })
        })
        .cuda_devices(name, devices, move |platform| {
            shows(platform.driver().clone(), whole, &on_gpu)
        })
    }
}

/// Fails unless the data of a control is wrong behind [`Gates`], and, if the control is a program without some of its order,
/// the data of the whole program is right there.
fn shows(
    driver: Arc<dyn Driver>,
    whole: Option<Program>,
    is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed>,
) -> Result<(), Failed> {
    let has_code = driver.observer().works_alone();
    let gates = Arc::new(Gates::new(driver)?);
    if has_code {
        // CUDA and the libraries load code, and may wait for the device meanwhile.
        let _unheld = gates.before(&is_right)?.with?;
    }
    let behind = |is_right: &dyn Fn(Arc<dyn Driver>) -> Result<bool, Failed>| {
        let Ended { with, by_itself, waited, is_over } = gates.behind(is_right)?;
        check(!by_itself, || {
            "a gate has opened by itself: the host has waited for work behind it in a way that `Gates` does not see"
                .into()
        })?;
        let right = with?;
        check(is_over, || "a run has ended, and something of it still has its driver".into())?;
        Ok::<_, Failed>((right, waited))
    };
    if let Some(whole) = whole {
        let (right, _) = behind(&|driver| by_data(whole, driver))?;
        check(right, || "behind gates, the data is wrong with the dependency, too".into())?;
    }
    let (right, waited) = behind(&is_right)?;
    check(!right, || {
        let why = waited.map(|how| format!("; all gates have opened, since {how}"));
        format!("behind gates, the data is right without the dependency{}", why.unwrap_or_default())
    })
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

/// Whether a program's data is right. This platform has no race checker, since a checker could end the run before the
/// data is compared. The GPU's driver may have one already: then its races count as wrong data.
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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::foreign;
    use crate::kernels::{fill, slow_copy};

    fn lazy() -> Arc<dyn Driver> {
        Arc::new(HostDriver::builder().seed(1).policy(Policy::Lazy).build())
    }

    /// A stream reads what another one writes. `between` runs after the reader's work is queued.
    fn reads(platform: &Platform, between: impl FnOnce(&CudaStream) -> Result<()>) -> Result<bool> {
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
        let (writer, reader) = (pool.allocate("writer")?, pool.allocate("reader")?);
        let mut data = platform.buffer::<f32>(3, &writer)?;
        let mut copy = platform.buffer::<f32>(3, &reader)?;
        writer.launch::<fill>(3, (&mut data, 7.0))?;
        reader.launch::<slow_copy>(3, (&mut copy, &data, 0))?;
        between(&writer)?;
        Ok(reader.download_blocking(&copy)? == [7.0; 3])
    }

    fn whole(platform: &Platform) -> Result<bool> {
        reads(platform, |_| Ok(()))
    }

    /// The text of a control that shows nothing.
    fn text(
        driver: Arc<dyn Driver>,
        whole: Option<Program>,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed>,
    ) -> String {
        shows(driver, whole, is_right).map_or_else(|failed| failed.to_string(), |()| String::new())
    }

    #[test]
    fn a_missing_wait_shows_behind_gates() {
        let control = |driver| without_waits(whole, driver);
        assert_eq!(text(lazy(), Some(whole), control), "");
        // The simulator executes at once here: the gates alone hold nothing back.
        let eager = Arc::new(HostDriver::builder().seed(0).policy(Policy::Eager).build());
        assert!(text(eager, None, control).starts_with("a gate has opened by itself"));
    }

    #[test]
    fn a_control_whose_gate_opens_before_the_read_fails() {
        // The host waits for the writer.
        let early: Program = |platform| reads(platform, |on| Ok(on.synchronize_blocking()?));
        let found = text(lazy(), Some(whole), |driver| {
            // The reader executes after it: it is lazy, too.
            without_waits(early, driver)
        });
        assert_eq!(found, "behind gates, the data is right without the dependency");
    }

    #[test]
    fn races_of_a_control_are_none_of_its_test() {
        let platform = Platform::builder().race_check(true).driver(lazy());
        let Ok(platform) = platform else { unreachable!("the simulator needs nothing") };
        let checked = platform.driver().clone();
        let found = text(checked.clone(), Some(whole), |driver| {
            let broken = Arc::new(DropWaits::all(driver));
            let right = by_data(whole, broken.clone());
            // As when another thread destroys a plan: the races are discarded late.
            thread::spawn(move || {
                (0..1000).for_each(|_| thread::yield_now());
                drop(broken);
            });
            right
        });
        assert_eq!(found, "");
        assert!(checked.observer().take_races().is_empty());
    }

    #[test]
    fn a_program_that_is_wrong_with_its_waits_fails_its_control() {
        let wrong: Program = |platform| Ok(!whole(platform)?);
        let found = text(lazy(), Some(wrong), |driver| without_waits(whole, driver));
        assert_eq!(found, "behind gates, the data is wrong with the dependency, too");
    }

    #[test]
    fn a_wait_beside_the_gates_is_reported() {
        let below = lazy();
        let beside = below.clone();
        let found = text(below, None, move |driver| {
            let platform = platform(driver)?;
            reads(&platform, |writer| Ok(foreign::synchronize_stream(&*beside, writer.raw())?))
        });
        assert!(found.starts_with("a gate has opened by itself"), "{found}");
    }
}
