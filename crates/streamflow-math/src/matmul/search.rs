//! The result of a search for the fastest algorithm of a product.

use std::fmt;
use std::time::Duration;

use crate::ffi::cublaslt::algorithm::Algorithm;
use streamflow::stream::Elapsed;

/// An algorithm that a [search](super::Planner::search_blocking) has timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    algorithm: Algorithm,
    time: Elapsed,
}

impl Candidate {
    /// Returns the algorithm, for [`Planner::algorithm`](super::Planner::algorithm).
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the time that one product took on the device with this algorithm.
    pub fn time(&self) -> Elapsed {
        self.time
    }
}

/// Writes the time, and then the text of the [algorithm](Algorithm).
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.time, self.algorithm)
    }
}

/// The result of a [search](super::Planner::search_blocking): algorithms with their times, the fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    fastest: Candidate,
    others: Vec<Candidate>,
}

impl Search {
    /// Returns the algorithm to use.
    pub fn fastest(&self) -> Algorithm {
        self.fastest.algorithm
    }

    /// Returns all timed algorithms, the fastest first.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = &Candidate> {
        let all = 1 + self.others.len();
        (0..all).map(|index| if index == 0 { &self.fastest } else { &self.others[index - 1] })
    }

    /// Orders the timed algorithms by the median of their times. `timed` has the algorithms in the order in which the library
    /// proposes them, with the times of all rounds. The first of them whose median is within 2 % of the least median counts as
    /// the fastest, so that noise does not choose. Returns `None` if no algorithm was timed.
    pub(super) fn of(timed: Vec<(Algorithm, Vec<Elapsed>)>) -> Option<Self> {
        let median = |(algorithm, mut times): (_, Vec<Elapsed>)| {
            times.sort();
            Some(Candidate { algorithm, time: *times.get(times.len() / 2)? })
        };
        let mut all: Vec<_> = timed.into_iter().filter_map(median).collect();
        let least = all.iter().map(|it| it.time.duration()).min()?;
        let is_fast = |it: &Candidate| is_within_noise(it.time.duration(), least);
        let fastest = all.remove(all.iter().position(is_fast)?);
        // The sort is stable, so of two algorithms with equal medians, the one that was proposed earlier comes first.
        all.sort_by_key(|it| it.time.duration());
        Some(Self { fastest, others: all })
    }
}

/// Writes a line for each candidate, the fastest first.
impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.candidates().enumerate().try_for_each(|(index, candidate)| {
            let end = if index > 0 { "\n" } else { "" };
            write!(f, "{end}{candidate}")
        })
    }
}

fn is_within_noise(time: Duration, least: Duration) -> bool {
    time <= least + least / 50
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn algorithm(id: u32) -> Algorithm {
        let text = format!(
            "cublaslt=1 id={id} tile=0 stages=0 splits=1 workspace=0 alignment=16 data=0,0,0,0,0,0,0,0"
        );
        text.parse().unwrap()
    }

    fn search(times: &[&[u64]]) -> Option<Search> {
        let elapsed = |us: &u64| Elapsed::new(Duration::from_micros(*us), false);
        let timed = times.iter().enumerate();
        let timed = timed.map(|(id, us)| (algorithm(id as u32), us.iter().map(elapsed).collect()));
        Search::of(timed.collect())
    }

    fn order(times: &[&[u64]]) -> Vec<Algorithm> {
        let found = search(times).unwrap();
        assert_eq!(Some(found.fastest()), found.candidates().next().map(Candidate::algorithm));
        found.candidates().map(Candidate::algorithm).collect()
    }

    #[test]
    fn algorithms_are_ordered_by_their_medians() {
        // By the means, or by the least time of the second algorithm, the order would be different.
        assert_eq!(
            order(&[&[300, 310, 290], &[1, 400, 9000], &[200, 210, 190]]),
            [2, 0, 1].map(algorithm)
        );
    }

    #[test]
    fn noise_does_not_replace_an_earlier_proposal() {
        assert_eq!(order(&[&[1020], &[1000], &[1010]]), [0, 1, 2].map(algorithm));
        assert_eq!(order(&[&[1021], &[1000]]), [1, 0].map(algorithm));
    }

    #[test]
    fn what_has_no_time_is_left_out() {
        assert_eq!(order(&[&[], &[5]]), [algorithm(1)]);
        assert_eq!(search(&[&[], &[]]), None);
        assert_eq!(search(&[]), None);
    }

    #[test]
    fn a_search_is_printed_with_a_line_for_each() {
        let text = search(&[&[2000], &[1500]]).unwrap().to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("1.5ms: cublaslt=1 id=1 "), "{text}");
        assert!(lines[1].starts_with("2ms: cublaslt=1 id=0 "), "{text}");
    }
}
