//! Drops each dependency of each graph, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use streamflow_tests::forms::Form;
use streamflow_tests::layers::mutate::{
    Declaration, Dependency, DependencyKind, Dropped, Misdeclared,
};
use streamflow_tests::{Failed, Tier, check, seeds_from_env};

use super::graphs;
use super::notice::{Outcome, notice, seeds};
use super::order::{Verdict, judge};
use super::runs::{Mutation, Run, Subject, Trial};
use super::threads;

/// Each claim in calls of the libraries. For each, the checker and the data must show in at least one program that the
/// claim is left out.
const CLAIMS: [(&str, &str); 14] = [
    ("cublasaxpy", "x"),
    ("cublasaxpy", "y"),
    ("cublasaxpy", "work area"),
    ("cufftExecR2C", "x"),
    ("cufftExecR2C", "y"),
    ("cufftExecR2C", "work area"),
    ("cufftExecC2R", "x"),
    ("cufftExecC2R", "y"),
    ("cufftExecC2R", "work area"),
    ("cublasLtMatmul", "a"),
    ("cublasLtMatmul", "b"),
    ("cublasLtMatmul", "c"),
    ("cublasLtMatmul", "bias"),
    ("cublasLtMatmul", "work area"),
];

/// Counts the outcomes of all mutations.
#[derive(Debug, Default)]
struct Tally {
    /// How many mutations were noticed, by the kind of the dependency.
    noticed: BTreeMap<&'static str, u64>,
    /// The functions and arguments with a missing declaration that was noticed somewhere.
    missed: BTreeSet<(&'static str, &'static str)>,
    order_nothing: u64,
    overtaken: Vec<String>,
    forgotten: Vec<String>,
    same_data: Vec<String>,
    shares_stream: u64,
    checker_alone: u64,
    left_running: u64,
    at_the_end: u64,
    holes: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        for (kind, count) in other.noticed {
            *self.noticed.entry(kind).or_default() += count;
        }
        self.missed.extend(other.missed);
        self.order_nothing += other.order_nothing;
        self.overtaken.extend(other.overtaken);
        self.forgotten.extend(other.forgotten);
        self.same_data.extend(other.same_data);
        self.shares_stream += other.shares_stream;
        self.checker_alone += other.checker_alone;
        self.left_running += other.left_running;
        self.at_the_end += other.at_the_end;
        self.holes.extend(other.holes);
    }
}

/// The programs that one scheduler runs, and the part of their dependencies that is dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// The number of workers, or `None` for the greedy scheduler.
    pub(crate) workers: Option<usize>,
    /// Only every n-th program is run.
    pub(crate) programs: usize,
    /// Only every n-th dependency of a program is dropped. The first one differs from program to program.
    pub(crate) mutations: usize,
}

/// Drops the dependencies of a part, one after the other.
pub(crate) fn drop_each(part: Part) -> Result<(), Failed> {
    let more_seeds = seeds_from_env(Tier::from_env()?.cases(8)).map_err(Failed::msg)?;
    let mut subjects = vec![Subject::CudaStreamApp];
    subjects.extend(graphs::plans().into_iter().map(Subject::Plan));
    if part.workers.is_none() {
        subjects.extend(threads::ALL.map(Subject::Threads));
    }
    let subjects: Vec<_> = subjects.into_iter().step_by(part.programs).collect();
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(subject) = subjects.get(index) else { return };
                    let trial = Trial::new(subject, part.workers);
                    let of_subject = mutate_all(trial, index, part.mutations, &more_seeds);
                    tally.lock().unwrap_or_else(PoisonError::into_inner).add(of_subject);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    report(&tally, subjects.len(), part)
}

#[allow(clippy::print_stdout, reason = "the numbers are what the test is for")]
fn report(tally: &Tally, graphs: usize, part: Part) -> Result<(), Failed> {
    let Tally { noticed, order_nothing, left_running, at_the_end, holes, .. } = tally;
    let all: u64 = noticed.values().sum();
    let kinds: Vec<_> = noticed.iter().map(|(kind, count)| format!("{count} {kind}s")).collect();
    match part.workers {
        None => println!("The greedy scheduler:"),
        Some(count) => println!(
            "{count} workers, every program in {}, every mutation in {}:",
            part.programs, part.mutations
        ),
    }
    println!("{all} mutations of {graphs} programs: {}.", kinds.join(", "));
    println!("Each is noticed by the race checker, and without it by the data.");
    println!("{order_nothing} more declarations order nothing: each run is ordered without them.");
    println!(
        "{left_running} more waits of the host at the end of a run are noticed: without them work is left queued."
    );
    println!(
        "{at_the_end} more waits at the end of a run are for work that is complete by then: they query for errors."
    );
    if tally.shares_stream > 0 {
        println!(
            "On planned streams, {} more are not needed in any run: work on a shared stream is in order.",
            tally.shares_stream
        );
    }
    if tally.checker_alone > 0 {
        println!(
            "On planned streams or in replay, {} more are noticed by the checker alone.",
            tally.checker_alone
        );
    }
    let listed = [
        (&tally.overtaken, "waits are implied by the next wait of their stream"),
        (&tally.forgotten, "waits repeat one that the stream's clock has forgotten"),
        (
            &tally.same_data,
            "are noticed by the checker, and by the data where each tick has other data",
        ),
    ];
    for (places, reason) in listed {
        println!("{} more {reason}:", places.len());
        places.iter().for_each(|place| println!("  {place}"));
    }
    check(holes.is_empty(), || format!("{} holes:\n{}", holes.len(), holes.join("\n")))?;
    let share = part.programs * part.mutations;
    if share == 1 && cfg!(debug_assertions) {
        let unnoticed: Vec<_> =
            CLAIMS.iter().filter(|claim| !tally.missed.contains(claim)).collect();
        check(unnoticed.is_empty(), || format!("these claims are needed nowhere: {unnoticed:?}"))?;
    }
    // In replay, one completed graph shows that all earlier graphs are complete, so a dropped wait at the end may leave
    // no work running.
    check(share > 1 || *left_running > 0 || Form::ReplayedAlways.is_set(), || {
        "no dropped wait at the end of a run left work queued".into()
    })?;
    check(all > 300 / share as u64, || format!("only {all} mutations"))
}

