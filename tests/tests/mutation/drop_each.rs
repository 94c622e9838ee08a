//! Drops each edge of each graph, one at a time.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use streamflow_tests::Failed;

use super::graphs;
use super::order::{Verdict, judge};
use super::runs::{Mutation, Subject, seeded};

pub(crate) fn all() -> Result<(), Failed> {
    let mut subjects = vec![Subject::Seed];
    subjects.extend(graphs::plans().into_iter().map(Subject::Plan));
    let next = AtomicUsize::new(0);
    let out = Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let text = one(subject);
                    let _g = out.lock();
                    println!("{text}");
                }
            });
        }
    });
    Ok(())
}

fn one(subject: &Subject) -> String {
    use std::fmt::Write;
    let t = std::time::Instant::now();
    let mut text = format!("== {}\n", subject.name());
    let seeds: Vec<u64> = (1..8).chain([0]).chain((8..64).filter(|s| s % 8 > 1)).collect();
    let mut all = BTreeSet::new();
    for &seed in &seeds {
        for checked in [true, false] {
            let run = seeded(subject, None, seed, checked);
            if run.reported || run.wrong || run.failed.is_some() {
                let _ = writeln!(
                    text,
                    "CONTROL seed {seed} {checked}: {} {} {:?}",
                    run.reported, run.wrong, run.failed
                );
            }
            if judge(&run.log) != Verdict::Implied {
                let _ = writeln!(text, "CONTROL judged {:?}", judge(&run.log));
            }
            all.extend(run.edges.into_iter().map(Mutation::Edge));
            all.extend(run.declarations.into_iter().map(Mutation::Declaration));
        }
    }
    let control = t.elapsed();
    let (mut both, mut n, mut runs) = (0, 0, 0);
    for m in &all {
        n += 1;
        let mut reported = None;
        let mut wrong = None;
        let mut verdict = Verdict::Implied;
        let mut times = 0;
        for &seed in &seeds {
            runs += 1;
            let run = seeded(subject, Some(m), seed, true);
            times += run.times;
            verdict = verdict.max(judge(&run.log));
            if !run.reported
                && let Some(f) = &run.failed
            {
                let _ = writeln!(text, "   {m}: FAILED {f}");
            }
            if run.reported {
                reported = Some(seed);
                break;
            }
        }
        for &seed in &seeds {
            runs += 1;
            let run = seeded(subject, Some(m), seed, false);
            verdict = verdict.max(judge(&run.log));
            if run.wrong {
                wrong = Some(seed);
                break;
            }
        }
        if reported.is_some() && wrong.is_some() {
            both += 1;
            continue;
        }
        let _ =
            writeln!(text, "   {m}: checker {reported:?} data {wrong:?} {verdict:?} times {times}");
    }
    if let Subject::Plan(p) = subject {
        let _ = writeln!(text, "   {:?} {:?}", p.steps, p.memory);
    }
    let _ =
        writeln!(text, "   {both} of {n}; control {control:?}; {runs} runs, all {:?}", t.elapsed());
    text
}
