//! Types that a macro checks once. A macro knows types by their names only, so rustc decides whether a type fits, and
//! would report a wrong one at every use. `#[operator]` therefore names such a type through [`Checked`]: if the
//! constant of [`Fits`] can't be evaluated, because a bound in it does not hold, rustc reports that bound once. A value
//! made from the checked type then has an unknown type, and rustc reports no further error about it.

use std::marker::PhantomData;

use super::Operator;
use crate::memory::Element;
use crate::message::{Device, Message, Place};

/// Whether a type fits.
#[derive(Debug)]
pub struct Fits<const IT: bool>;

/// `T`, once it is known to fit.
pub trait Checked<T> {
    /// `T`
    type Type;
}

impl<T> Checked<T> for Fits<true> {
    type Type = T;
}

/// The node of an operator, once the type is known to be an operator. For any other type, the field of the graph has an
/// unknown type, and uses of the graph cause no further errors.
pub trait CheckedNode<const IT: bool> {
    /// `Box<Node<Self>>`
    type Type;
}

impl<T: Operator> CheckedNode<true> for T {
    type Type = T::__Node;
}

/// A type that exists: its own bounds hold.
#[must_use]
pub const fn exists<T>() -> bool {
    true
}

/// A port of this type.
#[derive(Debug)]
pub struct PortOf<T: ?Sized>(PhantomData<T>);

/// A message. The trait has no supertrait: rustc would report a second error about it.
pub trait IsMessage {
    /// `true`. A macro names this item, and rustc reports a type that does not fit there.
    const __STREAMFLOW_IS: bool = true;
}

impl<T: Message> IsMessage for PortOf<T> {}

/// A message `T`, checked in the same way. `NAMES_DEVICE_DATA`: `T` names device data. [`HostData`](crate::HostData)
/// would hide that data from the runtime, and the runtime could not order it.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not a message: the device data within it would travel without its stream",
    label = "device data is hidden in this type",
    note = "device data is a message of its own: write `Tensor<f32>`, `Vec<Tensor<f32>>` for several, `Shared<Tensor<f32>>` for \
            several owners, or a struct or an enum with `#[derive(Message)]` for device data beside other values"
)]
pub trait IsOpenMessage<T, const NAMES_DEVICE_DATA: bool> {
    /// `true`. A macro names this item, and rustc reports a type that does not fit there.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

impl<T> IsOpenMessage<T, false> for PortOf<T> where Self: IsMessage {}

#[diagnostic::do_not_recommend]
impl<T: Message<Place = Device>> IsOpenMessage<T, true> for PortOf<T> {}

/// Stands for a `HostData`, which another bound checks.
#[derive(Debug)]
pub struct HostDataOf;

impl<T> IsOpenMessage<T, false> for HostDataOf {}

impl<T: Message> PortOf<T> {
    /// Whether this message is device data. For a type that is no message, the name resolves to the constant of [`Otherwise`].
    pub const IS_DEVICE_DATA: bool = T::Place::IS_DEVICE;
}

/// The answer for a type that is no message.
pub trait Otherwise {
    /// The type is no device data.
    const IS_DEVICE_DATA: bool = false;
}

impl<T: ?Sized> Otherwise for PortOf<T> {}

/// An element of device memory, checked in the same way.
pub trait IsElement {
    /// `true`. A macro names this item, and rustc reports a type that does not fit there.
    const __STREAMFLOW_IS: bool = true;
}

impl<T: Element> IsElement for PortOf<T> {}

/// The type of an operator's field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a field of an operator, which moves between threads and outlives a tick",
    label = "this type can't move to another thread, or it borrows",
    note = "for an `Rc` write `Arc`, and for data of one thread a `Mutex` around data that may move; own what is borrowed",
    note = "what must not leave its thread, as a window, is in a `thread_local!` that `start` fills, with `#[operator(stays)]`",
    note = "a tick's `Stream` stays in its tick: keep its data as `OnStream<…>`, or keep a `CudaStream` of your own"
)]
pub trait State {
    /// `true`. A macro names this item, and rustc reports a type that does not fit there.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> State for T {}

/// The type of a field that may mention a tick's `Stream`. It is written as `fn(Type)`: the stream's lifetime may be
/// left out there.
#[diagnostic::on_unimplemented(
    message = "a tick's `Stream` can't be a field of an operator: it stays in its tick",
    label = "this field outlives the tick",
    note = "keep the data with its stream as `OnStream<…>`, or keep a `CudaStream` of your own"
)]
pub trait FieldType {
    /// `true`. A macro names this item, and rustc reports a type that does not fit there.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<T: State> FieldType for fn(T) {}

/// Returns `T` from `fn(T)`. Within the type of a function, rustc permits a type with an elided lifetime.
pub trait Argument {
    /// `T`
    type Type;
}

impl<T> Argument for fn(T) {
    type Type = T;
}
