//! Test programs whose data is right only because one dependency orders their work. Each has a control: the same program
//! without the dependency, which must give wrong data.

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

/// A program. It returns whether its data was right.
pub type Program = fn(&Platform) -> Result<bool>;

/// Selects the waits of a stream for an event that a control drops.
pub type Drops = fn(RawStream, RawEvent) -> bool;

/// Pool options that allow one freed block in flight: the next allocation of its size takes this block, and must wait for
/// it.
pub const MEMORY: MemoryOptions = MemoryOptions::new().in_flight(1).small_in_flight(1);

/// How many seeds a control is tried with. A second constant says how many of them must give wrong data.
const CONTROL_SEEDS: u64 = 100;
const MUST_SHOW: usize = 30;

impl Suite {
    /// Adds a program for simulator and GPU, and its control: the same program without any wait between streams must give
    /// wrong data.
    #[must_use]
    pub fn ordered(self, name: &str, program: Program) -> Self {
        self.right(name, program, move |driver| without_waits(program, driver))
    }

    /// Like [`ordered`](Self::ordered), for an order that does not come from a stream's wait. The control is `wrong`, a
    /// program without that order.
    #[must_use]
    pub fn contrasted(self, name: &str, program: Program, wrong: Program) -> Self {
        self.right(name, program, move |driver| by_data(wrong, driver))
    }

    /// Like [`ordered`](Self::ordered), for an order that comes from a condition, so that streams need not wait. The
    /// control is `wrong`, the program without the condition, run without waits.
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

    /// Adds a control named `name_control`: `is_right` must return false.
    #[must_use]
    pub fn control(
        self,
        name: &str,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        self.control_on(&format!("{name}_control"), 1, MUST_SHOW, is_right)
    }

    /// Like [`control`](Self::control), with the control's full name, and on several devices.
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

    /// Adds a control. Behind [`Gates`], `is_right` must return false and `whole` must return true, on simulator and GPU.
    /// On the simulator, `must_show` of 100 seeds must give wrong data as well.
    fn control_of(
        self,
        name: &str,
        (devices, must_show): (usize, usize),
        whole: Option<Program>,
        is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed> + Send + Clone + 'static,
    ) -> Self {
        // Fewer seeds are required with replay, which orders passes that share memory by itself, so that a missing wait
        // shows less often.
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

/// Checks that the data of a control is wrong behind [`Gates`]. If the control is a program without some of its order,
/// also checks that the data of the whole program is right there.
fn shows(
    driver: Arc<dyn Driver>,
    whole: Option<Program>,
    is_right: impl Fn(Arc<dyn Driver>) -> Result<bool, Failed>,
) -> Result<(), Failed> {
    let has_code = driver.observer().works_alone();
    let gates = Arc::new(Gates::new(driver)?);
    if has_code {
        // A first run without gates loads the code of CUDA and the libraries, since loading may wait for the device.
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

/// Makes a platform on any driver, with the memory options [`MEMORY`].
///
/// # Errors
/// Those of the platform.
pub fn platform(driver: Arc<dyn Driver>) -> Result<Platform, Error> {
    Platform::builder().memory(MEMORY).driver(driver)
}

/// Checks that a program's data is right with the memory options [`MEMORY`].
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

/// Returns whether a program's data is right. The platform has no race checker, since a checker could end the run before
/// the data is compared. The GPU's driver may have a race checker already: its races then count as wrong data.
fn by_data(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let builder = Platform::builder().memory(MEMORY).race_check(false);
    let platform = builder.driver(driver)?;
    let right = match program(&platform) {
        Err(failure) if matches!(failure.downcast_ref(), Some(Error::Races(_))) => false,
        other => other?,
    };
    Ok(right & platform.take_races().is_empty())
}

/// Returns whether a program's data is right without some of the waits between streams.
///
/// # Errors
/// Those of the program; no such wait was made, so the control would prove nothing.
pub fn without(program: Program, driver: Arc<dyn Driver>, drops: Drops) -> Result<bool, Failed> {
    without_these(program, Arc::new(DropWaits::when(driver, drops)))
}

fn without_these(program: Program, broken: Arc<DropWaits>) -> Result<bool, Failed> {
    let right = by_data(program, broken.clone())?;
    check(broken.dropped() > 0, || "the program never waits: the control proves nothing".into())?;
    Ok(right)
}

/// Like [`without`], without any wait between streams.
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

    /// A program in which a stream reads what another stream writes. `between` runs after the reader's work is queued.
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

    /// Returns the failure text of a control that gives right data.
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
        // This simulator executes work as it is queued, so a gate's host function runs while the gate is closed.
        let eager = Arc::new(HostDriver::builder().seed(0).policy(Policy::Eager).build());
        assert!(text(eager, None, control).starts_with("a gate has opened by itself"));
    }

    #[test]
    fn a_control_whose_gate_opens_before_the_read_fails() {
        // In this program the host waits for the writer, once the reader's work is queued.
        let early: Program = |platform| reads(platform, |on| Ok(on.synchronize_blocking()?));
        let found = text(lazy(), Some(whole), |driver| {
            // The simulator is lazy: the reader executes after the writer, so the data is right without waits.
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
            // Races are discarded late, as when another thread destroys a plan.
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
