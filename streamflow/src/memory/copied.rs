//! The traits of the operands of copies: device memory as the source and as the target.

use std::sync::Arc;

use super::{Buffer, DeviceSlice, Element, Shape, Shared, Tensor, TensorView, TensorViewMut};
use super::{View, ViewMut};

/// The type of a parameter of trait methods on whose results unsafe code relies. Code of other crates can't name this type,
/// and so can't override these methods.
#[derive(Debug, Clone, Copy)]
pub struct Trusted(());

pub(super) const TRUSTED: Trusted = Trusted(());

/// Device memory that copies read: the source of [`CudaStream::copy`](crate::CudaStream::copy),
/// [`CudaStream::download`](crate::CudaStream::download) and similar methods.
///
/// The operand may have gaps, as a [`PitchedTensor`](super::PitchedTensor), or a [`TensorView`] of a part of a tensor.
/// A row of such an operand, which is the elements along the last dimension, is copied as a whole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory of a device that can be copied",
    label = "not a tensor, a buffer or a view",
    note = "tensors, pitched tensors, buffers, views, and `Shared` ones of them can be copied; a message that was only received is opened first: `let (data, stream) = input.receive_cuda_stream(cx)?;`"
)]
pub trait CopySource<T: Element> {
    /// The elements to copy.
    fn copy_source(&self) -> TensorView<'_, T>;

    /// The elements, with their shape, or with `None` in its place if the operand is a slice. The result is `None` if there
    /// may be gaps between the elements. Makes no view.
    #[doc(hidden)]
    #[inline]
    fn dense(&self, trusted: Trusted) -> Option<(&DeviceSlice<T>, Option<&Shape>)> {
        let _ = trusted;
        None
    }

    /// The elements, if the operand is a whole tensor of this shape, so that its layout follows from the shape. Makes no view.
    #[doc(hidden)]
    #[inline]
    fn whole(&self, shape: &Shape, trusted: Trusted) -> Option<&DeviceSlice<T>> {
        let _ = (shape, trusted);
        None
    }
}

/// Device memory that copies and fills write: the target of [`CudaStream::copy`](crate::CudaStream::copy),
/// [`CudaStream::upload`](crate::CudaStream::upload) and similar methods. The target may have gaps, as a [`CopySource`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory of a device that a copy can write",
    label = "not a tensor, a buffer or a view that is written",
    note = "tensors, pitched tensors, buffers, `ViewMut` and `TensorViewMut` can be written"
)]
pub trait CopyTarget<T: Element> {
    /// The elements to write.
    fn copy_target(&mut self) -> TensorViewMut<'_, T>;

    /// [`CopySource::whole`] for an operand that is written.
    #[doc(hidden)]
    #[inline]
    fn whole_mut(&mut self, shape: &Shape, trusted: Trusted) -> Option<&mut DeviceSlice<T>> {
        let _ = (shape, trusted);
        None
    }
}

/// Methods that find an operand whose layout follows from its shape.
impl Shape {
    /// Returns the elements of an operand that is a whole tensor of this shape. This costs only a comparison of shapes.
    /// Returns `None` for any other operand; the caller then uses [`copy_source`](CopySource::copy_source).
    #[inline]
    pub fn whole<'a, T: Element>(
        &self,
        operand: &'a (impl CopySource<T> + ?Sized),
    ) -> Option<&'a DeviceSlice<T>> {
        operand.whole(self, TRUSTED)
    }

    /// [`whole`](Self::whole) for an operand that is written.
    #[inline]
    pub fn whole_mut<'a, T: Element>(
        &self,
        operand: &'a mut (impl CopyTarget<T> + ?Sized),
    ) -> Option<&'a mut DeviceSlice<T>> {
        operand.whole_mut(self, TRUSTED)
    }
}

