//! Running a test under many orders of execution, or all.

use std::env;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::choices::{Choices, Replay};
use super::search::{Search, Shared};
use super::switches::Switches;
use super::variables;
use crate::driver::host::{Chooser, HostDriver};
use crate::driver::replay::Replaying;
use crate::error::{Error, Exploration, Failing, Failure, Limit, Result, Stopped, caught_as_error};
use crate::platform::{Platform, PlatformBuilder, RACE_CHECK};
use crate::time::Clock;
use crate::turns::{Pct, Turns};

/// How many seeds are tried if neither the test nor the environment sets their number.
const SEEDS: u64 = 64;

/// How many states are stored by default. Each takes some 100 bytes.
const STATES: usize = 1_000_000;

/// How many preemptions an exhaustive exploration tries in a run. A preemption is a switch away from a thread that could go on.
/// Most faults of several threads need no more than 2 (Musuvathi, Qadeer: *Iterative context bounding*, PLDI 2007), and each
/// additional preemption multiplies the number of orders.
const PREEMPTIONS: u32 = 2;

/// Runs a test under 64 seeds of the simulator, each with the race checker and without it, as [`Explorer::run`] does. Returns an
/// error if a seed fails.
///
/// The test must use the platform that it is given: a test that uses another platform fails, since the orders of its work would
/// not be explored. A race fails the test as well, with or without a graph, unless the test has taken the race by
/// [`Platform::take_races`].
///
/// # Errors
/// [`Error::Explored`] with the smallest seed that fails; [`Error::Variable`].
pub fn explore(test: impl FnMut(&Platform) -> Result<(), Failure>) -> Result<()> {
    Explorer::new().run(test)?.check()
}

/// Runs a test in many of the orders of execution that CUDA permits, or in all of them.
#[derive(Debug, Clone)]
#[must_use = "call `run` or `run_exhaustively`"]
pub struct Explorer {
    devices: usize,
    race_check: Option<bool>,
    first_seed: u64,
    seeds: Option<u64>,
    max_states: usize,
    max_runs: u64,
    max_time: Duration,
}

impl Default for Explorer {
    fn default() -> Self {
        Self::new()
    }
}

impl Explorer {
    /// Creates an explorer with one device, the seeds 0 to 63, and room for a million states.
    pub const fn new() -> Self {
        Self {
            devices: 1,
            race_check: None,
            first_seed: 0,
            seeds: None,
            max_states: STATES,
            max_runs: u64::MAX,
            max_time: Duration::MAX,
        }
    }

    /// Sets how many devices the test's platform has, from 1 to 64. The default is 1.
    pub const fn devices(mut self, devices: usize) -> Self {
        self.devices = devices;
        self
    }

    /// Sets whether the [race checker](crate::driver::race) runs. With the checker, a test with a race fails, even if its data is
    /// right, unless the test has taken the race by [`Platform::take_races`].
    ///
    /// By default each seed runs twice, in release builds as well: with the checker, and without it, as most programs run. An
    /// exhaustive exploration, too, first visits every state with the checker and then every state without it. This method, or
    /// the variable `STREAMFLOW_RACE_CHECK` with 1 or 0, leaves only one of the two.
    pub const fn race_check(mut self, check: bool) -> Self {
        self.race_check = Some(check);
        self
    }

    /// Sets how many seeds to try, at least 1. The default is the number in `STREAMFLOW_TEST_SEEDS`, or 64 without it.
    pub const fn seeds(mut self, seeds: u64) -> Self {
        self.seeds = Some(seeds);
        self
    }

    /// Sets the first seed to try. The other seeds are the numbers after it.
    pub const fn first_seed(mut self, seed: u64) -> Self {
        self.first_seed = seed;
        self
    }

    /// Sets how many states an exhaustive exploration may store.
    pub const fn max_states(mut self, states: usize) -> Self {
        self.max_states = states;
        self
    }

    /// Sets how often an exhaustive exploration may run the test. Runs with and without the race checker count together.
    pub const fn max_runs(mut self, runs: u64) -> Self {
        self.max_runs = runs;
        self
    }

    /// Sets for how long an exhaustive exploration may begin new runs.
    pub const fn max_time(mut self, time: Duration) -> Self {
        self.max_time = time;
        self
    }

