//! Decides whether the race checker and the data show a mutation, or proves that the mutation changes nothing.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::testing::Explorer;
use streamflow_tests::forms::Form;
use streamflow_tests::layers::mutate::Dropped;

use super::order::{Verdict, judge};
use super::runs::{Mutation, Run, Subject, Trial};
use super::same_data;
use super::unneeded::{Unneeded, explain};

/// Returns the seeds that are tried: first one for each policy of the simulator, then seeds of the policies with random
/// choices.
pub(crate) fn seeds() -> Vec<u64> {
    (1..8).chain([0]).chain((8..32).filter(|seed| seed % 8 > 1)).collect()
}

/// How many more seeds are tried where the checker has reported the mutation and no data was wrong yet.
const MORE_SEEDS: u64 = 200;

/// How many more seeds are tried with workers. There a seed also draws the order of the workers, and exploring all orders
/// takes too long. The limit is not a time, so that the outcome does not depend on the machine's load.
const MORE_SEEDS_OF_WORKERS: u64 = 2000;

/// How many seeds are tried with a declaration that seems to order nothing: there are many such declarations.
const SEEDS_OF_NOTHING: usize = 12;

/// For how many ticks all orders are explored. A second constant limits the time.
const EXPLORED_TICKS: [usize; 2] = [2, 3];
const EXPLORED_FOR: Duration = Duration::from_secs(5);

/// The outcome of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The checker reported the mutation, and without the checker the data was wrong.
    Noticed,
    /// In all runs, every access was ordered just as without the mutation. The text names the runs.
    Redundant(String),
    /// The dropped wait was needed when it was made, but the stream's next waits imply it.
    Overtaken,
    /// The dropped wait repeats an earlier wait, which the stream's clock has forgotten: a clock has room for 8 streams.
    Forgotten,
    /// The checker reports the mutation, but no data was wrong, since each tick has the same data: see [`same_data`].
    SameData,
    /// A declaration that no order depends on: no run had two unordered accesses.
    OrdersNothing,
    /// The dropped wait ends a run. Without it, work was still queued when the run returned.
    LeftRunning,
    /// The dropped wait ends a run, but other waits have found the work complete by then. This wait only queries for
    /// errors.
    AtTheEnd,
    /// Only on planned streams: all conflicting accesses were ordered in these runs. Work on a shared stream is ordered
    /// by itself, so a record, a query or a wait may be needed only in other runs.
    SharesStream,
    /// Only on planned streams and in replay: the checker reports the mutation, but no data was wrong. On a planned
    /// stream, other operators' work on the same stream may hide it. Replay orders graphs that access the same memory by
    /// itself, and counts an earlier graph as complete with a later one (rules 3 and 5 of `driver::replay`).
    CheckerAlone,
    /// The test fails, with this text.
    Hole(String),
}

/// The result of trying several seeds.
struct Tried {
    /// Whether a run met the condition.
    shown: bool,
    /// The seed of the run that showed the mutation, and the dependencies that were dropped in that run.
    shown_by: Option<(u64, Dropped)>,
    /// The verdict on that run, or the worst verdict of all runs.
    verdict: Verdict,
    /// How many dependencies the mutation dropped.
    times: u64,
    /// Why the runs did not need the dropped waits: the weakest of the reasons.
    unneeded: Unneeded,
}

/// Tries seeds until a run satisfies `shows`. Seeds that have done so for an earlier mutation come first.
fn try_seeds(trial: Trial<'_>, seeds: &mut [u64], shows: impl Fn(&Run) -> bool) -> Tried {
    let (verdict, unneeded) = (Verdict::Implied, Unneeded::NoWait);
    let mut tried = Tried { shown: false, shown_by: None, verdict, times: 0, unneeded };
    for index in 0..seeds.len() {
        let run = trial.seeded(seeds[index]);
        let verdict = judge(&run.log);
        if shows(&run) {
            let shown_by = Some((seeds[index], run.dropped));
            seeds[..=index].rotate_right(1);
            return Tried { shown: true, shown_by, verdict, ..tried };
        }
        tried.verdict = tried.verdict.max(verdict);
        tried.times += run.times;
        tried.unneeded = tried.unneeded.max(explain(&run.log));
    }
    tried
}

fn is_declaration(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Declaration(_))
}

/// Tries a mutation of the given trial, and returns the outcome.
pub(crate) fn notice(right: Trial<'_>, mutation: &Mutation, seeds: &mut [u64]) -> Outcome {
    let trial = |checked| Trial { mutation: Some(mutation), checked, ..right };
    let (checked, data) = (trial(true), trial(false));
    if matches!(mutation, Mutation::Dependency(dependency) if dependency.is_at_the_end()) {
        return left_running(data, seeds);
    }
    let first = if is_declaration(mutation) { SEEDS_OF_NOTHING } else { seeds.len() };
    let reported = try_seeds(checked, &mut seeds[..first], |run| run.reported);
    if reported.shown && !matches!(reported.verdict, Verdict::Race(_)) {
        return Outcome::Hole("the checker has reported accesses that are ordered".into());
    }
    let all = if reported.shown { seeds.len() } else { first };
    let wrong = try_seeds(data, &mut seeds[..all], |run| run.wrong);
    match (reported.shown, wrong.shown) {
        (true, true) if repeats(data) && is_right_without_notes(data, wrong.shown_by) => {
            Outcome::Hole("without notes, as without a checker, the data is right".into())
        }
        (true, true) => Outcome::Noticed,
        (true, false) if more_seeds_show_it(data) => Outcome::Noticed,
        (true, false) if Form::Planned.is_set() || Form::ReplayedAlways.is_set() => {
            Outcome::CheckerAlone
        }
        (true, false) => match explore(data) {
            Explored { wrong: true, .. } => Outcome::Noticed,
            _ if is_noticed_in_another_form(right, mutation, seeds) => Outcome::SameData,
            found => Outcome::Hole(format!("the data never shows it: {}", found.text)),
        },
        (false, true) => {
            Outcome::Hole("the checker reported nothing, and the data is wrong".into())
        }
        (false, false) => {
            let verdict = reported.verdict.max(wrong.verdict);
            let unneeded = reported.unneeded.max(wrong.unneeded);
            unnoticed(data, verdict, reported.times + wrong.times, unneeded)
        }
    }
}

