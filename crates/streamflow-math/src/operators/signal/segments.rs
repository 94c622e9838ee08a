//! The segments of signals that `Stft` and `Istft` have in common.

use std::f64::consts::TAU;
use std::fmt;

use streamflow::{Failure, Result, Table};

use crate::signal::checks;

/// The window, the distance of two segments, and where the first one begins.
pub(super) struct Segments {
    pub(super) window: Table<f32>,
    pub(super) hop: usize,
    /// How many samples before the signal the first segment begins.
    pub(super) before: usize,
}

impl Segments {
    /// Checks a window and a hop. The segments begin before the signal.
    pub(super) fn new(operator: &str, window: Vec<f32>, hop: usize) -> Result<Self> {
        checks::finite(operator, "weights of its window", &window)?;
        let len = window.len();
        if hop == 0 || hop > len {
            return Err(Failure::msg(format!(
                "`{operator}` has a hop of {hop} samples and a window of {len}; take a hop from 1 to {len}"
            )));
        }
        Ok(Self { window: Table::new(window), hop, before: len / 2 })
    }

    pub(super) fn len(&self) -> usize {
        self.window.values().len()
    }

    pub(super) fn is_padded(&self) -> bool {
        self.before > 0
    }

    /// Returns how many segments a signal has.
    pub(super) fn of_signal(&self, len: usize) -> usize {
        match (len + 2 * self.before).checked_sub(self.len()) {
            None => 0,
            Some(_) if len == 0 => 0,
            Some(more) if self.is_padded() => more.div_ceil(self.hop) + 1,
            Some(more) => more / self.hop + 1,
        }
    }

    /// Returns how many samples the segments have, without those before and after the signal; `None` if there are too many.
    pub(super) fn samples(&self, segments: usize) -> Option<usize> {
        let Some(last) = segments.checked_sub(1) else { return Some(0) };
        last.checked_mul(self.hop)?.checked_add(self.len())?.checked_sub(2 * self.before)
    }
}

/// Returns a Hann window, 0.5 - 0.5 cos(2πi / len), as SciPy's `get_window("hann", len)`.
pub(super) fn hann(operator: &str, len: usize) -> Result<Vec<f32>> {
    if len > 1 << 24 {
        return Err(Failure::msg(format!(
            "`{operator}` has a Hann window of {len} samples; take at most 2^24"
        )));
    }
    let angle = |i: usize| TAU * i as f64 / len as f64;
    Ok((0..len).map(|i| (0.5 - 0.5 * angle(i).cos()) as f32).collect())
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments")
            .field("window", &self.window)
            .field("hop", &self.hop)
            .field("padded", &self.is_padded())
            .finish()
    }
}
