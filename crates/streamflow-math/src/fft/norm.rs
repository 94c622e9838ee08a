//! By what results are divided.

/// By what the results of transforms are divided. The sums of a transform are those of cuFFT: `n` elements, transformed
/// forwards and then inversely, are `n` times what they were.
///
/// cuFFT divides by nothing, so a kernel of its own does it, in a second operation on the stream of the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// By nothing.
    #[default]
    None,
    /// An inverse transform by the number of its elements; a forward one by nothing. Then the inverse of the forward
    /// transform is what it began with. NumPy's `norm="backward"`.
    ByLength,
    /// Each transform by the square root of the number of its elements. NumPy's `norm="ortho"`.
    Unitary,
}

impl Norm {
    /// The factor of results, for transforms of this many elements. `None` for 1.
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