    /// Runs the test under one seed after the other until a seed fails. Each seed runs first with the race checker and then
    /// without it, each time on a new platform. With `STREAMFLOW_TEST_SEED=n` the test runs under that seed alone.
    ///
    /// A test fails by an error or by a panic, and by leftovers at its end: queued work that fails when it is executed, and races
    /// that the test has not taken. A test that makes a platform of its own, or does not use the platform that it is given, fails
    /// with [`Error::Unexplored`].
    ///
    /// # Errors
    /// [`Error::Variable`] if an environment variable is no number; [`Error::NoSeeds`] for 0 seeds. A failure of the
    /// test is no error here, but a value: [`Exploration::failing`].
    pub fn run(
        &self,
        mut test: impl FnMut(&Platform) -> Result<(), Failure>,
    ) -> Result<Exploration> {
        let (first, count) = match variables::seed()? {
            Some(seed) => (seed, 1),
            None => (self.first_seed, self.count()?),
        };
        let mut found = Exploration::default();
        let seeds = (first..=u64::MAX).take(usize::try_from(count).unwrap_or(usize::MAX));
        let checks = self.checks();
        for (seed, check) in seeds.flat_map(|seed| checks.iter().map(move |check| (seed, check))) {
            found.runs += 1;
            let turns = Turns::new(Box::new(Pct::new(seed)));
            let driver = HostDriver::builder().devices(self.devices).seed(seed);
            let driver = driver.turns(turns.clone()).build();
            let done = taking_turns(&turns, || {
                let platform = platform_builder(*check).driver(Arc::new(Replaying::new(driver)))?;
                judged(&turns, &platform, &mut test, || ())
            });
            if let Err(cause) = done {
                let replay = format!("{}={seed}", variables::SEED);
                found.failing = Some(Failing { seed: Some(seed), replay, cause });
                break;
            }
        }
        Ok(found)
    }

    fn count(&self) -> Result<u64> {
        match self.seeds {
            Some(0) => Err(Error::NoSeeds),
            Some(seeds) => Ok(seeds),
            None => Ok(variables::seeds()?.map_or(SEEDS, NonZero::get)),
        }
    }

