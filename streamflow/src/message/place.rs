//! Law 2: Device data is behind its stream.
//!
//! The place of a message's data, as a type. `In::into_data` opens only messages of host data; device data comes with
//! its stream, from `In::receive_cuda_stream`.

/// Whether a message has device data: [`Host`] or [`Device`]. A message of several fields is [`Device`] if one of its
/// fields is.
pub trait Place: 'static {
    /// The place of a message with fields of this place and of `Other`.
    type And<Other: Place>: Place;
    /// The place that decides in which state an output of messages of this place begins, in an operator with inputs of
    /// the place `Inputs`. With [`Device`] it needs no further stream: host data is sent without one, and for device
    /// data the internal stream comes with the device data of an input.
    #[doc(hidden)]
    type Behind<Inputs: Place>: Place;
    /// Whether there is device data.
    const IS_DEVICE: bool;
}

/// Only host data: received without a stream.
#[derive(Debug)]
pub enum Host {}

/// Device data, perhaps with host data beside it: received together with a stream.
#[derive(Debug)]
pub enum Device {}

impl Place for Host {
    type And<Other: Place> = Other;
    type Behind<Inputs: Place> = Device;
    const IS_DEVICE: bool = false;
}

impl Place for Device {
    type And<Other: Place> = Self;
    type Behind<Inputs: Place> = Inputs;
    const IS_DEVICE: bool = true;
}

/// Seals the traits below: other code could implement them for its own place, and open data that is not ready.
mod sealed {
    pub trait Device {}
    impl Device for super::Device {}
    pub trait Host {}
    impl Host for super::Host {}
}

/// Data that comes with a stream: [`Device`].
#[diagnostic::on_unimplemented(
    message = "`{M}` carries no stream",
    label = "this is host data",
    note = "receive it without a stream: `let data = input.receive().into_data();`"
)]
pub trait CarriesStream<M>: Place + sealed::Device {}

#[diagnostic::do_not_recommend]
impl<M> CarriesStream<M> for Device {}

/// Data that needs no stream: [`Host`].
#[diagnostic::on_unimplemented(
    message = "`{M}` is device data, out of reach before its stream was received",
    label = "device data needs a stream",
    note = "receive its stream: `let (data, stream) = input.receive_cuda_stream(cx)?;`"
)]
pub trait Plain<M>: Place + sealed::Host {}

#[diagnostic::do_not_recommend]
impl<M> Plain<M> for Host {}
