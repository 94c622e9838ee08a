//! A random program as a value, and how it is run once.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow::testing::{Explorer, scope};
use streamflow_tests::kernels::{fill, mixing};
use streamflow_tests::random::Random;

use super::graphs::{self, Flow};
use super::pieces::{self, WRONG};
use super::threads::{self, Threads};

/// A correct program: each fault that a run shows is a fault of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) memory: Reuse,
    pub(crate) threads: Option<Threads>,
    /// A graph that runs on a thread of its own, next to the other threads.
    pub(crate) flow: Option<Flow>,
}

/// How the pool reuses dropped memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    Default,
    /// The next allocation takes the memory and waits for its uses.
    AtOnce,
    /// The memory goes back to the driver.
    Never,
}

impl Reuse {
    pub(crate) fn options(self) -> MemoryOptions {
        let default = MemoryOptions::default();
        match self {
            Self::Default => default,
            Self::AtOnce => default.in_flight(1).small_in_flight(1),
            Self::Never => default.release_threshold(0),
        }
    }
}

/// The number of streams that are made before threads take turns.
const WARM: u32 = 40;

impl Program {
    /// Draws the program of a seed.
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let memory = [Reuse::Default, Reuse::AtOnce, Reuse::Never][random.below(3)];
        let (mut threads, mut flow) = (None, None);
        let family = random.below(8);
        if family < 4 {
            threads = Some(threads::draw(&mut random));
        }
        if family > 2 {
            flow = Some(graphs::draw(&mut random));
        }
        Self { memory, threads, flow }
    }

    /// Draws a program that is a graph of graphs and of arrays.
    pub(crate) fn nested(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let memory = [Reuse::Default, Reuse::AtOnce, Reuse::Never][random.below(3)];
        Self { memory, threads: None, flow: Some(graphs::draw_nested(&mut random)) }
    }

    /// Whether the program's own calls, or workers, have several threads.
    pub(crate) fn is_on_threads(&self) -> bool {
        self.threads.is_some() || self.flow.as_ref().is_some_and(|flow| flow.workers > 0)
    }

    /// Whether the program has several threads, so that their interleaving matters.
    pub(crate) fn has_threads(&self) -> bool {
        let several = |plan: &Threads| plan.rounds.iter().any(|round| round.threads.len() > 1);
        let has_workers = self.flow.as_ref().is_some_and(|flow| flow.workers > 0);
        has_workers
            || self.threads.as_ref().is_some_and(|plan| self.flow.is_some() || several(plan))
    }

    /// Returns the program as a mode runs it. If threads take turns, exchanges with other code are removed: memory goes
    /// back to other code on the library's own thread, which takes no turns.
    pub(crate) fn in_mode(&self, mode: RunMode) -> Cow<'_, Self> {
        let Some(threads) = self.threads.as_ref().filter(|_| mode.turns) else {
            return Cow::Borrowed(self);
        };
        let threads = Some(threads.without_other_code());
        Cow::Owned(Self { threads, ..self.clone() })
    }

    /// Runs the program and compares its downloads.
    pub(crate) fn run(&self, platform: &Platform, together: bool) -> Result<()> {
        match (&self.threads, &self.flow) {
            (None, None) => Ok(()),
            (Some(threads), None) => threads::run(threads, platform, together),
            (None, Some(flow)) => graphs::run(flow, platform),
            (Some(threads), Some(flow)) => scope(|scope| {
                let graph = scope.spawn(|| graphs::run(flow, platform));
                let done = threads::run(threads, platform, together);
                let flown = graph.join().unwrap_or_else(|panic| resume_unwind(panic));
                done.and(flown)
            }),
        }
    }
}

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunMode {
    /// The simulator's seed.
    pub(crate) seed: u64,
    /// Whether the race checker is on. Without it, only the data is checked.
    pub(crate) checked: bool,
    /// Whether the seed decides the interleaving of threads. If not, they are ordinary threads.
    pub(crate) turns: bool,
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, checked, turns } = self;
        let checked = if *checked { "with" } else { "without" };
        let threads = if *turns { "threads in turns" } else { "real threads" };
        write!(f, "seed {seed} of the simulator, {checked} the race checker, {threads}")
    }
}

