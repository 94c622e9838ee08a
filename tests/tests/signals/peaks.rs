//! `Peaks`. Positions, heights and counts are exact.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::Peaks;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, check_equal};

use super::cases::{self, Parts, push, sent, tick};

/// The positions, the heights and the counts of peaks, and the shapes of positions and counts.
type Found = (Vec<u32>, Vec<f32>, Vec<u32>, Vec<usize>, Vec<usize>);

fn peaks(
    platform: &Platform,
    operator: Peaks,
    x: &[f32],
    shape: &[usize],
) -> Result<Found, Failed> {
    let mut harness = OperatorHarness::new(platform, operator)?;
    push!(platform, harness, signal, x, shape);
    let (of_positions, positions) = tick!(platform, harness, positions);
    let (of_heights, heights) = sent!(platform, harness, heights);
    let (of_counts, counts) = sent!(platform, harness, counts);
    check_equal(&of_heights, &of_positions)?;
    harness.stop()?;
    Ok((positions, heights, counts, of_positions, of_counts))
}

/// The heights at the places with a peak; the others must be NaN.
fn tops(positions: &[u32], heights: &[f32]) -> Result<Vec<f32>, Failed> {
    for (position, height) in positions.iter().zip(heights) {
        check_equal(height.is_nan(), *position == u32::MAX)?;
    }
    Ok(heights.iter().copied().filter(|height| !height.is_nan()).collect())
}

pub(crate) fn found(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.peaks.iter().enumerate() {
        let operator = Peaks::new(case.most)?;
        let operator = match case.heights {
            Some([low, high]) => operator.heights(low, high)?,
            None => operator,
        };
        let operator = operator.distance(case.distance.unwrap_or(1))?;
        let (positions, heights, counts, of_positions, of_counts) =
            peaks(platform, operator, &f32::of(&case.x), &case.shape)?;
        let others = &case.shape[..case.shape.len() - 1];
        check_equal(&*of_positions, &[others, &[case.most]].concat())?;
        check_equal(&*of_counts, if others.is_empty() { &[1] } else { others })?;
        check_equal(tops(&positions, &heights)?, case.tops.clone())?;
        check_equal((positions, counts), (case.positions.clone(), case.counts.clone()))
            .map_err(|failed| Failed::msg(format!("case {number}: {failed}")))?;
    }
    Ok(())
}

/// The middles of all plateaus between lower samples, without those that are too near to a higher one.
fn definition(x: &[f32], distance: usize) -> Vec<u32> {
    let mut all = Vec::new();
    let mut i = 1;
    while i + 1 < x.len() {
        let end = (i..x.len()).take_while(|j| x[*j] == x[i]).last().unwrap_or(i);
        if x[i - 1] < x[i] && end + 1 < x.len() && x[end + 1] < x[i] {
            all.push((i + end) / 2);
        }
        i = end + 1;
    }
    let mut order: Vec<usize> = all.clone();
    order.sort_by(|a, b| x[*b].total_cmp(&x[*a]).then(b.cmp(a)));
    let mut kept: Vec<usize> = Vec::new();
    for peak in order {
        if kept.iter().all(|other| peak.abs_diff(*other) >= distance) {
            kept.push(peak);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|peak| peak as u32).collect()
}

/// Signals of more samples than a block has threads, and more signals than samples. A silent one is a single plateau.
pub(crate) fn long(platform: &Platform) -> Result<(), Failed> {
    for (rows, len, levels) in [(2, 4000, 40), (1, 3001, 4), (300, 7, 3), (1, 2000, 1)] {
        let mut random = Random::new(len as u64);
        let x: Vec<f32> = (0..rows * len).map(|_| random.below(levels) as f32 + 0.5).collect();
        for distance in [1, 2, 25, 5000] {
            let operator = Peaks::new(len)?.distance(distance)?;
            let (positions, _, counts, ..) = peaks(platform, operator, &x, &[rows, len])?;
            for (row, x) in x.chunks(len).enumerate() {
                let wanted = definition(x, distance);
                let found = &positions[row * len..][..counts[row] as usize];
                check_equal(found, &*wanted).map_err(|failed| {
                    Failed::msg(format!("{rows} of {len}, {distance}: {failed}"))
                })?;
            }
        }
    }
    Ok(())
}

/// SciPy has neither a peak beside a NaN. Infinite samples are higher than all others.
pub(crate) fn nans(platform: &Platform) -> Result<(), Failed> {
    let (nan, high) = (f32::NAN, f32::INFINITY);
    let x = [1.0, 2.0, nan, 2.0, 1.0, 3.0, 1.0, nan, nan, 1.0, high, 1.0];
    for distance in [1, 3] {
        let operator = Peaks::new(4)?.distance(distance)?;
        let (positions, heights, counts, ..) = peaks(platform, operator, &x, &[12])?;
        check_equal(positions, vec![5, 10, u32::MAX, u32::MAX])?;
        check_equal(heights[..2].to_vec(), vec![3.0, high])?;
        check_equal(counts, vec![2])?;
    }
    // Without samples, and without signals.
    for (shape, counts) in [([2, 0], vec![0, 0]), ([0, 9], vec![])] {
        for distance in [1, 3] {
            let operator = Peaks::new(1)?.distance(distance)?;
            let found = peaks(platform, operator, &[], &shape)?;
            check_equal((found.0, found.2), (vec![u32::MAX; shape[0]], counts.clone()))?;
        }
    }
    Ok(())
}
