//! `NonMaxSuppression`, beside the rule of torchvision and OpenCV.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};
use streamflow_vision::{Detections, NonMaxSuppression};

use super::data::{References, tensor};

/// The number of random boxes.
const N: usize = 300;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("kept_boxes_are_those_of_the_references", references_agree)
        .both("scores_that_are_not_numbers_are_left_out", odd_scores)
        .both("boxes_that_are_not_numbers_overlap_none", odd_boxes)
        .both("no_more_than_the_most_boxes_are_kept", most)
        .both("many_boxes_are_suppressed", many)
        .both("other_shapes_and_numbers_are_errors", refused)
}

/// The results on the host.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) boxes: Vec<f32>,
    pub(super) scores: Vec<f32>,
    pub(super) indices: Vec<u32>,
}

impl Found {
    /// Downloads detections, and checks that what is behind their number is 0.
    pub(super) fn new(stream: &CudaStream, sent: &Detections) -> Result<Self, Failed> {
        let count = stream.download_blocking(&sent.count)?[0] as usize;
        let mut found = Self {
            boxes: stream.download_blocking(&sent.boxes)?,
            scores: stream.download_blocking(&sent.scores)?,
            indices: stream.download_blocking(&sent.indices)?,
        };
        check(count <= found.scores.len(), || format!("{count} boxes"))?;
        check_equal(found.indices.len(), found.scores.len())?;
        check_equal(found.boxes.len(), 4 * found.scores.len())?;
        check(found.boxes.drain(4 * count..).all(|it| it == 0.0), || "boxes behind".to_owned())?;
        check(found.scores.drain(count..).all(|it| it == 0.0), || "scores behind".to_owned())?;
        check(found.indices.drain(count..).all(|it| it == 0), || "indices behind".to_owned())?;
        Ok(found)
    }
}

fn suppressed(
    platform: &Platform,
    operator: NonMaxSuppression,
    boxes: &[f32],
    scores: &[f32],
) -> Result<Vec<u32>, Failed> {
    let mut harness = OperatorHarness::new(platform, operator)?;
    harness.push(|ports| &mut ports.boxes, tensor(platform, boxes, &[scores.len(), 4])?)?;
    harness.push(|ports| &mut ports.scores, tensor(platform, scores, &[scores.len()])?)?;
    check(harness.tick()?, || "no tick".to_owned())?;
    let sent = harness.take(|ports| &mut ports.kept);
    let sent = sent.ok_or_else(|| Failure::msg("nothing was sent"))?.message;
    let found = Found::new(harness.stream(), &sent)?;
    let at = |i: &u32| *i as usize;
    let wanted: Vec<u32> = found.indices.iter().map(|i| scores[at(i)].to_bits()).collect();
    check_equal(found.scores.iter().map(|score| score.to_bits()).collect(), wanted)?;
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let wanted: Vec<f32> =
        found.indices.iter().flat_map(|i| boxes[4 * at(i)..][..4].to_vec()).collect();
    check_equal(bits(&found.boxes), bits(&wanted))?;
    Ok(found.indices)
}

/// Boxes with whole corners, boxes with others, scores with many that are equal, and scores.
fn random() -> [Vec<f32>; 4] {
    let raw = Random::new(6).floats(4 * N);
    let scores = Random::new(7).floats(N);
    let whole = raw.chunks(4).flat_map(|raw| {
        let corner = [0, 1].map(|k| ((raw[k] + 1.0) * 50.0).floor());
        let size = [2, 3].map(|k| ((raw[k] + 1.0) * 15.0).floor() + 1.0);
        [corner[0], corner[1], corner[0] + size[0], corner[1] + size[1]]
    });
    let fine = raw.chunks(4).flat_map(|raw| {
        let corner = [0, 1].map(|k| raw[k] * 50.0);
        [corner[0], corner[1], corner[0] + (raw[2] + 1.0) * 15.0, corner[1] + (raw[3] + 1.0) * 15.0]
    });
    let coarse = scores.iter().map(|score| (score * 16.0).floor() / 16.0);
    [whole.collect(), fine.collect(), coarse.collect(), scores.clone()]
}

fn references_agree(platform: &Platform) -> Result<(), Failed> {
    let references = References::new(include_str!("../../references/vision_detection.json"))?;
    let [whole, fine, coarse, scores] = random();
    let wanted = |name: &str| -> Result<Vec<u32>> {
        Ok(references.case(name)?.into_iter().map(|i| i as u32).collect())
    };
    let of = |overlap| NonMaxSuppression::new(overlap, N);
    check_equal(suppressed(platform, of(0.45)?, &whole, &coarse)?, wanted("suppressed_45")?)?;
    check_equal(suppressed(platform, of(0.0)?, &whole, &coarse)?, wanted("suppressed_0")?)?;
    let found = suppressed(platform, of(0.3)?, &fine, &scores)?;
    check_equal(found, wanted("suppressed_fine_30")?)?;
    let found = suppressed(platform, of(0.45)?.with_score(0.0)?, &whole, &coarse)?;
    check_equal(found, wanted("opencv_45_above_0")?)
}