/// Whether a run without notes makes the same calls, by number, as a run with notes. It does with the greedy scheduler,
/// except for replayed graphs.
fn repeats(data: Trial<'_>) -> bool {
    let is_greedy = data.workers.is_none() && !matches!(data.subject, Subject::Threads(_));
    is_greedy && !Form::ReplayedAlways.is_set()
}

/// Whether the data is right where no layer takes notes, and the same is dropped.
fn is_right_without_notes(data: Trial<'_>, shown_by: Option<(u64, Dropped)>) -> bool {
    shown_by.is_some_and(|(seed, dropped)| {
        !Trial { unwatched: Some(&dropped), ..data }.seeded(seed).wrong
    })
}

fn more_seeds_show_it(data: Trial<'_>) -> bool {
    let seeds = if data.workers.is_some() { MORE_SEEDS_OF_WORKERS } else { MORE_SEEDS };
    (32..seeds).any(|seed| data.seeded(seed).wrong)
}

/// Whether the same mutation is noticed in a graph of the same form that has different data in each tick.
fn is_noticed_in_another_form(right: Trial<'_>, mutation: &Mutation, seeds: &mut [u64]) -> bool {
    let Some((forms, mutation)) = same_data::in_other_forms(right.subject, mutation) else {
        return false;
    };
    forms
        .map(Subject::Plan)
        .iter()
        .any(|form| notice(Trial { subject: form, ..right }, &mutation, seeds) == Outcome::Noticed)
}

/// Drops a wait at the end of a run. No access follows that wait, so only work that is still queued shows that it is
/// missing.
fn left_running(trial: Trial<'_>, seeds: &[u64]) -> Outcome {
    for &seed in &seeds[..SEEDS_OF_NOTHING] {
        let run = trial.seeded(seed);
        if run.wrong || run.failed.is_some() {
            return Outcome::Hole(format!("a wait at the end changes the run: {run:?}"));
        }
        if run.left {
            return Outcome::LeftRunning;
        }
    }
    Outcome::AtTheEnd
}

fn unnoticed(trial: Trial<'_>, verdict: Verdict, times: u64, unneeded: Unneeded) -> Outcome {
    if times == 0 {
        return Outcome::Hole("the mutation dropped no dependency".into());
    }
    if trial.mutation.is_some_and(is_declaration) {
        return match verdict {
            Verdict::Race(race) => {
                Outcome::Hole(format!("neither the checker nor the data showed {race}"))
            }
            _ => Outcome::OrdersNothing,
        };
    }
    if Form::Planned.is_set() && !matches!(verdict, Verdict::Race(_)) {
        return Outcome::SharesStream;
    }
    let found = explore(trial);
    match verdict.max(found.verdict) {
        Verdict::Implied if !found.wrong && unneeded == Unneeded::Overtaken => Outcome::Overtaken,
        Verdict::Implied if !found.wrong && unneeded == Unneeded::Forgotten => Outcome::Forgotten,
        Verdict::Implied if !found.wrong => Outcome::Redundant(found.text),
        verdict => Outcome::Hole(format!(
            "neither the checker nor the data showed it: {verdict:?}; {}",
            found.text
        )),
    }
}

/// What the exploration of all orders has found.
struct Explored {
    wrong: bool,
    verdict: Verdict,
    text: String,
}

/// Explores all orders of a few ticks until the data is wrong.
fn explore(trial: Trial<'_>) -> Explored {
    let (mut wrong, mut worst, mut texts) = (false, Verdict::Implied, Vec::new());
    for ticks in EXPLORED_TICKS {
        let trial = Trial { ticks, ..trial };
        let explorer = Explorer::new().devices(trial.subject.devices()).max_time(EXPLORED_FOR);
        let explorer = explorer.race_check(false);
        let explored = explorer.run_exhaustively(|platform| {
            let run = trial.on(platform.driver().clone());
            let verdict = judge(&run.log);
            if worst < verdict {
                worst = verdict;
            }
            wrong |= run.wrong;
            if run.wrong { Err(Failure::msg("wrong data")) } else { Ok(()) }
        });
        let text = explored.map_or_else(|error| error.to_string(), |all| all.to_string());
        texts.push(format!("{ticks} ticks: {text}"));
        if wrong {
            break;
        }
    }
    Explored { wrong, verdict: worst, text: texts.join("; ") }
}
