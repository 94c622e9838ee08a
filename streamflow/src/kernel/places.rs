//! The code that a launch of `map` runs, by the strides of its arguments, and the grid of that code.

use super::body::RANK;
use super::{Grid, ParamInfo, ParamKind};

/// The threads of a block. More make a kernel that is limited by memory slower.
const THREADS: usize = 256;

/// The threads of a block in two dimensions. Each row has the width of a warp.
const TILE: [usize; 2] = [32, 8];

/// The fewest elements of a launch whose threads have several: all processors of a device have work with a quarter of the threads.
const MANY: u64 = 1 << 20;

/// How the code of a stencil divides its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// The number of dimensions.
    pub rank: usize,
    /// The elements of a block along the last two dimensions.
    pub elements: [u64; 2],
}

/// The code of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// A single dimension, without gaps.
    Linear,
    /// Fewer than 2³¹ elements at places below 2³², the rows of each argument without gaps. A thread has elements by their number.
    Flat,
    /// Any strides. A thread has elements by the last two coordinates.
    Strided,
    /// A stencil's tiles, and whether outputs and windows have no gaps in their last dimension.
    Tiled(Tiles, bool),
}

impl Code {
    /// The code for arguments with these strides.
    pub(super) fn of(shape: &[u64; RANK], strides: &[[u64; RANK]]) -> Self {
        let [outer @ .., length] = shape;
        let last = |steps: &[u64; RANK]| steps[RANK - 1];
        if outer.iter().all(|len| *len == 1)
            && (*length == 1 || strides.iter().all(|steps| last(steps) == 1))
        {
            return Self::Linear;
        }
        let end = |steps: &[u64; RANK]| {
            let each = shape.iter().zip(steps);
            each.fold(0_u64, |end, (len, step)| {
                end.saturating_add(len.saturating_sub(1).saturating_mul(*step))
            })
        };
        let count = shape.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
        let is_flat =
            |steps: &[u64; RANK]| (*length == 1 || last(steps) <= 1) && end(steps) < 1 << 32;
        if count < 1 << 31 && strides.iter().all(is_flat) { Self::Flat } else { Self::Strided }
    }

    /// The lengths as this code takes them, if it does.
    pub(super) fn lengths(self, shape: &[u64; RANK]) -> Option<[u64; RANK]> {
        match self {
            Self::Linear => None,
            Self::Flat => Some(shape.map(packed)),
            Self::Strided | Self::Tiled(..) => Some(*shape),
        }
    }

    /// The grid for elements of this shape. The code loops, so a grid of fewer threads than elements is right.
    pub(super) fn grid(self, shape: &[u64; RANK], per_thread: usize) -> Grid {
        let count = shape.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
        let per_thread = if count < MANY { 1 } else { per_thread };
        let [a, b, c, d] = shape.map(|len| len as usize);
        match self {
            Self::Linear | Self::Flat => {
                Grid::from((count as usize).div_ceil(per_thread)).threads(THREADS)
            }
            Self::Strided => {
                let rows = c.div_ceil(per_thread).min(65_535);
                Grid::from([d, rows, a.saturating_mul(b).min(65_535)]).threads(TILE)
            }
            Self::Tiled(Tiles { elements, .. }, _) => {
                let [y, x] = elements.map(|len| len as usize);
                let planes = a.saturating_mul(b);
                Grid::blocks([d.div_ceil(x), c.div_ceil(y).min(65_535), planes.min(65_535)])
            }
        }
    }
}

/// A length below 2³¹ in the lower half, and in the upper half the factor by which the device divides by it: for a number `n` below
/// 2³¹, `((n * factor >> 32) + n) >> shift` is `n / length`, where `1 << shift` is the next power of two (Granlund and
/// Montgomery, *Division by invariant integers using multiplication*, PLDI 1994, figure 4.1).
pub(super) fn packed(length: u64) -> u64 {
    let power = length.max(1).next_power_of_two();
    let factor = ((power - length.max(1)) << 32) / length.max(1) + 1;
    factor << 32 | length
}

/// The lengths of a launch's dimensions, the first parameter of the codes for places.
pub(super) const SHAPE: ParamInfo =
    ParamInfo { name: "streamflow_shape", cuda: "unsigned long long", kind: ParamKind::Shape };

/// The parameters of the codes for places, from those of the code for arguments without gaps: each slice becomes elements with
/// strides. `N` is one more than the number of parameters.
pub const fn in_places<const N: usize>(linear: &[ParamInfo]) -> [ParamInfo; N] {
    let mut all = [SHAPE; N];
    let mut at = 1;
    while at < N {
        let ParamInfo { name, cuda, kind } = linear[at - 1];
        let kind = match kind {
            ParamKind::Slice => ParamKind::Elements,
            ParamKind::SliceMut => ParamKind::ElementsMut,
            other => other,
        };
        all[at] = ParamInfo { name, cuda, kind };
        at += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The division as `cuda/body.cuh` makes it.
    fn divided(number: u64, packed: u64) -> u64 {
        let (length, factor) = (packed & 0xffff_ffff, packed >> 32);
        let shift = 64 - (length - 1).leading_zeros();
        (((number * factor) >> 32) + number) >> shift
    }

    #[test]
    fn a_packed_length_divides_each_number() {
        let edges = |n: u64| n.saturating_sub(2).max(1)..(n + 3).min(1 << 31);
        let lengths = (0..31).flat_map(|shift| edges(1 << shift)).chain([3, 7, 10, 641, 65_535]);
        for length in lengths.clone() {
            let near = (0..31).flat_map(|shift| edges(1 << shift));
            let multiples = (1..40).map(|k| k * ((1 << 31) / 40) / length * length);
            let numbers =
                near.chain(multiples.flat_map(edges)).chain([0]).filter(|number| *number < 1 << 31);
            for number in numbers {
                assert_eq!(divided(number, packed(length)), number / length, "{number} / {length}");
            }
        }
    }

    #[test]
    fn each_code_has_its_strides() {
        let code = |shape: [u64; 4], strides: [u64; 4]| Code::of(&shape, &[strides, [0, 0, 0, 1]]);
        assert_eq!(code([1, 1, 1, 1 << 40], [0, 0, 0, 1]), Code::Linear);
        assert_eq!(code([1, 1, 1, 1], [0, 0, 0, 9]), Code::Linear);
        assert_eq!(code([1, 1, 1, 5], [0, 0, 0, 0]), Code::Flat);
        assert_eq!(code([1, 1, 5, 3], [0, 0, 4, 1]), Code::Flat);
        assert_eq!(code([1, 1, 5, 3], [0, 0, 1, 5]), Code::Strided);
        assert_eq!(code([1, 1, 1 << 16, 1 << 14], [0, 0, 1 << 16, 1]), Code::Flat);
        // The last element is at 2³², and then there are 2³¹ elements.
        assert_eq!(code([1, 1, (1 << 16) + 1, 1], [0, 0, 1 << 16, 1]), Code::Strided);
        assert_eq!(code([1, 1, 1 << 16, 1 << 15], [0, 0, 0, 1]), Code::Strided);
    }
}
