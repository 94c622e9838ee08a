//! Positions beyond the edge of an image, and the weights of interpolation.

use streamflow::kernel_fn;

/// The samples beyond the edge of an image. The comments show the row `abcd` with three samples beyond each end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Border {
    /// These numbers, one a channel, as samples are: `kkk abcd kkk`.
    Constant([f32; 4]),
    /// The nearest sample: `aaa abcd ddd` (OpenCV's `BORDER_REPLICATE`).
    Nearest,
    /// The samples back from the edge, without the last one twice: `dcb abcd cba` (OpenCV's `BORDER_REFLECT_101`).
    #[default]
    Mirror,
    /// The samples back from the edge, with the last one twice: `cba abcd dcb` (OpenCV's `BORDER_REFLECT`).
    Reflect,
    /// The samples from the other end on: `bcd abcd abc` (OpenCV's `BORDER_WRAP`).
    Wrap,
}

impl Border {
    /// The number of the border in kernels.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Constant(_) => 0,
            Self::Nearest => 1,
            Self::Mirror => 2,
            Self::Reflect => 3,
            Self::Wrap => 4,
        }
    }

    /// The numbers of a constant border; 0 for another one.
    pub(crate) fn constant(self) -> [f32; 4] {
        if let Self::Constant(numbers) = self { numbers } else { [0.0; 4] }
    }
}

/// How samples between those of an image are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interpolation {
    /// The nearest sample.
    Nearest,
    /// Linear in both directions, between 2 × 2 samples.
    #[default]
    Linear,
    /// Cubic in both directions, between 4 × 4 samples, with the parameter a = -0.75 as in OpenCV.
    Cubic,
}

/// The place within `0..len` of a sample at `at`; -1 for a sample of a constant border.
#[kernel_fn]
pub(crate) fn place(at: i64, len: i64, border: u32) -> i64 {
    if at >= 0 && at < len {
        at
    } else if border == 0 || len == 0 {
        -1
    } else if border == 1 {
        at.clamp(0, len - 1)
    } else if border == 2 {
        // A mirrored row has a period of twice its length less two.
        let period = if len == 1 { 1 } else { 2 * len - 2 };
        let within = at.rem_euclid(period);
        if within < len { within } else { period - within }
    } else if border == 3 {
        let within = at.rem_euclid(2 * len);
        if within < len { within } else { 2 * len - 1 - within }
    } else {
        at.rem_euclid(len)
    }
}

/// The weight of a sample at this distance: 1 for linear interpolation, 2 for cubic one with this parameter.
#[kernel_fn]
pub(crate) fn weight(kind: u32, distance: f32, a: f32) -> f32 {
    let d = distance.abs();
    if kind == 1 {
        (1.0 - d).max(0.0)
    } else if d < 1.0 {
        ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    } else if d < 2.0 {
        ((d - 5.0) * d + 8.0) * d * a - 4.0 * a
    } else {
        0.0
    }
}

/// The number of a sample: rounded and limited if samples are whole.
#[kernel_fn]
pub(crate) fn rounded(value: f32, whole: bool, limit: f32) -> f32 {
    if whole { value.round().clamp(0.0, limit) } else { value }
}
