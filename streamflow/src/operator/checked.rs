//! Checks of types in generated code, so that each wrong type is reported once. A macro sees only the name of a type, so rustc
//! decides whether the type fits, and would report a wrong type at every use. `#[operator]` therefore writes each such type
//! through [`Checked`]: if a bound in the constant of [`Fits`] does not hold, rustc reports that bound once. The checked type is
//! then unknown to rustc, and values of it cause no further errors.

use std::marker::PhantomData;

use super::node_type::NodeType;
use crate::memory::Element;
use crate::message::{Device, Message, Place};

/// Stands for the answer of a check: whether a type fits.
#[derive(Debug)]
pub struct Fits<const IT: bool>;

/// Names the type `T` if the check has found that `T` fits: only `Fits<true>` implements this trait.
pub trait Checked<T> {
    /// The type `T`.
    type Type;
}

impl<T> Checked<T> for Fits<true> {
    type Type = T;
}

/// Names the types of a node, if the check has found that a node can be of this type. For any other type, the field of the graph
/// has an unknown type, and uses of the graph cause no further errors.
pub trait CheckedNode<const IT: bool> {
    /// The type of the node itself.
    type Type;
    /// The type of the value of the node's expression.
    type Value;
    /// `Self`.
    type Itself;
}

impl<T: NodeType> CheckedNode<true> for T {
    type Type = T::__Node;
    type Value = T::Value;
    type Itself = T;
}

/// Returns `true`, and compiles only if the type `T` is well-formed: the bounds in its declaration hold.
#[must_use]
pub const fn exists<T>() -> bool {
    true
}

/// Stands for a port of type `T`, in the checks below.
#[derive(Debug)]
pub struct PortOf<T: ?Sized>(PhantomData<T>);

/// Implemented for [`PortOf`] a message. The trait has no supertrait: rustc would report a second error about the supertrait.
pub trait IsMessage {
    /// `true`. A macro names this constant, and rustc reports a type that is not a message at that place.
    const __STREAMFLOW_IS: bool = true;
}

impl<T: Message> IsMessage for PortOf<T> {}

/// Implemented for a port of a message `T`, checked as [`IsMessage`] is. `NAMES_DEVICE_DATA` says that the text of the type names
/// device data. A [`HostData`](crate::HostData) around device data would hide it, so the runtime could not order it.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not a message: the device data within it would travel without its stream",
    label = "device data is hidden in this type",
    note = "device data is a message of its own: write `Tensor<f32>`, `Vec<Tensor<f32>>` for several, `Shared<Tensor<f32>>` for \
            several owners, or a struct or an enum with `#[derive(Message)]` for device data beside other values"
)]
pub trait IsOpenMessage<T, const NAMES_DEVICE_DATA: bool> {
    /// `true`. A macro names this constant, and rustc reports a type that is not such a message at that place.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

impl<T> IsOpenMessage<T, false> for PortOf<T> where Self: IsMessage {}

#[diagnostic::do_not_recommend]
impl<T: Message<Place = Device>> IsOpenMessage<T, true> for PortOf<T> {}

/// Stands for a port of `HostData`, when another bound checks its content.
#[derive(Debug)]
pub struct HostDataOf;

impl<T> IsOpenMessage<T, false> for HostDataOf {}

impl<T: Message> PortOf<T> {
    /// Whether the message is device data. For a type that is not a message, Rust finds the constant of [`Otherwise`] by this
    /// name instead.
    pub const IS_DEVICE_DATA: bool = T::Place::IS_DEVICE;
}

/// Gives [`PortOf`] the constant `IS_DEVICE_DATA` for a type that is not a message.
pub trait Otherwise {
    /// `false`: a type that is not a message is not device data.
    const IS_DEVICE_DATA: bool = false;
}

impl<T: ?Sized> Otherwise for PortOf<T> {}

/// Implemented for [`PortOf`] an element of device memory.
pub trait IsElement {
    /// `true`. A macro names this constant, and rustc reports a type that is not an element at that place.
    const __STREAMFLOW_IS: bool = true;
}

impl<T: Element> IsElement for PortOf<T> {}

/// Implemented for each type that can be the type of an operator's field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a field of an operator, which moves between threads and outlives a tick",
    label = "this type can't move to another thread, or it borrows",
    note = "for an `Rc` write `Arc`, and for data of one thread a `Mutex` around data that may move; own what is borrowed",
    note = "what must not leave its thread, as a window, is in a `thread_local!` that `start` fills, with `#[operator(stays)]`",
    note = "a tick's `Stream` stays in its tick: keep its data as `OnStream<…>`, or keep a `CudaStream` of your own"
)]
pub trait State {
    /// `true`. A macro names this constant, and rustc reports a type that can't be a field at that place.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> State for T {}

/// Implemented for the type of a field that may mention a tick's `Stream`. The macro writes the field's type as `fn(Type)`, since
/// there the lifetime of `Stream` may be left out.
#[diagnostic::on_unimplemented(
    message = "a tick's `Stream` can't be a field of an operator: it stays in its tick",
    label = "this field outlives the tick",
    note = "keep the data with its stream as `OnStream<…>`, or keep a `CudaStream` of your own"
)]
pub trait FieldType {
    /// `true`. A macro names this constant, and rustc reports a type that can't be a field at that place.
    #[doc(hidden)]
    const __STREAMFLOW_IS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<T: State> FieldType for fn(T) {}

/// Names `T`, given `fn(T)`. The macro writes a field's type as `fn(T)`, because rustc permits elided lifetimes there.
pub trait Argument {
    /// The type `T`.
    type Type;
}

impl<T> Argument for fn(T) {
    type Type = T;
}
