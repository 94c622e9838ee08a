//! `Components` and `ComponentBoxes`, beside SciPy and a flood.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};
use streamflow_vision::format::Grey;
use streamflow_vision::{ComponentBoxes, Components, Labels};

use super::data::{References, image, tensor};
use super::suppression::Found;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("labels_are_those_of_scipy", like_scipy)
        .both("long_ways_are_one_component", long_ways)
        .both("labels_have_any_size", sizes)
        .both("boxes_are_those_of_scipy", boxes)
        .both("other_shapes_and_numbers_are_errors", refused)
}

fn references() -> Result<References> {
    References::new(include_str!("../../references/vision_detection.json"))
}

fn mask(width: usize, height: usize, below: u8) -> Vec<u8> {
    let noise = Random::new(8).bytes(width * height);
    // Any number that is not 0 counts.
    noise.into_iter().map(|byte| if byte < below { byte.max(1) } else { 0 }).collect()
}

fn operator(has_diagonals: bool) -> Components {
    if has_diagonals { Components::of_eight() } else { Components::of_four() }
}

/// Returns the labels, as a message too, and their number.
fn labelled(
    platform: &Platform,
    mask: &[u8],
    size: [usize; 2],
    padding: usize,
    has_diagonals: bool,
) -> Result<(Vec<u32>, u32, Labels), Failed> {
    let mut harness = OperatorHarness::new(platform, operator(has_diagonals))?;
    harness.push(|ports| &mut ports.mask, image::<Grey<u8>>(platform, mask, size, padding)?)?;
    check(harness.tick()?, || "no tick".to_owned())?;
    let sent = harness.take(|ports| &mut ports.components);
    let sent = sent.ok_or_else(|| Failure::msg("nothing was sent"))?.message;
    check_equal(sent.labels.shape(), &[size[1], size[0]][..])?;
    let labels = harness.stream().download_blocking(&sent.labels)?;
    let count = harness.stream().download_blocking(&sent.count)?[0];
    let sent = sent.try_unwrap().map_err(|_| Failure::msg("the labels are shared"))?;
    Ok((labels, count, sent))
}

fn like_scipy(platform: &Platform) -> Result<(), Failed> {
    let cases = [("dense", [67, 21], 128), ("even", [70, 19], 110), ("sparse", [45, 31], 150)];
    for (name, size, below) in cases {
        for has_diagonals in [false, true] {
            for padding in [0, 9] {
                let mask = mask(size[0], size[1], below);
                let (found, count, _) = labelled(platform, &mask, size, padding, has_diagonals)?;
                let name = format!("labels_{name}_{}", if has_diagonals { 8 } else { 4 });
                check_equal(found.len(), size[0] * size[1])?;
                references()?.check(&name, &found, 0.0)?;
                check_equal(Some(count), found.into_iter().max())?;
            }
        }
    }
    Ok(())
}

/// The labels by a flood from each first pixel.
fn flooded(mask: &[u8], [width, height]: [usize; 2], has_diagonals: bool) -> Vec<u32> {
    let mut labels = vec![0; mask.len()];
    let mut count = 0;
    for first in 0..mask.len() {
        if mask[first] == 0 || labels[first] != 0 {
            continue;
        }
        count += 1;
        labels[first] = count;
        let mut edge = vec![first];
        while let Some(at) = edge.pop() {
            let (x, y) = ((at % width) as isize, (at / width) as isize);
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                let (x, y) = (x + dx, y + dy);
                let is_inside =
                    (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
                if !is_inside || (dx != 0 && dy != 0 && !has_diagonals) {
                    continue;
                }
                let next = y as usize * width + x as usize;
                if mask[next] != 0 && labels[next] == 0 {
                    labels[next] = count;
                    edge.push(next);
                }
            }
        }
    }
    labels
}

/// A spiral of one pixel, or of its gap.
fn spiral(size: usize, turn: bool) -> Vec<u8> {
    let mut mask = vec![0; size * size];
    let mut at = [0_isize, 0];
    let mut step = [1_isize, 0];
    let inside = |at: [isize; 2]| at.iter().all(|at| (0..size as isize).contains(at));
    let index = |at: [isize; 2]| at[1] as usize * size + at[0] as usize;
    mask[0] = 1;
    let mut turns = 0;
    while turns < 2 {
        let next = [at[0] + step[0], at[1] + step[1]];
        let after = [next[0] + step[0], next[1] + step[1]];
        if !inside(next) || inside(after) && mask[index(after)] == 1 {
            step = [-step[1], step[0]];
            turns += 1;
        } else {
            mask[index(next)] = 1;
            at = next;
            turns = 0;
        }
    }
    if turn { mask.into_iter().map(|value| 1 - value).collect() } else { mask }
}

