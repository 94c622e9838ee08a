//! Runs one test body on the host simulator and on a GPU.
//!
//! A body runs on the simulator under several seeds, as one test `suite::name::host`, and on a GPU as
//! `suite::name::cuda`. Without a GPU, the second test is reported as ignored, with the reason, and never as passed. On
//! the simulator the race checker always runs. On a GPU it runs in debug builds, or with `STREAMFLOW_RACE_CHECK=1`. A
//! body with a race fails.
//!
//! - `STREAMFLOW_TEST_SEEDS=n` runs bodies under the seeds `0..n`. Without the variable, bodies have 8 seeds. In the fast
//!   tier those with much data have 2. Those of values have 2 in each tier.
//! - `STREAMFLOW_TEST_SEED=n` runs bodies under this one seed, to replay a failure.
//! - `STREAMFLOW_REQUIRE_CUDA=1` makes a missing GPU a failure. `STREAMFLOW_REQUIRE_GPUS=1` makes it a failure if a test
//!   of several devices has too few GPUs.

use std::any::Any;
use std::env;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use libtest_mimic::{Arguments, Completion, Trial};
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;

use crate::checks::{Failed, check_races};
use crate::child;
use crate::forms::Form;
use crate::layers::WorksAlone;
use crate::layers::gates::spread_streams;
use crate::seeds;
use crate::tier::Tier;

/// The environment variable that makes it a failure if a test of several devices has too few GPUs.
const REQUIRE_GPUS: &str = "STREAMFLOW_REQUIRE_GPUS";

/// Makes a simulator that executes work as soon as it is queued. A host thread that waits for the work sleeps, as it does
/// for a GPU.
///
/// # Errors
/// The driver's.
fn working_alone(devices: usize) -> Result<Platform, Failed> {
    let host = Arc::new(HostDriver::builder().devices(devices).build());
    let driver = Arc::new(Replaying::over(Arc::new(WorksAlone(host))));
    Ok(Platform::builder().race_check(false).driver(driver)?)
}

/// A test body that runs on a platform.
pub trait Body: Fn(&Platform) -> Result<(), Failed> + Send + 'static {}

impl<F: Fn(&Platform) -> Result<(), Failed> + Send + 'static> Body for F {}

type Tests = fn() -> Suite;
type Child = fn(&str) -> Result<(), Failed>;

