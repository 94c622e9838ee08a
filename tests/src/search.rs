//! Decides which random cases a test tries.

use std::time::{Duration, Instant};

use crate::seeds::variable;
use crate::{Failed, Tier};

/// The cases of a test that draws its cases at random. Each case has a number, which is its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Only one case: the one that a failure has named.
    One(u64),
    /// The cases `0..n`, which are the same on each machine, however fast it is.
    Count(u64),
    /// The cases from 0 on, as many as this time allows.
    For(Duration),
}

impl Search {
    /// Returns the search that the environment selects: one case with `{name}_SEED=n`, a time with `{name}_SECONDS=n`.
    /// Without these variables: `count` cases, or a part of them in the fast [`Tier`].
    ///
    /// # Errors
    /// A variable that is not valid.
    pub fn from_env(name: &str, count: u64) -> Result<Self, Failed> {
        let cases = Tier::from_env()?.cases(count);
        let number = |part| variable(&format!("{name}_{part}")).map_err(Failed::msg);
        let seconds = number("SECONDS")?.map(|seconds| Self::For(Duration::from_secs(seconds)));
        Ok(number("SEED")?.map(Self::One).or(seconds).unwrap_or(Self::Count(cases)))
    }

    /// Returns the seeds of the cases. The time of [`For`](Self::For) begins now.
    pub fn seeds(self) -> impl Iterator<Item = u64> + Send {
        let (seeds, time) = match self {
            Self::One(seed) => (seed..=seed, None),
            Self::Count(count) => (0..=count.saturating_sub(1), None),
            Self::For(time) => (0..=u64::MAX, Some(time)),
        };
        let begun = Instant::now();
        seeds.take_while(move |_| time.is_none_or(|time| begun.elapsed() < time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_without_a_time_has_the_same_seeds_each_time() {
        assert_eq!(Search::One(7).seeds().collect::<Vec<_>>(), [7]);
        assert_eq!(Search::Count(3).seeds().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(Search::For(Duration::ZERO).seeds().next(), None);
        let cases = Tier::from_env().map(|tier| tier.cases(80));
        assert_eq!(Search::from_env("NOT_SET", 80).ok(), cases.map(Search::Count).ok());
    }
}