// The implementations are `do_not_recommend`, because rustc would list all of them in an error. The `note`s of the traits
// name the types already.
#[diagnostic::do_not_recommend]
impl<T: Element> CopySource<T> for DeviceSlice<T> {
    fn copy_source(&self) -> TensorView<'_, T> {
        let shape = Shape::of_slice(self.len());
        TensorView::new(self, shape, shape.dense_strides())
    }

    #[inline]
    fn dense(&self, _: Trusted) -> Option<(&DeviceSlice<T>, Option<&Shape>)> {
        Some((self, None))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopyTarget<T> for DeviceSlice<T> {
    fn copy_target(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.copy_source())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopySource<T> for Tensor<T> {
    fn copy_source(&self) -> TensorView<'_, T> {
        self.view()
    }

    #[inline]
    fn dense(&self, _: Trusted) -> Option<(&DeviceSlice<T>, Option<&Shape>)> {
        Some((&**self, Some(self.dims())))
    }

    #[inline]
    fn whole(&self, shape: &Shape, _: Trusted) -> Option<&DeviceSlice<T>> {
        (self.dims() == shape).then_some(&**self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopyTarget<T> for Tensor<T> {
    fn copy_target(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }

    #[inline]
    fn whole_mut(&mut self, shape: &Shape, _: Trusted) -> Option<&mut DeviceSlice<T>> {
        if self.dims() == shape { Some(&mut **self) } else { None }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopySource<T> for TensorView<'_, T> {
    fn copy_source(&self) -> TensorView<'_, T> {
        *self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopyTarget<T> for TensorViewMut<'_, T> {
    fn copy_target(&mut self) -> TensorViewMut<'_, T> {
        self.reborrow()
    }
}

macro_rules! through_pointers {
    ($([$($size:tt)*] $pointer:ty),*) => {$(
                #[diagnostic::do_not_recommend]
                impl<T: Element, S: CopySource<T> $($size)*> CopySource<T> for $pointer {
            fn copy_source(&self) -> TensorView<'_, T> {
                (**self).copy_source()
            }

            #[inline]
            fn dense(&self, trusted: Trusted) -> Option<(&DeviceSlice<T>, Option<&Shape>)> {
                (**self).dense(trusted)
            }

            #[inline]
            fn whole(&self, shape: &Shape, trusted: Trusted) -> Option<&DeviceSlice<T>> {
                (**self).whole(shape, trusted)
            }
        }
    )*};
}
// `Shared` has the impl, because an emitted message and a message with several readers are `Shared`.
through_pointers!([] Shared<S>, [+ ?Sized] Arc<S>, [+ ?Sized] Box<S>, [+ ?Sized] &S);

macro_rules! through_unique_pointers {
    ($($pointer:ty),*) => {$(
                #[diagnostic::do_not_recommend]
                impl<T: Element, S: CopyTarget<T> + ?Sized> CopyTarget<T> for $pointer {
            fn copy_target(&mut self) -> TensorViewMut<'_, T> {
                (**self).copy_target()
            }

            #[inline]
            fn whole_mut(&mut self, shape: &Shape, trusted: Trusted) -> Option<&mut DeviceSlice<T>> {
                (**self).whole_mut(shape, trusted)
            }
        }
    )*};
}
through_unique_pointers!(&mut S, Box<S>);

macro_rules! slices {
    ($($ty:ty: $($target:ident)?),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Element> CopySource<T> for $ty {
            fn copy_source(&self) -> TensorView<'_, T> {
                (**self).copy_source()
            }

            #[inline]
            fn dense(&self, trusted: Trusted) -> Option<(&DeviceSlice<T>, Option<&Shape>)> {
                (**self).dense(trusted)
            }
        }

        $(#[diagnostic::do_not_recommend]
        impl<T: Element> $target<T> for $ty {
            fn copy_target(&mut self) -> TensorViewMut<'_, T> {
                (**self).copy_target()
            }
        })?
    )*};
}
// With the impl for `Buffer`, a buffer can be passed to a copy directly, like a tensor.
slices!(Buffer<T>: CopyTarget, View<'_, T>:, ViewMut<'_, T>: CopyTarget);
