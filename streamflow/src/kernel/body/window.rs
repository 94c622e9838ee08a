//! The windows of stencils on the simulator: `cuda/window.cuh` has the same borders.

use std::fmt;

use super::{Elements, Integer, RANK, Value};
use crate::driver::HostArgs;

/// The elements around that of a thread, as an argument of a stencil: a kernel with `#[kernel(stencil(…))]`.
///
/// The body reads an element by its distance from the thread's own, one number for each dimension: `image.at(0, 0)` is the
/// element at the thread's place, and `image.at(-1, 2)` the one in the row above, two columns to the right. A launch passes a
/// tensor or a view of the output's shape, of any element type that a kernel with one body has.
///
/// `reach` has the largest distance of each dimension, and `border` says what an element beyond the edge is:
///
/// | `border =` | elements around `a b c d` | elsewhere called |
/// |---|---|---|
/// | `clamp` | `a a a` **`a b c d`** `d d d` | NumPy `edge`, SciPy `nearest`, OpenCV `BORDER_REPLICATE` |
/// | `zero` | `0 0 0` **`a b c d`** `0 0 0` | NumPy and SciPy `constant`, OpenCV `BORDER_CONSTANT` |
/// | `wrap` | `b c d` **`a b c d`** `a b c` | NumPy `wrap`, SciPy `grid-wrap`, OpenCV `BORDER_WRAP` |
/// | `mirror` | `d c b` **`a b c d`** `c b a` | NumPy `reflect`, SciPy `mirror`, OpenCV `BORDER_REFLECT_101` |
///
/// A dimension may be shorter than the reach. `wrap` and `mirror` then go on in the same way: around `a b`, `wrap` has `b a b a` in
/// both directions, and so has `mirror`; around a single `a`, both have `a`.
///
/// ```
/// use streamflow::kernel::Window;
/// use streamflow::prelude::*;
///
/// /// The size of the gradient of an image, by Sobel's operator.
/// #[kernel(stencil(reach = [1, 1], border = clamp))]
/// fn sobel(out: &mut u8, image: Window<u8>, gain: f32) {
///     let mut x = 0;
///     let mut y = 0;
///     for d in -1..=1 {
///         let weight = if d == 0 { 2 } else { 1 };
///         x += weight * (image.at(d, 1) as i32 - image.at(d, -1) as i32);
///         y += weight * (image.at(1, d) as i32 - image.at(-1, d) as i32);
///     }
///     *out = (gain * ((x * x + y * y) as f32).sqrt()) as u8;
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let stream = platform.default_stream(device(0))?;
/// // An edge from dark to bright.
/// let image = platform.upload(&[0_u8, 0, 9, 9, 0, 0, 9, 9, 0, 0, 9, 9])?.reshape([3, 4])?;
/// let mut out = platform.tensor([3, 4], &stream)?;
/// stream.map::<sobel>((&mut out, &image, 1.0))?;
/// assert_eq!(stream.download_blocking(&out)?, [0, 36, 36, 0, 0, 36, 36, 0, 0, 36, 36, 0]);
/// # Ok(())
/// # }
/// ```
pub struct Window<T> {
    elements: Elements<T>,
    frame: Frame,
}

/// The place of a window in its input.
#[derive(Debug, Clone, Copy)]
struct Frame {
    shape: [usize; RANK],
    strides: [usize; RANK],
    centre: [usize; RANK],
    border: Border,
}

/// The value of an element beyond the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// The nearest element.
    Clamp,
    /// 0.
    Zero,
    /// The elements from the other end on.
    Wrap,
    /// The elements back from the edge, the last one not repeated.
    Mirror,
}

