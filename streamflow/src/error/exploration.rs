//! The result of an exploration of schedules. [`testing`](crate::testing) returns it, and [`Error::Explored`] contains it.

use std::fmt;

use super::{Error, Result};

/// What an [`Explorer`](crate::testing::Explorer) has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
#[must_use = "this says whether the test failed; `check` makes a failure an error"]
pub struct Exploration {
    /// How often the test ran.
    pub runs: u64,
    /// How many states were visited. The explorer may visit the states with and without a race checker: then the larger of the
    /// two numbers. `None` for runs by seeds, which don't tell states apart.
    pub states: Option<usize>,
    /// The largest number of preemptions that an exhaustive exploration tries in one run. A preemption is a switch away from a
    /// thread that could go on. With several threads, the exploration visits the states that it can reach with this many
    /// preemptions, not every state. `None` for a test of one thread, and for runs by seeds.
    pub preemptions: Option<u32>,
    /// The run that failed, which is the last run.
    pub failing: Option<Failing>,
    /// Why the exploration ended before it had visited every state. `None` if it has visited all states, if a run failed, and for
    /// runs by seeds.
    pub stopped: Option<Stopped>,
}

/// A run of a test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failing {
    /// The smallest of the explored seeds with which the test fails. `None` in an exhaustive exploration.
    pub seed: Option<u64>,
    /// How to repeat the run: an environment variable and its value, as `STREAMFLOW_TEST_SEED=5`.
    pub replay: String,
    /// The error that the test returned; [`Error::Panicked`] if the test panicked.
    pub cause: Error,
}

/// Why an exhaustive exploration ended early, and how much it left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// The limit that was reached.
    pub at: Limit,
    /// How many of the visited states have choices that were not tried, in the state itself or in a state reached from it.
    pub open: usize,
}

/// A limit or a mistake of the test that ends an exhaustive exploration early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The limit [`Explorer::max_states`](crate::testing::Explorer::max_states).
    States,
    /// The limit [`Explorer::max_runs`](crate::testing::Explorer::max_runs).
    Runs,
    /// The limit [`Explorer::max_time`](crate::testing::Explorer::max_time).
    Time,
    /// The test did something else although the explorer made the same choices: the test depends on real time, on random numbers,
    /// on an earlier run, or on a thread that the explorer does not control.
    Diverged,
}

impl Exploration {
    /// Returns an error if a run failed, or if the exploration ended early.
    ///
    /// # Errors
    /// [`Error::Explored`] with this exploration.
    pub fn check(&self) -> Result<()> {
        if self.failing.is_none() && self.stopped.is_none() {
            return Ok(());
        }
        Err(Error::Explored(Box::new(self.clone())))
    }
}

impl fmt::Display for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, states, preemptions, failing, stopped } = self;
        if let Some(states) = states {
            write!(f, "{states} states in ")?;
        }
        write!(f, "{runs} run{}", if *runs == 1 { "" } else { "s" })?;
        if let Some(preemptions) = preemptions {
            write!(f, " with up to {preemptions} preemptions")?;
        }
        write!(f, ", ")?;
        match failing {
            Some(failing) => write!(f, "the last of which {failing}")?,
            None => write!(f, "none failed")?,
        }
        match stopped {
            Some(stopped) => write!(f, "; {stopped}"),
            None if states.is_some() && failing.is_none() => match preemptions {
                None => write!(f, "; no state is left"),
                Some(_) => write!(f, "; no other state is reached with that many"),
            },
            None => Ok(()),
        }
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed: {}; repeat it with {}", self.cause, self.replay)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = match self.at {
            Limit::States => "there is no room for more states",
            Limit::Runs => "no more runs are allowed",
            Limit::Time => "the time is over",
            Limit::Diverged => "the test did not repeat itself",
        };
        write!(f, "stopped, because {at}: {} of the states have untried choices", self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    #[test]
    fn the_text_of_an_outcome_has_the_counts_and_the_replay() {
        let fine = Exploration { runs: 64, ..Exploration::default() };
        assert_eq!(fine.to_string(), "64 runs, none failed");
        let all = Exploration { runs: 1, states: Some(3), ..fine.clone() };
        assert_eq!(all.to_string(), "3 states in 1 run, none failed; no state is left");
        assert_eq!((fine.check(), all.check()), (Ok(()), Ok(())));
        let threads = Exploration { preemptions: Some(2), ..all };
        let text = "3 states in 1 run with up to 2 preemptions, none failed; no other state is reached with \
                    that many";
        assert_eq!(threads.to_string(), text);

        let replay = "STREAMFLOW_TEST_SEED=5".to_owned();
        let cause = Error::from(Failure::msg("wrong data"));
        let failing = Failing { seed: Some(5), replay, cause };
        let failed = Exploration { runs: 6, failing: Some(failing), ..fine.clone() };
        let text =
            "6 runs, the last of which failed: wrong data; repeat it with STREAMFLOW_TEST_SEED=5";
        assert_eq!(failed.to_string(), text);
        assert_eq!(failed.check(), Err(Error::Explored(Box::new(failed))));

        let stopped = Some(Stopped { at: Limit::Runs, open: 2 });
        let part = Exploration { states: Some(9), stopped, ..fine };
        let text = "9 states in 64 runs, none failed; stopped, because no more runs are allowed: 2 of the \
                    states have untried choices";
        assert_eq!(part.to_string(), text);
        assert_eq!(part.check().map_err(|error| error.to_string()), Err(text.to_owned()));
    }
}
