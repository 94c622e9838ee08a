//! A trial: runs a program on a new platform while one call fails, and then again without a fault.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::{Driver, DriverError};
use streamflow::prelude::*;
use streamflow_tests::forms::Form;
use streamflow_tests::layers::faults::{Fault, Injector, Live, Target};

use super::base::{Above, Base};
use super::log;
use super::reports::{Ending, Reports};
use super::world::{Results, World, take};

static TRIAL: Mutex<()> = Mutex::new(());

/// Returns a lock that a trial holds if graphs have workers. Then one trial is made at a time, so that each line
/// of the log belongs to it.
fn alone() -> Option<MutexGuard<'static, ()>> {
    let has_workers = Form::Workers.is_set();
    log::IS_SHARED.store(has_workers, Ordering::Relaxed);
    has_workers.then(|| TRIAL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A run of a program without a fault: its calls and its results.
pub(crate) struct Clean {
    pub(crate) calls: Vec<(Arc<str>, &'static str, u64)>,
    pub(crate) results: Vec<(u64, Vec<u32>)>,
}

/// Runs the program without a fault.
pub(crate) fn clean(base: Base, world: World) -> Result<Clean, String> {
    let trial = Trial { base, world, fault: None, above: |driver| driver, expected: &[] };
    let _alone = alone();
    let mut state = State::new(&trial)?;
    let _before = log::take();
    state.play();
    let counts = state.injector.counts();
    let calls = counts.into_iter().map(|((place, call), count)| (place, call, count)).collect();
    let results = std::mem::take(&mut state.first_results);
    state.conclude()?;
    if results.is_empty() { Err("no results".into()) } else { Ok(Clean { calls, results }) }
}

/// A trial that can be made: a program, a driver, and a fault.
pub(crate) struct Trial<'a> {
    pub(crate) base: Base,
    pub(crate) world: World,
    pub(crate) fault: Option<(Target, Fault)>,
    pub(crate) above: Above,
    pub(crate) expected: &'a [(u64, Vec<u32>)],
}

impl Trial<'_> {
    /// Makes the trial.
    ///
    /// # Errors
    /// What is not explained.
    pub(crate) fn run(&self) -> Result<Ending, String> {
        let _alone = alone();
        let mut state = State::new(self)?;
        if let Some((target, fault)) = &self.fault {
            state.injector.arm(target.clone(), *fault);
        }
        let _before = log::take();
        state.play();
        state.conclude()
    }
}

struct State<'a> {
    trial: &'a Trial<'a>,
    injector: Arc<Injector>,
    results: Results,
    first_results: Vec<(u64, Vec<u32>)>,
    /// The errors that the program received.
    returned: Vec<Error>,
    troubles: Vec<String>,
    /// Whether the platform became unusable, by a sticky error or by a call that replay had held back.
    is_lost: bool,
}

impl<'a> State<'a> {
    fn new(trial: &'a Trial<'a>) -> Result<Self, String> {
        Ok(Self {
            trial,
            injector: trial.base.injector().map_err(|error| error.to_string())?,
            results: Results::default(),
            first_results: Vec::new(),
            returned: Vec::new(),
            troubles: Vec::new(),
            is_lost: false,
        })
    }

    fn platform(&mut self) -> Option<Platform> {
        let made = self.trial.base.platform(&self.injector, self.trial.above);
        self.keep(made)
    }

    fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.returned.push(error)).ok()
    }

    fn expect(&mut self, holds: bool, trouble: impl FnOnce() -> String) {
        if !holds {
            self.troubles.push(trouble());
        }
    }

    /// Runs the program, from making its platform to dropping it. As soon as a call has failed, the same program
    /// follows without a fault.
    fn play(&mut self) {
        let injector = self.injector.clone();
        injector.begin("platform");
        if let Some(platform) = self.platform() {
            let is_usable = injector.has_fired();
            injector.begin("new");
            let made = self.trial.world.make(&platform, &self.results);
            if let Some(mut program) = self.keep(made) {
                injector.begin("run");
                let done = program.run();
                self.judge_results(done.is_ok());
                self.keep(done);
                if injector.has_fired() {
                    self.again(&platform, "the same program", |results| {
                        take(results);
                        program.run()
                    });
                }
                injector.begin("drop program");
                drop(program);
            }
            if injector.has_fired() && !is_usable {
                self.new_program(&platform);
            }
            let races = platform.take_races();
            self.expect(races.is_empty(), || format!("races: {races}"));
            self.is_lost = platform.driver().sticky_error().is_some();
            injector.begin("drop platform");
            drop(platform);
        }
        self.judge_live();
        if injector.has_fired() && injector.sticky_error().is_none() {
            injector.begin("afterwards");
            injector.disarm();
            match self.trial.base.platform(&injector, self.trial.above) {
                Ok(platform) => self.new_program(&platform),
                Err(error) => self.troubles.push(format!("no new platform: {error}")),
            }
        }
    }

    fn new_program(&mut self, platform: &Platform) {
        let world = self.trial.world;
        self.again(platform, "a new program", |results| {
            take(results);
            world.make(platform, results)?.run()
        });
    }

    /// Runs a program without a fault. The program must succeed with the right data, unless the context is unusable.
    fn again(
        &mut self,
        platform: &Platform,
        what: &str,
        run: impl FnOnce(&Results) -> Result<(), Error>,
    ) {
        self.injector.begin("afterwards");
        self.injector.disarm();
        let results = self.results.clone();
        let done = run(&results);
        let reported = take(&results);
        if platform.driver().sticky_error().is_some() {
            let refused = done.as_ref().is_err_and(is_refused);
            self.expect(refused, || format!("{what} after a sticky error: {done:?}"));
            return;
        }
        let expected = self.trial.expected;
        match done {
            Ok(()) => self.expect(reported == expected, || {
                format!("{what} afterwards has wrong data: {reported:?}, not {expected:?}")
            }),
            Err(error) => self.troubles.push(format!("{what} afterwards: {error}")),
        }
    }

    /// Checks that the results that the run with the fault has reported are right.
    fn judge_results(&mut self, succeeded: bool) {
        let reported = take(&self.results);
        if self.trial.fault.is_some() {
            let expected = self.trial.expected;
            // The messages of a failed tick are missing. All other results are right and in order.
            let mut left = expected.iter();
            let is_part = reported.iter().all(|one| left.any(|other| one == other));
            let is_right = if succeeded { reported == expected } else { is_part };
            self.expect(is_right, || format!("wrong data: {reported:?}, not {expected:?}"));
        }
        self.first_results = reported;
    }

    /// Checks that everything was given back, except the object that the failed call was to give back.
    fn judge_live(&mut self) {
        let live = self.injector.live();
        if self.is_lost || self.injector.sticky_error().is_some() {
            // After a sticky error, everything is given back when the process ends.
            return;
        }
        let mut left = Live::default();
        if let Some((target, fault)) = &self.trial.fault
            && self.injector.has_fired()
            && !fault.takes_effect
        {
            match target.call {
                "destroy_stream" => left.streams = 1,
                "destroy_event" => left.events = 1,
                "destroy_graph" => left.graphs = 1,
                "free" => left.device = 1,
                "free_pinned" => left.pinned = 1,
                _ => {}
            }
        }
        self.expect(live == left, || format!("leaked: {live} are left, not {left}"));
    }

    /// Judges the reports, and gives back the objects that are still alive.
    fn conclude(mut self) -> Result<Ending, String> {
        let has_fired = self.injector.has_fired();
        let troubles = self.injector.clean_up();
        self.troubles.extend(troubles);
        let lines = log::take();
        let returned: Vec<Error> = self.returned.drain(..).flat_map(each).collect();
        let texts = |is_error: bool| {
            lines.iter().filter(move |line| line.is_error == is_error).map(|line| line.text.clone())
        };
        let reports = Reports {
            returned: returned.iter().map(ToString::to_string).collect(),
            logged: texts(true).collect(),
            warned: texts(false).collect(),
        };
        let ending = match &self.trial.fault {
            Some((target, fault)) if has_fired => {
                let judged = reports.judge(target, *fault);
                judged.map_err(|trouble| self.troubles.push(trouble)).ok()
            }
            _ => {
                let Reports { returned, logged, warned } = reports;
                let all = returned.into_iter().chain(logged).chain(warned);
                self.troubles.extend(all.map(|text| format!("without a fault: {text}")));
                Some(Ending::NotReached)
            }
        };
        if ending == Some(Ending::NotReached)
            && self.trial.fault.is_some()
            && self.trial.base.repeats()
        {
            self.troubles.push("the call was not made".into());
        }
        match ending {
            Some(ending) if self.troubles.is_empty() => Ok(ending),
            _ => Err(self.troubles.join("; ")),
        }
    }
}

/// Returns the errors in an error: itself, or the errors of a run that had several.
fn each(error: Error) -> Vec<Error> {
    match error {
        Error::Run { cause, followed } => each(*cause).into_iter().chain(followed).collect(),
        other => vec![other],
    }
}

/// Returns whether a call was not made because the device is unusable.
fn is_refused(error: &Error) -> bool {
    let is_sticky = |error: &Error| {
        matches!(error.find_cause::<DriverError>(), Some(DriverError::Sticky { .. }))
    };
    each(error.clone()).iter().all(is_sticky)
}
