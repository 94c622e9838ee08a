//! The memory that launches of `map` and of reductions take.

use crate::memory::{
    Buffer, DeviceSlice, Element, PitchedTensor, Shared, Tensor, TensorView, TensorViewMut,
};

/// Memory whose elements a kernel of `map` writes.
#[diagnostic::on_unimplemented(
    message = "a kernel can't write elements of `{T}` to `{Self}`",
    label = "no memory of `{T}` that can be written",
    note = "pass `&mut` of a `Tensor<{T}>` or a `Buffer<{T}>`, or a `TensorViewMut<{T}>`"
)]
pub trait MapOutput<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_output(self) -> TensorViewMut<'a, T>;
}

/// Memory whose elements a kernel of `map` reads.
#[diagnostic::on_unimplemented(
    message = "a kernel can't read elements of `{T}` from `{Self}`",
    label = "no memory of `{T}`",
    note = "pass `&` of a `Tensor<{T}>` or a `Buffer<{T}>`, or a `TensorView<{T}>`"
)]
pub trait MapInput<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_input(self) -> TensorView<'a, T>;
}

/// Memory that a kernel of `map` reads as a table, without gaps.
#[diagnostic::on_unimplemented(
    message = "a kernel can't read a table of `{T}` from `{Self}`",
    label = "no table of `{T}`",
    note = "pass `&` of a `Tensor<{T}>`, a `Buffer<{T}>` or a `DeviceSlice<{T}>`: a table has no gaps"
)]
pub trait MapTable<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_table(self) -> &'a DeviceSlice<T>;
}

impl<'a, T> MapOutput<'a, T> for TensorViewMut<'a, T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self
    }
}

impl<'a, T> MapInput<'a, T> for TensorView<'a, T> {
    fn map_input(self) -> TensorView<'a, T> {
        self
    }
}

// These have no macro in common: rustc would name it as the origin of its errors.

impl<'a, T: Element> MapOutput<'a, T> for &'a mut Tensor<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self.view_mut()
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Tensor<T> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut PitchedTensor<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self.view_mut()
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a PitchedTensor<T> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut Buffer<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        TensorViewMut::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Buffer<T> {
    fn map_input(self) -> TensorView<'a, T> {
        TensorView::of_slice(self)
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut DeviceSlice<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        TensorViewMut::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a DeviceSlice<T> {
    fn map_input(self) -> TensorView<'a, T> {
        TensorView::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Shared<Tensor<T>> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Tensor<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Buffer<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a DeviceSlice<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Shared<Tensor<T>> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}
