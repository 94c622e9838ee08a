//! Graphs of graphs and of arrays have the dependencies of their flat twins, with the same names but for the paths of nodes. A
//! dependency that is dropped is noticed in both, under the same seeds.

use std::collections::BTreeSet;
use std::sync::Arc;

use streamflow_tests::layers::mutate::{Declaration, Dependency, DependencyKind};
use streamflow_tests::{Failed, Tier, check};

use super::graphs::NESTED;
use super::nested;
use super::plan::{Plan, Shape};
use super::runs::{Mutation, Run, Subject, Trial};

/// How many seeds a mutation is compared under. The simulator has another policy under each.
const SEEDS: u64 = 4;

/// Compares each graph with its flat twin.
pub(crate) fn are_the_same() -> Result<(), Failed> {
    let seeds: Vec<_> = (1..=Tier::from_env()?.cases(SEEDS).max(2)).collect();
    let mut across = 0;
    for plan in NESTED.map(nested::plan) {
        let Some(shape) = plan.shape else { continue };
        let flat = Subject::Plan(Plan { shape: None, ..plan.clone() });
        let nested = Subject::Plan(plan);
        across += compare(&nested, &flat, shape, &seeds)
            .map_err(|failed| Failed::msg(format!("{}: {failed}", nested.name())))?;
    }
    check(across > 40, || format!("only {across} races were found across a border"))
}

/// Compares the dependencies, and the runs in which one of them is dropped. Returns how many dropped waits for a node on the
/// other side of a border were races.
fn compare(nested: &Subject, flat: &Subject, shape: Shape, seeds: &[u64]) -> Result<u64, Failed> {
    let mut mutations = BTreeSet::new();
    for seed in seeds {
        let (ours, theirs) =
            (Trial::new(nested, None).seeded(*seed), Trial::new(flat, None).seeded(*seed));
        let (ours, theirs) = (of_run(&ours), of_run(&theirs));
        let same: BTreeSet<_> = ours.iter().map(|ours| renamed(ours, shape)).collect();
        let differ = same.symmetric_difference(&theirs).next();
        check(differ.is_none(), || format!("only one of both has {differ:?}, seed {seed}"))?;
        mutations.extend(ours);
    }
    let mut across = 0;
    for mutation in mutations {
        let same = renamed(&mutation, shape);
        let mut is_race = false;
        for (seed, checked) in seeds.iter().flat_map(|seed| [(*seed, true), (*seed, false)]) {
            let run = |subject, mutation| {
                let trial =
                    Trial { mutation: Some(mutation), checked, ..Trial::new(subject, None) };
                shown(&trial.seeded(seed))
            };
            let (ours, theirs) = (run(nested, &mutation), run(flat, &same));
            is_race |= ours.0;
            check(ours == theirs, || {
                format!("without {mutation}, seed {seed}, {checked}: {ours:?}, and flat {theirs:?}")
            })?;
        }
        across += u64::from(is_race && is_across(&mutation, shape));
    }
    Ok(across)
}

fn of_run(run: &Run) -> BTreeSet<Mutation> {
    let dependencies = run.dependencies.iter().cloned().map(Mutation::Dependency);
    dependencies.chain(run.declarations.iter().cloned().map(Mutation::Declaration)).collect()
}

/// Returns what a run has shown: a race, wrong data, work that is left, an error, and how much was dropped.
fn shown(run: &Run) -> (bool, bool, bool, bool, u64) {
    (run.reported, run.wrong, run.left, run.failed.is_some(), run.times)
}

/// Returns the mutation with the names of the flat twin.
fn renamed(mutation: &Mutation, shape: Shape) -> Mutation {
    let text = |text: &str| {
        let names = shape.names().iter();
        names.fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    };
    match mutation {
        Mutation::Dependency(Dependency { kind, place, stream, on, nth }) => {
            let [place, stream] = [place, stream].map(|it| Arc::from(text(it)));
            let on = on.as_ref().map(|on| Arc::from(text(on)));
            Mutation::Dependency(Dependency { kind: *kind, place, stream, on, nth: *nth })
        }
        Mutation::Declaration(declaration) => Mutation::Declaration(Declaration {
            node: text(&declaration.node).into(),
            ..declaration.clone()
        }),
    }
}

/// Whether a stream waits for the stream of a node that is not in the same graph.
fn is_across(mutation: &Mutation, shape: Shape) -> bool {
    let Mutation::Dependency(Dependency {
        kind: DependencyKind::Wait, stream, on: Some(on), ..
    }) = mutation
    else {
        return false;
    };
    // The path of a graph is that of a node without the node's own name.
    let graph = |stream: &str| {
        let path = shape.names().iter().find(|(path, _)| stream.starts_with(path));
        path.map(|(path, _)| path.rsplit_once('.').map_or("", |(graph, _)| graph))
    };
    graph(stream).zip(graph(on)).is_some_and(|(one, other)| one != other)
}