/// What went wrong in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A report of the race checker.
    Race(String),
    /// Wrong data.
    Wrong(String),
    /// An error or a panic.
    Failed(String),
}

impl Fault {
    pub(crate) fn of(error: &Error) -> Self {
        let mut worst = None;
        visit(error, &mut |error| {
            let text = error.to_string();
            let fault = match error {
                Error::Races(_) => Self::Race(text),
                Error::Other(_) if text.contains(WRONG) => Self::Wrong(text),
                _ => Self::Failed(text),
            };
            if worst.as_ref().is_none_or(|worst| matches!(worst, Self::Failed(_))) {
                worst = Some(fault);
            }
        });
        worst.unwrap_or_else(|| Self::Failed(error.to_string()))
    }

    /// Whether both faults are symptoms of a missing order, or neither is.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        matches!(self, Self::Failed(_)) == matches!(other, Self::Failed(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Race(text) | Self::Wrong(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}

/// Calls `show` for each error that does not wrap others.
fn visit(error: &Error, show: &mut impl FnMut(&Error)) {
    match error {
        Error::Run { cause, followed } => {
            visit(cause, show);
            followed.iter().for_each(|error| visit(error, show));
        }
        Error::Operator { cause, .. } => visit(&cause.clone().into(), show),
        other => show(other),
    }
}

/// Runs a program once on the simulator.
pub(crate) fn attempt(program: &Program, mode: RunMode) -> Option<Fault> {
    let program = &*program.in_mode(mode);
    let builder = Platform::builder().memory(program.memory.options()).race_check(mode.checked);
    if mode.turns {
        let explorer = Explorer::new().first_seed(mode.seed).seeds(1).race_check(mode.checked);
        // A second platform on the same simulator is made, since the explorer's own has the default memory options.
        let again = |platform: &Platform| builder.clone().driver(platform.driver().clone());
        let found = explorer.run(|platform| {
            let platform = again(platform)?;
            warm(&platform)?;
            checked(program, &platform, false)
        });
        return match found {
            Ok(found) => found.failing.map(|failing| Fault::of(&failing.cause)),
            Err(error) => Some(Fault::of(&error)),
        };
    }
    let driver = Arc::new(Replaying::new(HostDriver::builder().seed(mode.seed).build()));
    match builder.driver(driver) {
        Ok(platform) => on(program, &platform),
        Err(error) => Some(Fault::of(&error)),
    }
}

/// Makes streams and loads the kernels. The library holds a lock for that, and threads that take turns would deadlock
/// on it.
fn warm(platform: &Platform) -> Result<()> {
    let pool = platform.stream_pool("WARM", &CudaStreamPool::new().reserved_size(WARM))?;
    let s = pool.allocate("warm")?;
    let (mut a, mut b) =
        (pieces::new(platform, &s, 1, 1, false)?, pieces::new(platform, &s, 1, 1, false)?);
    pieces::map(&s, &mut a, &b, 1, false)?;
    pieces::join(&s, &mut a, (&b, &b), 1, false)?;
    pieces::change(&s, &mut a, &b, 1, false)?;
    pieces::both(&s, &mut a, &mut b, 1, false)?;
    let (mut numbers, words) = (platform.tensor([1], &s)?, platform.upload(&[0_u32])?);
    let mut back = platform.tensor([1], &s)?;
    s.launch::<fill>(1, (&mut numbers, 0.0))?;
    s.launch::<mixing::numbers>(1, (&mut numbers, &words, 0))?;
    s.launch::<mixing::from_numbers>(1, (&mut back, &numbers, 1.0, 0, 0))?;
    Ok(s.synchronize_blocking()?)
}

/// Runs a program once on a platform.
pub(crate) fn on(program: &Program, platform: &Platform) -> Option<Fault> {
    match catch_unwind(AssertUnwindSafe(|| checked(program, platform, true))) {
        Ok(done) => done.err().map(|failure| Fault::of(&failure.into())),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(ToString::to_string);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Some(Fault::Failed(format!("panicked: {}", text.unwrap_or_default())))
        }
    }
}

fn checked(program: &Program, platform: &Platform, together: bool) -> Result<()> {
    program.run(platform, together)?;
    let races = platform.take_races();
    if races.is_empty() { Ok(()) } else { Err(Error::Races(races).into()) }
}
