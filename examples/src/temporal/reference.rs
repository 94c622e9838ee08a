//! The filter computed in `f64`, from its definition.

use super::FRAMES;

/// The maximum distance of a value from [`reference()`]. Values are below 1, so the error of each of the at most ten
/// roundings is at most half an ε, and their sum is below this.
pub const TOLERANCE: f64 = 8.0 * f32::EPSILON as f64;

/// Returns the new weight that is sent with frame `number`; `None` if this frame has none. Every fifth frame has one.
pub fn weight_of(number: u64) -> Option<f32> {
    const WEIGHTS: [f32; 4] = [0.5, 0.75, 0.0, 1.0];
    number.is_multiple_of(5).then(|| WEIGHTS[(number / 5 % WEIGHTS.len() as u64) as usize])
}

/// Returns frame `tick` after the filter, with this weight of the mean. Frames have `len` values.
pub fn reference(len: usize, tick: u64, weight: f32) -> Vec<f64> {
    let weight = f64::from(weight);
    let first = (tick + 1).saturating_sub(FRAMES as u64);
    let count = (tick + 1 - first) as f64;
    (0..len)
        .map(|i| {
            let mean = (first..=tick).map(|number| value(i, number)).sum::<f64>() / count;
            (1.0 - weight) * value(i, tick) + weight * mean
        })
        .collect()
}

/// Returns the value with index `i` of frame `number`.
fn value(i: usize, number: u64) -> f64 {
    let modulus = 1_u64 << 32;
    let mut h = (i as u64 % modulus * 2_654_435_769 + number % modulus * 40_503) % modulus;
    h ^= h >> 15;
    h = h * 739_982_445 % modulus;
    h ^= h >> 12;
    (h >> 8) as f64 / (1_u64 << 24) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::pattern_on_host;

    #[test]
    fn frames_match_their_definition_and_differ() {
        let mut frames = [[0.0_f32; 50]; 3];
        for (number, frame) in frames.iter_mut().enumerate() {
            pattern_on_host(frame, number as u32);
            for (i, x) in frame.iter().enumerate() {
                assert_eq!(f64::from(*x), value(i, number as u64));
            }
        }
        assert!(frames[0] != frames[1] && frames[1] != frames[2]);
    }

    #[test]
    fn a_weight_of_zero_keeps_the_frame() {
        let kept = reference(9, 7, 0.0);
        assert!(kept.iter().enumerate().all(|(i, &x)| x == value(i, 7)));
        // The mean of the first frame is the frame itself.
        let first = reference(9, 0, 0.75);
        assert!(first.iter().enumerate().all(|(i, &x)| (x - value(i, 0)).abs() < 1e-15));
    }

    #[test]
    fn the_weight_changes_with_every_fifth_frame() {
        let changes: Vec<_> = (0..20).filter_map(weight_of).collect();
        assert_eq!(changes, [0.5, 0.75, 0.0, 1.0]);
        assert_eq!(weight_of(1), None);
    }
}