fn long_ways(platform: &Platform) -> Result<(), Failed> {
    let check = |mask: &[u8], size, wanted: Option<u32>| -> Result<(), Failed> {
        for has_diagonals in [false, true] {
            let (found, count, _) = labelled(platform, mask, size, 2, has_diagonals)?;
            let right = flooded(mask, size, has_diagonals);
            check_equal(Some(count), right.iter().copied().max())?;
            check(found == right, || format!("{size:?}, diagonals: {has_diagonals}"))?;
            if let Some(wanted) = wanted {
                check_equal(count, wanted)?;
            }
        }
        Ok(())
    };
    check(&spiral(75, false), [75, 75], Some(1))?;
    check(&spiral(75, true), [75, 75], Some(1))?;
    check(&[255; 130 * 70], [130, 70], Some(1))?;
    check(&[0; 40 * 3], [40, 3], Some(0))?;
    let board: Vec<u8> = (0..65 * 33).map(|i| u8::from((i % 65 + i / 65) % 2 == 0)).collect();
    check(&board, [65, 33], None)?;
    // Teeth that only the last row joins, and their gaps.
    let comb: Vec<u8> =
        (0..101 * 40).map(|i| u8::from(i % 101 % 2 == 0 || i / 101 == 39)).collect();
    check(&comb, [101, 40], Some(1))?;
    check(&mask(300, 200, 150), [300, 200], None)?;
    check(&mask(140, 90, 110), [140, 90], None)
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    for size @ [width, height] in [[0, 0], [0, 5], [1, 1], [1, 64], [97, 1], [32, 2], [33, 2]] {
        for below in [0, 200] {
            let mask = mask(width, height, below);
            let (found, count, _) = labelled(platform, &mask, size, 5, true)?;
            let wanted = flooded(&mask, size, true);
            check_equal(count, wanted.iter().copied().max().unwrap_or(0))?;
            check_equal(found, wanted)?;
        }
    }
    Ok(())
}

fn boxed(platform: &Platform, labels: Labels, most: usize) -> Result<Found, Failed> {
    let mut harness = OperatorHarness::new(platform, ComponentBoxes::new(most)?)?;
    harness.push(|ports| &mut ports.components, labels)?;
    check(harness.tick()?, || "no tick".to_owned())?;
    let sent = harness.take(|ports| &mut ports.boxes);
    let sent = sent.ok_or_else(|| Failure::msg("nothing was sent"))?.message;
    Found::new(harness.stream(), &sent)
}

fn boxes(platform: &Platform) -> Result<(), Failed> {
    let size = [45, 31];
    for has_diagonals in [false, true] {
        let neighbours = if has_diagonals { 8 } else { 4 };
        for most in [1, 3, 500] {
            let mask = mask(size[0], size[1], 150);
            let (_, count, labels) = labelled(platform, &mask, size, 0, has_diagonals)?;
            let found = boxed(platform, labels, most)?;
            let kept = most.min(count as usize);
            check_equal(found.indices, (1..=kept as u32).collect())?;
            let wanted = |name: &str, each: usize| -> Result<Vec<f32>> {
                let all = references()?.case(&format!("{name}_{neighbours}"))?;
                Ok(all.into_iter().take(each * kept).map(|it| it as f32).collect())
            };
            check_equal(found.boxes, wanted("boxes", 4)?)?;
            check_equal(found.scores, wanted("areas", 1)?)?;
        }
    }
    for size in [[0, 3], [4, 2]] {
        let (_, _, labels) = labelled(platform, &vec![0; size[0] * size[1]], size, 0, false)?;
        check_equal(boxed(platform, labels, 5)?.scores, vec![])?;
    }
    Ok(())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let none = check_error("no boxes", ComponentBoxes::new(0).map(drop), |_| true)?;
    check_text(&none, &["`ComponentBoxes`", "0 boxes"])?;
    let labels = Labels {
        labels: tensor(platform, &[1_u32; 4], &[4])?,
        count: tensor(platform, &[1_u32], &[1])?,
    };
    let mut harness = OperatorHarness::new(platform, ComponentBoxes::new(4)?)?;
    harness.push(|ports| &mut ports.components, labels)?;
    let text = check_error("one dimension", harness.tick(), |_| true)?;
    check_text(&text, &["`ComponentBoxes`", "`components`", "[4]", "[height, width]"])
}
