//! Who notices a mutation: the race checker, and the data. Or a proof that it changes nothing.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::testing::Explorer;

use super::order::{Verdict, judge};
use super::runs::{Mutation, Run, Subject, Trial};

/// The seeds that are tried: all policies, then the ones that have choices.
pub(crate) fn seeds() -> Vec<u64> {
    (1..8).chain([0]).chain((8..32).filter(|seed| seed % 8 > 1)).collect()
}

/// How many more are tried where only the data is missing.
const MORE_SEEDS: u64 = 200;

/// How many of them show that a declaration orders nothing: there are many of these.
const SEEDS_OF_NOTHING: usize = 12;

/// How many ticks an exhaustive exploration has, and for how long it may go on.
const EXPLORED_TICKS: [usize; 2] = [2, 3];
const EXPLORED_FOR: Duration = Duration::from_secs(10);

/// What became of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The checker has reported it, and without the checker the data was wrong.
    Noticed,
    /// In no run anything came after less than before.
    Redundant,
    /// A declaration that nothing depends on: in no run two accesses were without an order.
    OrdersNothing,
    /// Something that must not be.
    Hole(String),
}

/// Tries seeds, those first that have shown something before, until one does. Also: the worst verdict.
fn try_seeds(
    trial: Trial<'_>,
    seeds: &mut [u64],
    shows: impl Fn(&Run) -> bool,
) -> Result<bool, (Verdict, u64)> {
    let (mut verdict, mut times) = (Verdict::Implied, 0);
    for index in 0..seeds.len() {
        let run = trial.seeded(seeds[index]);
        if shows(&run) {
            seeds[..=index].rotate_right(1);
            return Ok(true);
        }
        verdict = verdict.max(judge(&run.log));
        times += run.times;
    }
    Err((verdict, times))
}

fn is_declaration(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Declaration(_))
}

/// Tries a mutation.
pub(crate) fn notice(subject: &Subject, mutation: &Mutation, seeds: &mut [u64]) -> Outcome {
    let (checked, data) = {
        let trial = |checked| Trial::new(subject, Some(mutation), checked);
        (trial(true), trial(false))
    };
    let first = if is_declaration(mutation) { SEEDS_OF_NOTHING } else { seeds.len() };
    let reported = try_seeds(checked, &mut seeds[..first], |run| run.reported);
    let all = if reported.is_ok() { seeds.len() } else { first };
    let wrong = try_seeds(data, &mut seeds[..all], |run| run.wrong);
    match (reported, wrong) {
        (Ok(_), Ok(_)) => Outcome::Noticed,
        (Ok(_), Err(_)) if (32..MORE_SEEDS).any(|seed| data.seeded(seed).wrong) => Outcome::Noticed,
        (Ok(_), Err(_)) => match explore(data) {
            Explored { wrong: true, .. } => Outcome::Noticed,
            found => Outcome::Hole(format!("the data never shows it: {}", found.text)),
        },
        (Err(_), Ok(_)) => Outcome::Hole("the checker is silent, and the data is wrong".into()),
        (Err((checked, times)), Err((unchecked, _))) => {
            unnoticed(data, checked.max(unchecked), times)
        }
    }
}

fn unnoticed(trial: Trial<'_>, verdict: Verdict, times: u64) -> Outcome {
    if times == 0 {
        return Outcome::Hole("nothing was taken away".into());
    }
    if trial.mutation.is_some_and(is_declaration) {
        return match verdict {
            Verdict::Race(race) => Outcome::Hole(format!("nobody has noticed {race}")),
            _ => Outcome::OrdersNothing,
        };
    }
    let found = explore(trial);
    match verdict.max(found.verdict) {
        Verdict::Implied if !found.wrong => Outcome::Redundant,
        verdict => Outcome::Hole(format!("nobody has noticed it: {verdict:?}; {}", found.text)),
    }
}

/// What an exhaustive exploration has found.
struct Explored {
    wrong: bool,
    verdict: Verdict,
    text: String,
}

/// Visits all states of a few ticks, until the data is wrong.
fn explore(trial: Trial<'_>) -> Explored {
    let mut found = Explored { wrong: false, verdict: Verdict::Implied, text: String::new() };
    for ticks in EXPLORED_TICKS {
        let trial = Trial { ticks, ..trial };
        let explorer = Explorer::new().devices(trial.subject.devices()).max_time(EXPLORED_FOR);
        let explored = explorer.run_exhaustively(|platform| {
            let run = trial.on(platform.driver().clone());
            found.verdict =
                std::mem::replace(&mut found.verdict, Verdict::Implied).max(judge(&run.log));
            found.wrong |= run.wrong;
            if run.wrong { Err(Error::other("wrong data")) } else { Ok(()) }
        });
        let text = explored.map_or_else(|error| error.to_string(), |all| all.to_string());
        found.text.push_str(&format!("{ticks} ticks: {text}; "));
        if found.wrong {
            break;
        }
    }
    found
}