impl Border {
    /// The place, in a dimension of this length, of an index that is not in it. `None` for the value 0.
    fn place(self, at: isize, len: usize) -> Option<usize> {
        // A length is at least 1 where a thread has a window, and at most `isize::MAX`, as that of memory.
        let wrapped = |period: usize| at.rem_euclid(period.max(1) as isize) as usize;
        match self {
            Self::Clamp => Some(if at < 0 { 0 } else { len - 1 }),
            Self::Zero => None,
            Self::Wrap => Some(wrapped(len)),
            Self::Mirror => {
                let period = (2 * len).saturating_sub(2);
                let place = wrapped(period);
                Some(if place < len { place } else { period - place })
            }
        }
    }
}

impl Frame {
    /// The number of elements from the first one to that at a distance from the centre. `None` for the value 0.
    // Not generic and without iterators, which take most of a stencil's time in a build without optimization.
    fn offset(&self, by: &[isize; RANK]) -> Option<usize> {
        let (mut offset, mut dim) = (0, 0);
        while dim < RANK {
            let (len, at) = (self.shape[dim], self.centre[dim].wrapping_add_signed(by[dim]));
            // An index below 0 is larger than any length here.
            let place = if at < len { at } else { self.border.place(at as isize, len)? };
            offset += place * self.strides[dim];
            dim += 1;
        }
        Some(offset)
    }
}

impl<T> Window<T> {
    /// The window around the first element of the argument whose address is parameter `index`. The shape is the first parameters of
    /// the launch.
    ///
    /// # Safety
    /// While the window, or one that is made of it, is used, the argument has elements of this type and of the launch's shape.
    pub unsafe fn of(args: &HostArgs<'_>, index: usize, border: Border) -> Self {
        let shape = std::array::from_fn(|dim| args.params[dim].get::<u64>() as usize);
        let elements = Elements::of(args, index);
        let frame = Frame { shape, strides: elements.strides, centre: [0; RANK], border };
        Self { elements, frame }
    }

    /// The window around an element.
    ///
    /// # Safety
    /// The element is one of the argument.
    #[inline(always)]
    pub unsafe fn around(&self, centre: [usize; RANK]) -> Self {
        Self { elements: self.elements, frame: Frame { centre, ..self.frame } }
    }
}

impl<T> fmt::Debug for Window<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)
    }
}

/// The element at a distance from a window's centre: `window.at(…)` of a kernel.
#[inline(always)]
pub fn window_at<T: Value>(window: &Window<T>, by: [isize; RANK]) -> T {
    match window.frame.offset(&by) {
        // SAFETY: each place is within the shape, which is that of the argument's elements, as the maker of the window vouches.
        Some(offset) => unsafe { *window.elements.first.add(offset) },
        None => T::ZERO,
    }
}

/// The variable of a loop as a distance. The macro has checked that it has 32 bits.
#[inline(always)]
pub fn distance<T: Integer>(variable: T) -> isize {
    variable.amount() as i32 as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_has_the_elements_of_its_table() {
        let around = |border: Border, len: usize| -> Vec<Option<usize>> {
            let beyond = (-4..0).chain(len as isize..len as isize + 4);
            beyond.map(|at| border.place(at, len)).collect()
        };
        let all = |places: [usize; 8]| places.map(Some).to_vec();
        assert_eq!(around(Border::Clamp, 4), all([0, 0, 0, 0, 3, 3, 3, 3]));
        assert_eq!(around(Border::Zero, 4), [None; 8]);
        assert_eq!(around(Border::Wrap, 4), all([0, 1, 2, 3, 0, 1, 2, 3]));
        assert_eq!(around(Border::Mirror, 4), all([2, 3, 2, 1, 2, 1, 0, 1]));
        assert_eq!(around(Border::Wrap, 2), all([0, 1, 0, 1, 0, 1, 0, 1]));
        assert_eq!(around(Border::Mirror, 2), all([0, 1, 0, 1, 0, 1, 0, 1]));
        for border in [Border::Clamp, Border::Wrap, Border::Mirror] {
            assert_eq!(around(border, 1), all([0; 8]));
        }
    }
}
