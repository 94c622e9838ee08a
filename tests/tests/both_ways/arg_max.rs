//! Arg-max: the class of the largest score of each pixel, from scores of the shape [classes, rows, cols].

use streamflow::kernel::reductions::ArgMax;
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check_equal};

use super::{check_control, noise};

// With one body:

fn once(
    platform: &Platform,
    s: &CudaStream,
    labels: &mut Tensor<u8>,
    scores: &Tensor<f32>,
) -> Result<()> {
    let mut classes = platform.tensor::<u64>(labels.shape(), s)?;
    s.reduce_axis::<ArgMax<f32>>(&mut classes, scores, 0)?;
    Ok(s.evaluate(labels, expr!(classes as u8))?)
}

// With two bodies:

/// The class of the largest score of each pixel.
#[kernel(requires(scores.len().is_multiple_of(labels.len())), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < labels_len) {
        unsigned long long best = i;
        for (unsigned long long at = i + labels_len; at < scores_len; at += labels_len)
            if (scores[at] > scores[best]) best = at;
        labels[i] = best / labels_len;
    }
")]
fn arg_max_twice(labels: &mut [u8], scores: &[f32]) {
    let pixels = labels.len();
    for (i, label) in labels.iter_mut().enumerate() {
        let mut best = i;
        for at in (i + pixels..scores.len()).step_by(pixels) {
            if scores[at] > scores[best] {
                best = at;
            }
        }
        *label = (best / pixels) as u8;
    }
}

fn twice(s: &CudaStream, labels: &mut Tensor<u8>, scores: &Tensor<f32>) -> Result<()> {
    Ok(s.launch::<arg_max_twice>(labels.len(), (labels, scores))?)
}

// The test of both:

const CLASSES: usize = 21;
const SHAPE: [usize; 2] = [17, 29];
const PIXELS: usize = SHAPE[0] * SHAPE[1];

pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values = noise(6, CLASSES * PIXELS);
    let scores = uploaded(platform, &values, &s)?.reshape([CLASSES, SHAPE[0], SHAPE[1]])?;
    let poisoned = || uploaded(platform, &[0xee_u8; PIXELS], &s)?.reshape(SHAPE);
    let (mut labels, mut other) = (poisoned()?, poisoned()?);
    once(platform, &s, &mut labels, &scores)?;
    twice(&s, &mut other, &scores)?;
    let (found, wanted) = (s.download_blocking(&labels)?, s.download_blocking(&other)?);
    check_equal(found.clone(), wanted.clone())?;
    let plain = |pixel: usize| {
        let classes = (0..CLASSES)
            .max_by(|a, b| values[a * PIXELS + pixel].total_cmp(&values[b * PIXELS + pixel]));
        classes.unwrap_or_default() as u8
    };
    check_equal(found, (0..PIXELS).map(plain).collect())?;
    let negative: Vec<f32> = values.iter().map(|x| -x).collect();
    let scores = uploaded(platform, &negative, &s)?.reshape([CLASSES, SHAPE[0], SHAPE[1]])?;
    once(platform, &s, &mut labels, &scores)?;
    check_control(&s.download_blocking(&labels)?, &wanted)
}
