//! Draws random programs of threads.

use streamflow_tests::random::Random;

use super::plan::{
    Action, DownloadUse, On, Owner, PARTS, Place, Round, SLOTS, Split, Step, THREADS, Threads,
};

/// Lengths of buffers, mostly odd and small.
const LENS: [usize; 8] = [3, 5, 7, 8, 9, 13, 21, 40];

/// How often each kind of call is drawn. Each program has its own weights, and omits some kinds: a fault often
/// shows only if other calls are *not* made.
struct Weights {
    acts: [usize; KINDS],
    own: usize,
    default: usize,
    fresh: usize,
    /// How often an operand is one of the thread's own buffers.
    slots: usize,
}

const KINDS: usize = 25;

impl Weights {
    fn draw(random: &mut Random) -> Self {
        let mut acts = [0; KINDS];
        for (kind, weight) in acts.iter_mut().enumerate() {
            // Most calls write. Calls that block the host are rare, since such a call orders much work.
            let most = match kind {
                1..=4 => 12,
                0 | 5..=7 | 11 => 6,
                _ => 1,
            };
            *weight = if random.below(3) == 0 { 0 } else { 1 + random.below(most) };
        }
        // This makes sure that a program has at least one kind of call.
        acts[3] += 1;
        let default = if random.below(3) == 0 { 1 + random.below(6) } else { 0 };
        let fresh = if random.below(3) == 0 { 1 + random.below(2) } else { 0 };
        Self { acts, own: 6, default, fresh, slots: 1 + random.below(4) }
    }
}

/// Draws a program of up to [`THREADS`] threads.
pub(crate) fn threads(random: &mut Random) -> Threads {
    let weights = Weights::draw(random);
    let buffers = 1 + random.below(3);
    let lens: Vec<_> = (0..buffers).map(|_| LENS[random.below(LENS.len())]).collect();
    let most = [1, 2, 2, 2, 2, 2, 3, 3, THREADS, THREADS][random.below(10)];
    let streams = 1 + random.below(2 * most + 1);
    let mut tag = 100;
    // In long rounds the threads interleave more, and in short rounds a failure is smaller.
    let (rounds, longest) = [(6, 6), (6, 12), (8, 60), (4, 120)][random.below(4)];
    let rounds = (0..1 + random.below(rounds))
        .map(|_| {
            let threads = if random.below(3) == 0 { 1 } else { most };
            let renewed = (0..buffers).filter(|_| random.below(6) == 0).collect();
            let splits = lens.iter().map(|len| split(random, *len, threads)).collect();
            let mut round = Round { renewed, splits, threads: Vec::new() };
            for thread in 0..threads {
                let drawn = (0..1 + random.below(longest)).filter_map(|_| {
                    tag += 1;
                    step(random, &weights, &round, thread, tag)
                });
                let steps = drawn.collect();
                round.threads.push(steps);
            }
            round
        })
        .collect();
    Threads { lens, streams, rounds }
}

fn split(random: &mut Random, len: usize, threads: usize) -> Split {
    let mut cuts = [0; PARTS - 1];
    cuts.iter_mut().for_each(|cut| *cut = random.below(len + 1));
    cuts.sort_unstable();
    let mut owners = [Owner::All; PARTS];
    // In some programs one part is the whole buffer.
    if random.below(4) == 0 {
        cuts = [len; PARTS - 1];
    }
    for owner in &mut owners {
        if threads == 1 || random.below(5) > 0 {
            *owner = Owner::Thread(random.below(threads));
        }
    }
    Split { cuts, owners }
}

fn step(
    random: &mut Random,
    weights: &Weights,
    round: &Round,
    thread: usize,
    tag: u32,
) -> Option<Step> {
    let on = match weighted(random, &[weights.own, weights.default, weights.fresh]) {
        0 => On::Own(random.below(6)),
        1 => On::Default,
        _ => On::Fresh,
    };
    let kind = weighted(random, &weights.acts);
    let legal =
        (0..4).map(|_| act(random, weights, round, kind)).find(|act| act.is_legal(round, thread));
    Some(Step { on, act: legal?, tag, slow: random.below(8) == 0 })
}

fn act(random: &mut Random, weights: &Weights, round: &Round, kind: usize) -> Action {
    let mut place = || {
        if random.below(8) < weights.slots {
            Place::Slot(random.below(SLOTS))
        } else {
            Place::Part(random.below(round.splits.len()), random.below(PARTS))
        }
    };
    let (a, b, c) = (place(), place(), place());
    let slot = random.below(SLOTS);
    match kind {
        0 => Action::Make(a),
        1 => Action::Map(a, b),
        2 => Action::Join(a, b, c),
        3 => Action::Change(a, b),
        4 => Action::Both(a, b),
        5 => Action::Copy(a, b),
        6 => Action::New(slot, random.below(12)),
        7 => Action::Fill(a),
        8 => Action::Upload(a),
        9 => Action::UploadBlocking(a),
        10 => Action::DownloadBlocking(a),
        11 => Action::Download(a, DownloadUse::Dropped),
        12 => Action::Download(a, DownloadUse::Awaited),
        13 => Action::Download(a, DownloadUse::Kept),
        14 => Action::Look,
        15 => Action::Await,
        16 => Action::Forget,
        17 => Action::Record,
        18 => Action::Wait(random.below(8)),
        19 => [Action::IsComplete, Action::Synchronize][random.below(2)],
        20 => Action::Free(slot),
        21 => Action::Hand(slot),
        22 => Action::Take(slot),
        23 => Action::Lend(slot),
        _ => Action::Adopt(slot, random.below(12)),
    }
}

pub(crate) fn weighted(random: &mut Random, weights: &[usize]) -> usize {
    let mut left = random.below(weights.iter().sum::<usize>().max(1));
    for (index, weight) in weights.iter().enumerate() {
        if left < *weight {
            return index;
        }
        left -= weight;
    }
    0
}
