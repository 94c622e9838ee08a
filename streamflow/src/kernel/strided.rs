//! Strided views in the Rust bodies of kernels.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A view of `N` dimensions in a kernel's Rust body, as `[T]` is a slice there. A kernel takes `&Strided<T, N>` and `&mut
/// Strided<T, N>`, and a launch passes a [`TensorView`](crate::memory::TensorView) or a
/// [`TensorViewMut`](crate::memory::TensorViewMut) of as many dimensions.
///
/// ```
/// use streamflow::kernel::Strided;
/// use streamflow::prelude::*;
///
/// /// out[y, x] = scale * image[y, x]
/// #[kernel(unsafe cuda = "
///     unsigned long long x = thread_index(), y = thread_index_y();
///     if (y < out.shape(0) && x < out.shape(1)) out(y, x) = scale * image(y, x);
/// ", requires(out.shape() == image.shape()))]
/// fn scaled(out: &mut Strided<f32, 2>, image: &Strided<f32, 2>, scale: f32) {
///     for at in out.indices() {
///         out[at] = scale * image[at];
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
/// let image = platform.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?.reshape([2, 3])?;
/// let mut out = platform.pitched_tensor([3, 2], &stream)?;
/// stream.launch::<scaled>([2, 3], (out.view_mut(), image.view().transpose(), 10.0))?;
/// # let row = out.row(1).expect("it has three");
/// # assert_eq!(stream.download_blocking::<f32>(&row)?, [20.0, 50.0]);
/// # Ok(())
/// # }
/// ```
pub struct Strided<T, const N: usize> {
    first: *mut T,
    shape: [usize; N],
    strides: [usize; N],
    _items: PhantomData<T>,
}

impl<T, const N: usize> Strided<T, N> {
    /// Creates the view from the parameters of a launch.
    ///
    /// # Safety
    /// While the view is used, each address that the shape and the strides lead to holds an initialised `T` that no other code
    /// writes. If the view is used as `&mut`, no other code reads these values, either.
    pub(super) unsafe fn new(first: *mut T, shape: [usize; N], strides: [usize; N]) -> Self {
        Self { first, shape, strides, _items: PhantomData }
    }

    /// The length of each dimension, outermost first.
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// How far apart, in elements, neighbours in each dimension are.
    pub fn strides(&self) -> [usize; N] {
        self.strides
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at these indices. `None` if an index is not less than the length of its dimension.
    pub fn get(&self, at: [usize; N]) -> Option<&T> {
        let place = self.place(at)?;
        // SAFETY: the caller of `new` guarantees that the element is valid. While `self` is borrowed, safe code can't write the
        // element.
        Some(unsafe { &*place })
    }

    /// Returns the element at these indices for writing. `None` if an index is not less than the length of its dimension.
    pub fn get_mut(&mut self, at: [usize; N]) -> Option<&mut T> {
        let place = self.place(at)?;
        // SAFETY: the caller of `new` guarantees that the element is valid. `self` is borrowed mutably, so no other borrow of an
        // element exists.
        Some(unsafe { &mut *place })
    }

    /// Returns all indices, the last dimension varying fastest. The iterator does not borrow the view, so a loop over it
    /// can write elements.
    pub fn indices(&self) -> impl Iterator<Item = [usize; N]> + use<T, N> {
        let shape = self.shape;
        (0..self.len()).map(move |number| {
            let mut rest = number;
            let mut at = [0; N];
            for (index, len) in at.iter_mut().zip(shape).rev() {
                (*index, rest) = (rest % len, rest / len);
            }
            at
        })
    }

    fn place(&self, at: [usize; N]) -> Option<*mut T> {
        let within = at.iter().zip(self.shape).all(|(index, len)| *index < len);
        let offset = || at.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        // SAFETY: the indices are within the shape, so the offset leads to an element within the view's memory.
        within.then(|| unsafe { self.first.add(offset()) })
    }

    #[cold]
    #[track_caller]
    #[expect(clippy::panic, reason = "as an index of a slice")]
    fn beyond(&self, at: [usize; N]) -> ! {
        panic!("the index is {at:?}, but the shape is {:?}", self.shape)
    }
}

impl<T, const N: usize> Index<[usize; N]> for Strided<T, N> {
    type Output = T;

    #[track_caller]
    fn index(&self, at: [usize; N]) -> &T {
        match self.get(at) {
            Some(element) => element,
            None => self.beyond(at),
        }
    }
}

impl<T, const N: usize> IndexMut<[usize; N]> for Strided<T, N> {
    #[track_caller]
    fn index_mut(&mut self, at: [usize; N]) -> &mut T {
        match self.place(at) {
            // SAFETY: as in `get_mut`.
            Some(place) => unsafe { &mut *place },
            None => self.beyond(at),
        }
    }
}

impl<T, const N: usize> fmt::Debug for Strided<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strided{:?} strides {:?}", self.shape, self.strides)
    }
}