fn kind(mutation: &Mutation) -> &'static str {
    match mutation {
        Mutation::Dependency(Dependency { kind: DependencyKind::Wait, .. }) => "wait",
        Mutation::Dependency(Dependency { kind: DependencyKind::Record, .. }) => "record",
        Mutation::Dependency(Dependency { kind: DependencyKind::Free, .. }) => "deferred free",
        Mutation::Dependency(Dependency { kind: DependencyKind::HostWait, .. }) => "host wait",
        Mutation::Dependency(Dependency { kind: DependencyKind::HostQuery, .. }) => "host querie",
        Mutation::Declaration(_) => "declaration",
    }
}

/// Tries every `stride`-th mutation.
fn mutate_all(trial: Trial<'_>, first: usize, stride: usize, more_seeds: &Range<u64>) -> Tally {
    let mut seeds = seeds();
    let mut tally = Tally::default();
    let mutations = control(trial, &seeds, &mut tally);
    // The control with more seeds. Mutations are tried only with the other seeds.
    let more = more_seeds.clone().filter(|seed| !seeds.contains(seed)).collect::<Vec<_>>();
    control(trial, &more, &mut tally);
    for mutation in mutations.iter().skip(first % stride).step_by(stride) {
        let place = format!("{}, {mutation}", trial.subject.name());
        let outcome = notice(trial, mutation, &mut seeds);
        // Replay orders a captured call by itself. Then only the checker shows that the call's claim is missing.
        let is_missed = match outcome {
            Outcome::Noticed => true,
            Outcome::CheckerAlone => Form::Replayed.is_set(),
            _ => false,
        };
        if is_missed
            && let Mutation::Declaration(Declaration { kernel, argument, wrong, .. }) = mutation
            && *wrong == Misdeclared::LeftOut
        {
            tally.missed.insert((kernel, argument));
        }
        match outcome {
            Outcome::Noticed => *tally.noticed.entry(kind(mutation)).or_default() += 1,
            Outcome::OrdersNothing => tally.order_nothing += 1,
            Outcome::LeftRunning => tally.left_running += 1,
            Outcome::AtTheEnd => tally.at_the_end += 1,
            Outcome::Overtaken => tally.overtaken.push(place),
            Outcome::Forgotten => tally.forgotten.push(place),
            Outcome::SameData => tally.same_data.push(place),
            Outcome::SharesStream => tally.shares_stream += 1,
            Outcome::CheckerAlone => tally.checker_alone += 1,
            Outcome::Redundant(runs) => {
                tally
                    .holes
                    .push(format!("{place}: the runtime does not need this dependency ({runs})"));
            }
            Outcome::Hole(hole) => tally.holes.push(format!("{place}: {hole}")),
        }
    }
    tally
}

/// Checks that a run without a mutation has no findings.
fn find_nothing(subject: &Subject, seed: u64, run: &Run, tally: &mut Tally) {
    if run.reported
        || run.wrong
        || run.left
        || run.failed.is_some()
        || judge(&run.log) != Verdict::Implied
    {
        let name = subject.name();
        tally.holes.push(format!("{name}, seed {seed}, without a mutation: {run:?}"));
    }
}

/// Checks that runs without a mutation have no findings. Returns all mutations that they allow.
fn control(trial: Trial<'_>, seeds: &[u64], tally: &mut Tally) -> BTreeSet<Mutation> {
    let mut mutations = BTreeSet::new();
    let nothing = Dropped::default();
    for &seed in seeds {
        for unwatched in [None, Some(&nothing)] {
            let run = Trial { checked: unwatched.is_none(), unwatched, ..trial }.seeded(seed);
            find_nothing(trial.subject, seed, &run, tally);
            mutations.extend(run.dependencies.into_iter().map(Mutation::Dependency));
            mutations.extend(run.declarations.into_iter().map(Mutation::Declaration));
        }
    }
    mutations
}