    /// Runs the test until every state was visited, with the race checker and then without it, until a run fails, or until a
    /// limit is reached. With `STREAMFLOW_TEST_SCHEDULE=…` only the run that the variable describes is repeated.
    ///
    /// # Errors
    /// [`Error::Variable`] if the variable can't be read, or does not fit this test. A failure of the test is no error
    /// here, but a value: [`Exploration::failing`].
    pub fn run_exhaustively(
        &self,
        mut test: impl FnMut(&Platform) -> Result<(), Failure>,
    ) -> Result<Exploration> {
        if let Some(choices) = variables::schedule()? {
            return self.replay(&choices, test);
        }
        let begun = Instant::now();
        let mut found = Exploration::default();
        for check in self.checks() {
            self.search(*check, begun, &mut found, &mut test);
            if found.failing.is_some() || found.stopped.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// Runs the test until every state was visited, until a run fails, or until a limit is reached.
    fn search(
        &self,
        check: Option<bool>,
        begun: Instant,
        found: &mut Exploration,
        test: &mut impl FnMut(&Platform) -> Result<(), Failure>,
    ) {
        let search = Shared::new(Search::new(self.max_states));
        let mut limit = None;
        while limit.is_none() && found.failing.is_none() && search.lock().is_open() {
            if found.runs >= self.max_runs {
                limit = Some(Limit::Runs);
                break;
            }
            if begun.elapsed() >= self.max_time {
                limit = Some(Limit::Time);
                break;
            }
            found.runs += 1;
            search.lock().begin();
            let (done, threads) = self.run_chosen(check, search.clone(), &mut *test);
            if threads > 1 {
                found.preemptions = Some(PREEMPTIONS);
            }
            let search = search.lock();
            if let Err(cause) = done {
                found.failing = Some(failing(&Choices::new(search.choices()), cause));
            } else if search.has_diverged() {
                limit = Some(Limit::Diverged);
            } else if search.is_full() {
                limit = Some(Limit::States);
            }
        }
        let search = search.lock();
        found.states = found.states.max(Some(search.states()));
        found.stopped = limit.map(|at| Stopped { at, open: search.open() });
    }

    fn replay(
        &self,
        choices: &Choices,
        mut test: impl FnMut(&Platform) -> Result<(), Failure>,
    ) -> Result<Exploration> {
        let mut found = Exploration::default();
        for check in self.checks() {
            let replay = Replay::new(choices.clone());
            let (done, _) = self.run_chosen(*check, replay.clone(), &mut test);
            // The choices are those of a run with the race checker, or of a run without it. The other one may have other choices.
            if replay.is_mismatch() {
                continue;
            }
            found.runs += 1;
            if let Err(cause) = done {
                found.failing = Some(failing(choices, cause));
                break;
            }
        }
        if found.runs == 0 {
            return Err(Error::Variable {
                name: variables::SCHEDULE,
                value: choices.text(),
                expected: "this test has no such run; set it to what an exploration of this test has printed",
            });
        }
        Ok(found)
    }

    /// Returns with which race checkers each seed, or each search, runs: with one, without one, or as the variable says (`None`).
    fn checks(&self) -> &'static [Option<bool>] {
        match self.race_check {
            Some(true) => &[Some(true)],
            Some(false) => &[Some(false)],
            None if env::var_os(RACE_CHECK).is_some() => &[None],
            None => &[Some(true), Some(false)],
        }
    }

    /// Runs the test once, in the order that `chooser` makes. Returns its result and its number of threads.
    fn run_chosen(
        &self,
        check: Option<bool>,
        chooser: impl Chooser + 'static,
        mut test: impl FnMut(&Platform) -> Result<(), Failure>,
    ) -> (Result<()>, usize) {
        let switches = Switches::new(PREEMPTIONS);
        let turns = Turns::new(Box::new(switches.clone()));
        let builder = HostDriver::builder().devices(self.devices).turns(turns.clone());
        let driver = Arc::new(builder.build_chosen(Box::new(chooser)));
        switches.choose_with(&driver);
        let done = taking_turns(&turns, || {
            let platform =
                platform_builder(check).driver(Arc::new(Replaying::over(driver.clone())))?;
            // The test ends here: what follows, as the drop of the platform, makes no choices.
            judged(&turns, &platform, &mut test, || driver.end_choices())
        });
        (done, turns.threads())
    }
}

/// Returns a builder of a platform with or without a race checker. `None` leaves the decision to the environment variable.
fn platform_builder(check: Option<bool>) -> PlatformBuilder {
    let builder = Platform::builder().clock(&Clock::simulated());
    match check {
        Some(check) => builder.race_check(check),
        None => builder,
    }
}

/// Runs a test whose threads take turns. An error of the turns is returned before the test's own error, which it may have caused.
fn taking_turns(turns: &Arc<Turns>, test: impl FnOnce() -> Result<()>) -> Result<()> {
    let seat = turns.enter();
    let done = test();
    drop(seat);
    match turns.trouble() {
        Some(trouble) => {
            Err(Error::Thread { thread: trouble.thread().to_owned(), problem: trouble.problem() })
        }
        None => done,
    }
}

fn failing(choices: &Choices, cause: Error) -> Failing {
    let replay = format!("{}={}", variables::SCHEDULE, choices.text());
    Failing { seed: None, replay, cause }
}

/// Runs the test on the platform that was made for it, and then `end`. Work and races that the test has left behind may fail it.
fn judged(
    turns: &Turns,
    platform: &Platform,
    test: &mut impl FnMut(&Platform) -> Result<(), Failure>,
    end: impl FnOnce(),
) -> Result<()> {
    let before = turns.uses();
    let done = caught(|| test(platform));
    // A test that uses no platform but has several threads is explored too, by the turns of the threads.
    let has_used = turns.uses() > before || turns.threads() > 1;
    end();
    done.and_then(|()| platform.end_explored(has_used))
}

/// Runs the test, and converts a panic into an error.
fn caught(test: impl FnOnce() -> Result<(), Failure>) -> Result<()> {
    match caught_as_error(test) {
        Ok(done) => done.map_err(Error::from),
        Err(panic) => Err(*panic),
    }
}
