//! Makes a failing program smaller, as long as it still fails.

use std::time::{Duration, Instant};

use super::program::{Fault, Program, Reuse, RunMode, attempt};
use super::{graphs, threads};

/// Returns, for each element of a list, the list without that element.
pub(crate) fn each_without<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    (0..list.len())
        .map(|index| {
            let mut fewer = list.to_vec();
            fewer.remove(index);
            fewer
        })
        .collect()
}

/// Returns the list without each half, each quarter and so on, and finally without each element.
pub(crate) fn without_chunks<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    let mut size = list.len().div_ceil(2);
    while size > 0 {
        for start in (0..list.len()).step_by(size) {
            let end = (start + size).min(list.len());
            all.push([&list[..start], &list[end..]].concat());
        }
        size /= 2;
    }
    all
}

/// Returns programs that are each a little smaller than this one.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    if program.threads.is_some() && program.flow.is_some() {
        all.push(Program { threads: None, ..program.clone() });
        all.push(Program { flow: None, ..program.clone() });
    }
    if let Some(plan) = &program.threads {
        let plans = threads::smaller(plan).into_iter();
        all.extend(plans.map(|plan| Program { threads: Some(plan), ..program.clone() }));
    }
    if let Some(flow) = &program.flow {
        let flows = graphs::smaller(flow).into_iter();
        all.extend(flows.map(|flow| Program { flow: Some(flow), ..program.clone() }));
    }
    if program.memory != Reuse::Default {
        all.push(Program { memory: Reuse::Default, ..program.clone() });
    }
    all
}

/// A program that failed, with the way in which it ran, and its fault.
#[derive(Debug, Clone)]
pub(crate) struct Failing {
    pub(crate) program: Program,
    pub(crate) mode: RunMode,
    pub(crate) fault: Fault,
}

/// Runs a program in the same way and in similar ways until it has failed `wanted` times. Other seeds are needed,
/// since a seed gives another order once a call is left out.
fn fails_again(program: &Program, like: &Failing, wanted: usize) -> Option<Failing> {
    let RunMode { seed, checked, turns } = like.mode;
    let several = program.is_on_threads();
    let tries = if several { 40 } else { 8 };
    let ways = (0..tries).map(|number| RunMode {
        seed: if number == 0 || (several && !turns && number < 20) { seed } else { seed + number },
        checked,
        turns,
    });
    let found = ways.filter_map(|mode| {
        let fault = attempt(program, mode).filter(|fault| fault.is_like(&like.fault))?;
        Some(Failing { program: program.clone(), mode, fault })
    });
    found.take(wanted).collect::<Vec<_>>().into_iter().nth(wanted - 1)
}

/// Returns the smallest failing program that is found within the time.
pub(crate) fn shrink(mut failing: Failing, time: Duration) -> Failing {
    let end = Instant::now() + time;
    let (mut at, mut unchanged) = (0, 0);
    // A program that fails under several seeds also fails as printed code, although the run of that code differs a
    // little.
    let often =
        !failing.program.has_threads() && fails_again(&failing.program, &failing, 2).is_some();
    let wanted = if often { 2 } else { 1 };
    loop {
        let candidates = smaller(&failing.program);
        // No candidate of a whole round has failed, so this program is the smallest.
        if unchanged >= candidates.len() || Instant::now() >= end {
            return failing;
        }
        // The search continues after the last success. Earlier candidates are tried again later.
        match fails_again(&candidates[at % candidates.len()], &failing, wanted) {
            Some(smaller) => (failing, unchanged) = (smaller, 0),
            None => (at, unchanged) = (at + 1, unchanged + 1),
        }
    }
}
