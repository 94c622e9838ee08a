//! Makes failing programs of threads smaller.

use super::plan::{Action, On, Owner, PARTS, Place, Threads};
use crate::programs::shrink::{each_without, without_chunks};

/// Returns programs that are each a little smaller than this one, the smallest first.
pub(crate) fn smaller(plan: &Threads) -> Vec<Threads> {
    let mut all: Vec<_> = each_without(&plan.rounds)
        .into_iter()
        .map(|rounds| Threads { rounds, ..plan.clone() })
        .collect();
    for round in 0..plan.rounds.len() {
        for thread in 0..plan.rounds[round].threads.len() {
            all.extend(without_thread(plan, round, thread));
            for steps in without_chunks(&plan.rounds[round].threads[thread]) {
                let mut fewer = plan.clone();
                fewer.rounds[round].threads[thread] = steps;
                all.push(fewer);
            }
        }
        if !plan.rounds[round].renewed.is_empty() {
            let mut fewer = plan.clone();
            fewer.rounds[round].renewed.clear();
            all.push(fewer);
        }
    }
    if plan.streams > 1 {
        all.push(Threads { streams: plan.streams - 1, ..plan.clone() });
    }
    all.extend((0..plan.lens.len()).filter_map(|buffer| without_buffer(plan, buffer)));
    let mut plain = plan.clone();
    let steps = plain.rounds.iter_mut().flat_map(|round| round.threads.iter_mut().flatten());
    steps.for_each(|step| step.slow = false);
    all.push(plain);
    for (round, thread, index) in all_steps(plan) {
        if plan.rounds[round].threads[thread][index].on != On::Own(0) {
            let mut plain = plan.clone();
            plain.rounds[round].threads[thread][index].on = On::Own(0);
            all.push(plain);
        }
    }
    all.retain(|smaller| smaller != plan);
    all
}

fn all_steps(plan: &Threads) -> Vec<(usize, usize, usize)> {
    let rounds = plan.rounds.iter().enumerate();
    let threads = rounds.flat_map(|(round, it)| {
        it.threads.iter().enumerate().map(move |(thread, steps)| (round, thread, steps.len()))
    });
    threads.flat_map(|(round, thread, len)| (0..len).map(move |at| (round, thread, at))).collect()
}

fn without_thread(plan: &Threads, round: usize, thread: usize) -> Option<Threads> {
    let mut fewer = plan.clone();
    let round = &mut fewer.rounds[round];
    if round.threads.len() < 2 {
        return None;
    }
    round.threads.remove(thread);
    for owner in round.splits.iter_mut().flat_map(|split| &mut split.owners) {
        *owner = match *owner {
            Owner::Thread(it) if it == thread => Owner::All,
            Owner::Thread(it) if it > thread => Owner::Thread(it - 1),
            other => other,
        };
    }
    Some(fewer)
}

fn without_buffer(plan: &Threads, buffer: usize) -> Option<Threads> {
    if plan.lens.len() < 2 {
        return None;
    }
    let mut fewer = plan.clone();
    fewer.lens.remove(buffer);
    let moved = |at: usize| if at > buffer { at - 1 } else { at };
    let place = |place: Place| match place {
        Place::Part(at, part) => Place::Part(moved(at), part % PARTS),
        slot => slot,
    };
    for round in &mut fewer.rounds {
        round.splits.remove(buffer);
        round.renewed.retain(|renewed| *renewed != buffer);
        round.renewed.iter_mut().for_each(|renewed| *renewed = moved(*renewed));
        for steps in &mut round.threads {
            let names = |place: &Place| matches!(place, Place::Part(at, _) if *at == buffer);
            steps.retain(|step| {
                let (writes, reads) = step.act.places();
                !writes.iter().chain(&reads).any(names)
            });
            for step in steps {
                step.act = match step.act {
                    Action::Make(a) => Action::Make(place(a)),
                    Action::Fill(a) => Action::Fill(place(a)),
                    Action::Upload(a) => Action::Upload(place(a)),
                    Action::UploadBlocking(a) => Action::UploadBlocking(place(a)),
                    Action::DownloadBlocking(a) => Action::DownloadBlocking(place(a)),
                    Action::Download(a, fate) => Action::Download(place(a), fate),
                    Action::Map(a, b) => Action::Map(place(a), place(b)),
                    Action::Change(a, b) => Action::Change(place(a), place(b)),
                    Action::Copy(a, b) => Action::Copy(place(a), place(b)),
                    Action::Both(a, b) => Action::Both(place(a), place(b)),
                    Action::Join(a, b, c) => Action::Join(place(a), place(b), place(c)),
                    other => other,
                };
            }
        }
    }
    Some(fewer)
}
