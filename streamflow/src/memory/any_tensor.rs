//! Tensors with an element type that is known only at run time.

use std::any::Any;
use std::fmt::Debug;

use super::{Buffer, DeviceSlice, Element, PitchedTensor, Shape, Strides, Tensor, View, ViewMut};
use crate::driver::DeviceId;

mod sealed {
    /// Restricts [`AnyTensor`](super::AnyTensor) to streamflow's types, because streamflow relies on the results of its methods.
    pub trait Sealed {}
}

/// A [`Tensor`], a [`PitchedTensor`] or a [`Buffer`] of any element type: for code that learns the type at run time,
/// for example a binding to another language.
///
/// Work that uses the memory as bytes is ordered like other work. `downcast_ref` returns the tensor with its
/// element type:
/// ```
/// # use streamflow::memory::AnyTensor;
/// # use streamflow::prelude::*;
/// fn floats(tensor: &dyn AnyTensor) -> Option<&Tensor<f32>> {
///     tensor.downcast_ref()
/// }
/// ```
pub trait AnyTensor: Any + Send + Sync + Debug + sealed::Sealed {
    /// The name of the elements' type: [`Element::DTYPE`].
    fn dtype(&self) -> &'static str;

    /// The size of an element in bytes.
    fn item_size(&self) -> usize;

    /// The dimensions, outermost first; one for a buffer.
    fn shape(&self) -> &[usize];

    /// The distances, in elements, between neighbours in each dimension.
    fn strides(&self) -> Strides;

    /// The device of the memory.
    fn device(&self) -> DeviceId;

    /// All memory of the tensor, padding included, as bytes: for [`read_raw`](crate::stream::CudaStream::read_raw) and for
    /// copies.
    fn bytes(&self) -> View<'_, u8>;

    /// All memory of the tensor, padding included, as bytes to be written. In memory of other code, the bytes between the rows
    /// may be that code's: write only the elements.
    fn bytes_mut(&mut self) -> ViewMut<'_, u8>;
}

impl dyn AnyTensor {
    /// The tensor as a `T`, for example a `Tensor<f32>`. `None` if the tensor has another type.
    pub fn downcast_ref<T: AnyTensor>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The tensor as a `T`.
    ///
    /// # Errors
    /// The tensor itself, if it has another type.
    pub fn downcast<T: AnyTensor>(self: Box<Self>) -> Result<Box<T>, Box<Self>> {
        if self.downcast_ref::<T>().is_none() {
            return Err(self);
        }
        let any: Box<dyn Any> = self;
        match any.downcast() {
            Ok(tensor) => Ok(tensor),
            Err(_) => unreachable!("the type was compared"),
        }
    }
}

macro_rules! any_tensor {
    ($ty:ident, |$this:ident| $shape:expr, $strides:expr, $elements:expr, $elements_mut:expr) => {
        impl<T: Element> sealed::Sealed for $ty<T> {}

        impl<T: Element> AnyTensor for $ty<T> {
            fn dtype(&self) -> &'static str {
                T::DTYPE
            }

            fn item_size(&self) -> usize {
                size_of::<T>()
            }

            fn shape(&self) -> &[usize] {
                let $this = self;
                $shape
            }

            fn strides(&self) -> Strides {
                let $this = self;
                $strides
            }

            fn device(&self) -> DeviceId {
                let $this = self;
                DeviceSlice::device($elements)
            }

            fn bytes(&self) -> View<'_, u8> {
                let $this = self;
                DeviceSlice::as_bytes($elements)
            }

            fn bytes_mut(&mut self) -> ViewMut<'_, u8> {
                let $this = self;
                DeviceSlice::as_bytes_mut($elements_mut)
            }
        }
    };
}
any_tensor!(Tensor, |it| Self::shape(it), Self::strides(it), it, it);
any_tensor!(PitchedTensor, |it| Self::shape(it), Self::strides(it), it.padded(), it.padded_mut());
any_tensor!(Buffer, |it| it.dims(), Shape::of_slice(it.len()).dense_strides(), it, it);