/// Boxes beside each other.
fn apart(count: usize) -> Vec<f32> {
    (0..count).flat_map(|i| [i as f32 * 10.0, 0.0, i as f32 * 10.0 + 9.0, 9.0]).collect()
}

fn odd_scores(platform: &Platform) -> Result<(), Failed> {
    let scores = [
        0.0,
        f32::NAN,
        -0.0,
        f32::NEG_INFINITY,
        f32::INFINITY,
        -1.0,
        -f32::NAN,
        0.0,
        f32::MIN_POSITIVE,
        1.0,
    ];
    let boxes = apart(scores.len());
    let of = || NonMaxSuppression::new(0.5, 100);
    // Zeros of both signs are equal, so the first one comes first.
    let found = suppressed(platform, of()?, &boxes, &scores)?;
    check_equal(found, vec![4, 9, 8, 0, 2, 7, 5, 3])?;
    let found = suppressed(platform, of()?.with_score(0.0)?, &boxes, &scores)?;
    check_equal(found, vec![4, 9, 8])?;
    let found = suppressed(platform, of()?, &apart(2), &[f32::NAN; 2])?;
    check_equal(found, vec![])?;
    check_equal(suppressed(platform, of()?, &[], &[])?, vec![])?;
    check_equal(suppressed(platform, of()?, &apart(1), &[-3.0])?, vec![0])
}

fn odd_boxes(platform: &Platform) -> Result<(), Failed> {
    let boxes = [
        [0.0, 0.0, 9.0, 9.0],
        [0.0, f32::NAN, 9.0, 9.0],
        [0.0, 0.0, 9.0, f32::NAN],
        [0.0, 0.0, 9.0, 9.0],
        // Without an area, and the same once more: their overlap is 0 of 0.
        [3.0, 3.0, 3.0, 3.0],
        [3.0, 3.0, 3.0, 3.0],
        [f32::NEG_INFINITY, 0.0, f32::INFINITY, 9.0],
    ];
    let scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
    let found =
        suppressed(platform, NonMaxSuppression::new(0.0, 9)?, boxes.as_flattened(), &scores)?;
    check_equal(found, vec![0, 1, 2, 4, 5, 6])
}

fn most(platform: &Platform) -> Result<(), Failed> {
    let scores = [0.1, 0.9, 0.5];
    for (most, wanted) in [(1, vec![1]), (2, vec![1, 2]), (3, vec![1, 2, 0]), (40, vec![1, 2, 0])] {
        let operator = NonMaxSuppression::new(0.5, most)?;
        check_equal(suppressed(platform, operator, &apart(3), &scores)?, wanted)?;
    }
    Ok(())
}

/// Suppresses more boxes than a block has threads. All boxes of one place are equal.
fn many(platform: &Platform) -> Result<(), Failed> {
    let (places, count) = (40, 5000);
    let mut random = Random::new(11);
    let at: Vec<usize> = (0..count).map(|_| random.below(places)).collect();
    let boxes: Vec<f32> = at.iter().flat_map(|at| apart(places)[4 * at..][..4].to_vec()).collect();
    let scores: Vec<f32> = (0..count).map(|_| random.below(1000) as f32).collect();
    let best = |place: usize| {
        let there = (0..count).filter(|i| at[*i] == place);
        there.rev().max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
    };
    let mut wanted: Vec<usize> = (0..places).filter_map(best).collect();
    wanted.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let found = suppressed(platform, NonMaxSuppression::new(0.5, 100)?, &boxes, &scores)?;
    check_equal(found, wanted.into_iter().map(|i| i as u32).collect())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let text = |what: &str, result: Result<()>| check_error(what, result, |_| true);
    let of = |overlap, most| NonMaxSuppression::new(overlap, most).map(drop);
    check_text(&text("an overlap of 2", of(2.0, 1))?, &["`NonMaxSuppression`", "of 2"])?;
    check_text(&text("an overlap of NaN", of(f32::NAN, 1))?, &["NaN"])?;
    check_text(&text("no boxes", of(0.5, 0))?, &["0 boxes"])?;
    check_text(&text("too many boxes", of(0.5, usize::MAX))?, &["4,294,967,295"])?;
    let nan = NonMaxSuppression::new(0.5, 1)?.with_score(f32::NAN).map(drop);
    check_text(&text("a score of NaN", nan)?, &["NaN"])?;
    let shapes: [(&[usize], &[usize]); 4] =
        [(&[2, 4], &[3]), (&[8], &[2]), (&[2, 4], &[2, 1]), (&[4, 2], &[4])];
    for (boxes, scores) in shapes {
        let mut harness = OperatorHarness::new(platform, NonMaxSuppression::new(0.5, 1)?)?;
        harness.push(|ports| &mut ports.boxes, tensor(platform, &[0.0_f32; 8], boxes)?)?;
        let of_scores = vec![0.0_f32; scores.iter().product()];
        harness.push(|ports| &mut ports.scores, tensor(platform, &of_scores, scores)?)?;
        let text = check_error("other shapes", harness.tick(), |_| true)?;
        let both = [format!("{boxes:?}"), format!("{scores:?}")];
        check_text(&text, &["`NonMaxSuppression`", "`boxes`", "`scores`", &both[0], &both[1]])?;
    }
    Ok(())
}
