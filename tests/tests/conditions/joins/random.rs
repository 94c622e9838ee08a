//! Random paths from one source to a node with `#[when(same_sequence)]`, compared with a model.

use streamflow::prelude::*;
use streamflow::schedule::DropReason;
use streamflow_tests::frames::{Camera, Overlay};
use streamflow_tests::random::Random;
use streamflow_tests::seen::{Seen, take};
use streamflow_tests::{Failed, check, check_equal};

use super::{all_accounted, each_way, lost};

/// An operator that sends on only the frames whose bit is set in a mask.
#[operator]
struct Way {
    #[input]
    frame: &u64,
    #[output]
    frames: u64,
    keeps: u64,
}

impl Compute for Way {
    fn compute(&mut self, io: WayIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        if self.keeps >> frame & 1 == 1 { io.frames.emit(frame) } else { Ok(()) }
    }
}

macro_rules! ways {
    ($name:ident, $($policy:tt)*) => {
        graph! {
            struct $name(left: u64, right: u64, capacity: usize, seen: Seen<(u64, u64)>) {
                #[when(count(16))]
                let camera: Camera = Camera::new();
                let one: Way = Way::new(left);
                let other: Way = Way::new(right);
                #[when(same_sequence)]
                let overlay: Overlay = Overlay::new(seen);
                camera.frame >> (one.frame, other.frame);
                $($policy)* #[capacity(capacity)]
                one.frames >> overlay.frame;
                $($policy)* #[capacity(capacity)]
                other.frames >> overlay.found;
            }
        }
    };
}

ways!(Ways,);
ways!(LossyWays, #[policy(pop)]);

/// The model: joins two lists by the rules of the guide. Returns the pairs, and for each list how many messages
/// are dropped and how many are left.
fn join(ways: [Vec<u64>; 2]) -> (Vec<(u64, u64)>, [u64; 2], [u64; 2]) {
    let (mut pairs, mut dropped, mut at) = (Vec::new(), [0, 0], [0, 0]);
    while let (Some(one), Some(other)) = (ways[0].get(at[0]), ways[1].get(at[1])) {
        if one == other {
            pairs.push((*one, *other));
        }
        for (way, drops) in [one < other, other < one].into_iter().enumerate() {
            at[way] += usize::from(drops || one == other);
            dropped[way] += u64::from(drops);
        }
    }
    let left = [0, 1].map(|way| (ways[way].len() - at[way]) as u64);
    (pairs, dropped, left)
}

pub(super) fn random_ways(seed: u64) -> Result<(), Failed> {
    let mut random = Random::new(seed);
    let platform = Platform::host().seed(seed).build()?;
    let edges = ["one.frames >> overlay.frame", "other.frames >> overlay.found"];
    for _ in 0..8 {
        let keeps = [0, 1].map(|_| (random.below(1 << 16) | random.below(1 << 16)) as u64);
        let sent = keeps.map(|keeps| (0..16).filter(|frame| keeps >> frame & 1 == 1).collect());
        let lens = [0, 1].map(|way: usize| keeps[way].count_ones().into());
        let (pairs, dropped, left) = join(sent);
        let seen = Seen::default();
        each_way(
            || Ways::new(&platform, keeps[0], keeps[1], 16, seen.clone()),
            |done| {
                let report = done?;
                check_equal(take(&seen), pairs.clone())?;
                let of = |reason| edges.map(|edge| lost(&report, edge, Some(reason)));
                check_equal((of(DropReason::Alone), of(DropReason::RunEnded)), (dropped, left))
            },
        )?;
        let capacity = 1 + random.below(3);
        each_way(
            || LossyWays::new(&platform, keeps[0], keeps[1], capacity, seen.clone()),
            |done| {
                let report = done?;
                let found = take(&seen);
                check(found.iter().all(|pair| pairs.contains(pair)), || format!("{found:?}"))?;
                let checked = |(edge, sent)| all_accounted(&report, edge, sent, found.len());
                edges.into_iter().zip(lens).try_for_each(checked)
            },
        )?;
    }
    Ok(())
}
