//! The normalisation of the results of transforms.

/// The number by which the results of transforms are divided. The sums of a transform are those of cuFFT: `n` elements that are
/// transformed forwards and then inversely become `n` times as large.
///
/// cuFFT does not divide, so a separate kernel divides, in a second operation on the stream of the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// Results are not divided.
    #[default]
    None,
    /// Divides the results of an inverse transform by the number of its elements, and does not divide the results of a forward
    /// transform. So the inverse of a forward transform gives the original elements. This is NumPy's `norm="backward"`.
    ByLength,
    /// Divides the results of each transform by the square root of the number of its elements. This is NumPy's `norm="ortho"`.
    Unitary,
}

impl Norm {
    /// Returns the factor for the results of transforms of `count` elements, or `None` if the factor is 1.
    pub(super) fn factor(self, count: f64, is_inverse: bool) -> Option<f64> {
        let factor = match self {
            Self::None => 1.0,
            Self::ByLength if is_inverse => 1.0 / count,
            Self::ByLength => 1.0,
            Self::Unitary => 1.0 / count.sqrt(),
        };
        (factor != 1.0).then_some(factor)
    }
}