/// The suites of one test binary. A test's full name has the suite, its name and the platform: `suite::name::host`.
#[derive(Debug, Default)]
pub struct Binary {
    suites: Vec<(&'static str, Tests)>,
    children: Vec<(&'static str, Child)>,
    /// How many threads run tests in addition to one thread per core.
    waiting: usize,
}

impl Binary {
    /// Creates a binary without suites.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a suite.
    #[must_use]
    pub fn suite(mut self, name: &'static str, suite: Tests) -> Self {
        self.suites.push((name, suite));
        self
    }

    /// Sets the function that plays the roles of a suite in [`child`] processes.
    #[must_use]
    pub fn children(mut self, suite: &'static str, play: Child) -> Self {
        self.children.push((suite, play));
        self
    }

    /// Runs tests on this many threads in addition to one per core. For suites with tests that sleep for seconds without
    /// using a core.
    #[must_use]
    pub fn waiting(mut self, threads: usize) -> Self {
        self.waiting = threads;
        self
    }

    /// Runs the tests that the command line selects, like any test binary.
    pub fn run(self) -> ExitCode {
        let mut arguments = Arguments::from_args();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        arguments.test_threads.get_or_insert(cores + self.waiting);
        self.run_with(&arguments)
    }

    /// Like [`run`](Self::run), one test at a time: for tests that count calls or memory of the whole process.
    pub fn run_one_at_a_time(self) -> ExitCode {
        self.run_with(&Arguments { test_threads: Some(1), ..Arguments::from_args() })
    }

    fn run_with(self, arguments: &Arguments) -> ExitCode {
        if let Some((suite, role)) = child::role() {
            let play = self.children.iter().find(|(name, _)| *name == suite);
            let missing = || Err(Failed::msg(format!("no children of {suite}")));
            return child::play(|| play.map_or_else(missing, |(_, play)| play(&role)));
        }
        spread_streams();
        let trials = self.suites.into_iter().flat_map(|(name, suite)| suite().trials(name));
        libtest_mimic::run(arguments, trials.collect()).exit_code()
    }
}

type Runner = Box<dyn FnOnce() -> Result<Completion, libtest_mimic::Failed> + Send>;

/// A suite: the tests of one subject.
#[derive(Default)]
pub struct Suite {
    tests: Vec<(String, Runner)>,
    /// The forms in which the tests added next do not run, each with the reason.
    exceptions: Vec<(Form, &'static str)>,
    /// Whether the tests added next have much data.
    is_large: bool,
    /// Whether no order decides about the tests added next.
    is_of_values: bool,
    /// What the tests added next need on a GPU, if anything.
    needed: Option<Needed>,
}

/// The environment variable that makes it a failure if a needed thing is missing, and the function that returns why a
/// platform lacks it.
type Needed = (&'static str, fn(&Platform) -> Option<String>);

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Suite {
    /// Creates a suite without tests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds tests that show nothing in a form. In that form each of them is reported as ignored, with the reason.
    #[must_use]
    pub fn except(
        mut self,
        form: Form,
        reason: &'static str,
        add: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.exceptions.push((form, reason));
        let mut suite = add(self);
        suite.exceptions.pop();
        suite
    }

    /// Adds tests with so much data that one seed takes seconds. In the fast [`Tier`] each of them runs under the first
    /// two seeds only.
    #[must_use]
    pub fn large(mut self, add: impl FnOnce(Self) -> Self) -> Self {
        self.is_large = true;
        let suite = add(self);
        Self { is_large: false, ..suite }
    }

    /// Adds tests of values. Each test queues its work on one stream, so the order of that work can't decide whether the
    /// test passes. In each tier they run under every fifth seed only: 0 executes work at once, and 5 at random, in memory
    /// that is split.
    #[must_use]
    pub fn values(mut self, add: impl FnOnce(Self) -> Self) -> Self {
        self.is_of_values = true;
        let suite = add(self);
        Self { is_of_values: false, ..suite }
    }

    /// Adds tests that need something which a machine with a GPU may lack. On such a machine each of them is reported as
    /// ignored, with the reason that `missing` returns, or as failed if the environment variable `require` is 1.
    #[must_use]
    pub fn unless_on_cuda(
        mut self,
        require: &'static str,
        missing: fn(&Platform) -> Option<String>,
        add: impl FnOnce(Self) -> Self,
    ) -> Self {
        let before = self.needed.replace((require, missing));
        let suite = add(self);
        Self { needed: before, ..suite }
    }

    /// Adds a test. If the current form excludes the test, it is reported as ignored.
    fn add(
        &mut self,
        name: String,
        runner: impl FnOnce() -> Result<Completion, libtest_mimic::Failed> + Send + 'static,
    ) {
        let exceptions = self.exceptions.clone();
        let runner = move || {
            let excluded = exceptions.iter().find_map(|(form, reason)| form.excludes(reason));
            // The variable's name is empty, so nothing makes this a failure: in this form the test can't run on any
            // machine.
            excluded.map_or_else(runner, |reason| skip("", &reason))
        };
        self.tests.push((name, Box::new(runner)));
    }

    /// Adds a body that runs on the simulator and on a GPU.
    #[must_use]
    pub fn both(self, name: &str, body: impl Body + Clone) -> Self {
        self.devices(name, 1, body)
    }

    /// Adds a body that runs only on the host simulator. The body gets a new platform for each seed.
    #[must_use]
    pub fn host(self, name: &str, body: impl Body) -> Self {
        self.host_devices(name, 1, body)
    }

    /// Adds a body that needs several devices, and runs on the simulator and on GPUs. On a machine with fewer GPUs, the
    /// GPU test is reported as ignored, with the reason.
    #[must_use]
    pub fn devices(self, name: &str, count: usize, body: impl Body + Clone) -> Self {
        self.host_devices(name, count, body.clone()).cuda_devices(name, count, body)
    }

    fn host_devices(self, name: &str, count: usize, body: impl Body) -> Self {
        self.seeded(name, move |seed| {
            // The body runs with the race checker, and without it, as most programs run.
            for check in [true, false] {
                let platform =
                    Platform::host().seed(seed).devices(count).race_check(check).build()?;
                body(&platform)?;
                check_races(&platform)?;
            }
            // This simulator executes on threads of the operating system, whose order no seed repeats. So one run is
            // enough.
            if seed == 0 { body(&working_alone(count)?) } else { Ok(()) }
        })
    }

    /// Adds a body that runs only on a GPU.
    #[must_use]
    pub fn cuda(self, name: &str, body: impl Body) -> Self {
        self.cuda_devices(name, 1, body)
    }

    /// Adds a body that runs only on several GPUs.
    #[must_use]
    pub fn cuda_devices(mut self, name: &str, count: usize, body: impl Body) -> Self {
        let needed = self.needed;
        let runner = move || match Platform::cuda() {
            Ok(platform) if platform.device_count() < count => {
                let found = platform.device_count();
                skip(REQUIRE_GPUS, &format!("it needs {count} GPUs, and there is {found}"))
            }
            Ok(platform) => on_platform(&platform, needed, body),
            Err(missing) => skip("STREAMFLOW_REQUIRE_CUDA", &missing),
        };
        self.add(format!("{name}::cuda"), runner);
        self
    }

    /// Adds a body that makes its own host platform from the seed, for example with a wrapped driver.
    #[must_use]
    pub fn seeded(
        mut self,
        name: &str,
        body: impl Fn(u64) -> Result<(), Failed> + Send + 'static,
    ) -> Self {
        let name = format!("{name}::host");
        let (label, is_large) = (name.clone(), self.is_large);
        let step = if self.is_of_values { 5 } else { 1 };
        let runner = move || {
            let tier = if is_large { Tier::from_env().map_err(mimic)? } else { Tier::Full };
            let default = if tier == Tier::Full { seeds::DEFAULT } else { 2 };
            let seeds = seeds::from_env(default)?.step_by(step);
            under_seeds(&label, seeds, &body).map_err(mimic)?;
            Ok(Completion::Completed)
        };
        self.add(name, runner);
        self
    }

    /// Adds a test that needs no platform.
    #[must_use]
    pub fn plain(
        self,
        name: &str,
        body: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Self {
        // The variable's name is empty: the test always runs, so nothing need be required.
        self.optional(name, "", || body().map(|()| None))
    }

    /// Adds a test that needs no platform. If the test can't run, it returns `Ok(Some(reason))`, and is reported as
    /// ignored, or as failed if the environment variable `require` is 1.
    #[must_use]
    pub fn optional(
        mut self,
        name: &str,
        require: &'static str,
        body: impl FnOnce() -> Result<Option<String>, Failed> + Send + 'static,
    ) -> Self {
        let runner = move || match catch(body).map_err(mimic)? {
            None => Ok(Completion::Completed),
            Some(reason) => skip(require, &reason),
        };
        self.add(name.to_owned(), runner);
        self
    }

    /// Returns the names of the tests added so far, each with its platform: `name::host`.
    pub fn names(&self) -> Vec<String> {
        self.tests.iter().map(|(name, _)| name.clone()).collect()
    }

    fn trials(self, suite: &'static str) -> impl Iterator<Item = Trial> {
        let tests = self.tests.into_iter();
        tests.map(move |(name, runner)| Trial::ignorable_test(format!("{suite}::{name}"), runner))
    }
}

/// Runs a body on a platform, or reports the test as ignored if the platform lacks what the body needs.
fn on_platform(
    platform: &Platform,
    needed: Option<Needed>,
    body: impl Body,
) -> Result<Completion, libtest_mimic::Failed> {
    if let Some((require, missing)) = needed
        && let Some(reason) = catch(|| Ok(missing(platform))).map_err(mimic)?
    {
        return skip(require, &reason);
    }
    catch(|| {
        body(platform)?;
        check_races(platform)
    })
    .map_err(mimic)?;
    Ok(Completion::Completed)
}

/// Reports a test as ignored, or as failed if the variable `require` is 1.
fn skip(require: &str, reason: &dyn Display) -> Result<Completion, libtest_mimic::Failed> {
    if env::var_os(require).is_some_and(|value| value == "1") {
        return Err(format!("{require}=1, but: {reason}").into());
    }
    Ok(Completion::ignored_with(format!("skipped: {reason}")))
}

fn under_seeds(
    name: &str,
    seeds: impl Iterator<Item = u64>,
    body: impl Fn(u64) -> Result<(), Failed>,
) -> Result<(), Failed> {
    for seed in seeds {
        catch(|| body(seed)).map_err(|failed| {
            let replay = format!("{}={seed}", seeds::ONE);
            let failed = with_causes(&failed);
            Failed::msg(format!("seed {seed}: {failed}\nreplay with: {replay} and `{name}`"))
        })?;
    }
    Ok(())
}

/// Calls the body, and converts a panic into an error, so that the caller can add the seed to the message.
fn catch<T>(body: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(Failed::msg(panic_text(&*panic))))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("with a value that is not text"))
}

/// Returns the text of a failure. Adds the text of each cause that the failure's own text does not contain.
fn with_causes(failed: &Failed) -> String {
    let mut text = failed.to_string();
    let mut cause = failed.source();
    while let Some(error) = cause {
        let error_text = error.to_string();
        if !text.contains(&error_text) {
            text.push_str(": ");
            text.push_str(&error_text);
        }
        cause = error.source();
    }
    text
}

fn mimic(failed: Failed) -> libtest_mimic::Failed {
    with_causes(&failed).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "panics are what is tested")]

    use super::*;
    use crate::checks::{check, check_close};

    #[test]
    fn the_failure_names_its_seed() {
        let body = |seed| check(seed != 5, || "wrong data".into());
        let text = under_seeds("order::host", 0..8, body).map_err(|f| f.to_string());
        let Err(text) = text else { panic!("seed 5 passed") };
        assert!(text.starts_with("seed 5: wrong data\n"), "{text}");
        assert!(text.contains("STREAMFLOW_TEST_SEED=5"), "{text}");
        assert!(text.contains("order::host"), "{text}");
    }

    #[test]
    fn a_panic_is_reported_with_its_seed() {
        let body = |seed| if seed == 2 { panic!("at {seed}") } else { Ok(()) };
        let text = under_seeds("x", 0..4, body).map_err(|f| f.to_string());
        assert_eq!(
            text,
            Err("seed 2: panicked: at 2\nreplay with: STREAMFLOW_TEST_SEED=2 and `x`".into())
        );
    }

    #[test]
    fn a_body_that_lacks_what_it_needs_is_ignored_with_the_reason() {
        let platform = Platform::host().build().unwrap_or_else(|error| panic!("{error}"));
        let run = |needed| on_platform(&platform, needed, |_| Err(Failed::msg("it runs")));
        let missing = run(Some(("", |_: &Platform| Some("no library".to_owned()))));
        let Ok(Completion::Ignored { reason }) = missing else { panic!("it is not ignored") };
        assert_eq!(reason.as_deref(), Some("skipped: no library"));
        assert!(run(Some(("", |_: &Platform| None))).is_err(), "nothing is missing");
        assert!(run(None).is_err(), "nothing is needed");
    }

    #[test]
    fn every_seed_runs() {
        let ran = std::cell::Cell::new(0);
        let body = |_| {
            ran.set(ran.get() + 1);
            Ok(())
        };
        assert!(under_seeds("x", 0..8, body).is_ok());
        assert_eq!(ran.get(), 8);
    }

    #[test]
    fn a_nan_is_never_close() {
        assert!(check_close(&[1.0, 2.0], &[1.0, 2.1], |_| 0.2).is_ok());
        assert!(check_close(&[1.0, 2.0], &[1.0, 2.1], |_| 0.05).is_err());
        assert!(check_close(&[f32::NAN], &[1.0], |_| f64::INFINITY).is_err());
        assert!(check_close(&[1.0], &[], |_| 1.0).is_err());
    }
}
