//! The normalisation of results.

/// The normalisation: the number that the results of transforms are divided by. Without a division the sums are
/// cuFFT's: `n` elements that are transformed forwards and then inversely become `n` times as large.
///
/// cuFFT does not divide, so a separate kernel divides, in a second operation on the stream of the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// Results are not divided.
    #[default]
    None,
    /// Divides the results of an inverse transform by the number of its elements, and does not divide those of a
    /// forward transform. The inverse of the forward transform then gives the original elements. NumPy's
    /// `norm="backward"`.
    ByLength,
    /// Divides the results of each transform by the square root of the number of its elements. NumPy's `norm="ortho"`.
    Unitary,
}

impl Norm {
    /// The factor of results, for transforms of this many elements; `None` for the factor 1.
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
