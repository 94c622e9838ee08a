//! Law 2: Device data is behind its stream.
//!
//! The place of a message's data, host or device, as a type. `In::into_data` opens only messages of host data. A hook gets
//! device data only from `In::receive_cuda_stream`, together with its stream.

/// Whether a message has device data: [`Host`] or [`Device`]. A message of several fields is [`Device`] if one of its
/// fields is [`Device`].
pub trait Place: 'static {
    /// The place of a message with fields of this place and of `Other`.
    type And<Other: Place>: Place;
    /// The place that decides in which state an output of messages of this place begins, in an operator with inputs of
    /// the place `Inputs`. If the result is [`Device`], the output needs no stream of its own: host data is sent without a
    /// stream, and device data is sent on the internal stream, which comes with the device data of an input.
    #[doc(hidden)]
    type Behind<Inputs: Place>: Place;
    /// Whether a message of this place has device data.
    const IS_DEVICE: bool;
}

/// The place of a message with only host data, which is received without a stream.
#[derive(Debug)]
pub enum Host {}

/// The place of a message with device data, and perhaps also host data, which is received together with a stream.
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

/// Seals the traits `CarriesStream` and `Plain`. If other code could implement them for a place of its own, it could open
/// device data that is not ready.
mod sealed {
    pub trait Device {}
    impl Device for super::Device {}
    pub trait Host {}
    impl Host for super::Host {}
}

/// The place of data that comes with a stream: only [`Device`] implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{M}` carries no stream",
    label = "this is host data",
    note = "receive it without a stream: `let data = input.receive().into_data();`"
)]
pub trait CarriesStream<M>: Place + sealed::Device {}

#[diagnostic::do_not_recommend]
impl<M> CarriesStream<M> for Device {}

/// The place of data that needs no stream: only [`Host`] implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{M}` is device data, out of reach before its stream was received",
    label = "device data needs a stream",
    note = "receive its stream: `let (data, stream) = input.receive_cuda_stream(cx)?;`"
)]
pub trait Plain<M>: Place + sealed::Host {}

#[diagnostic::do_not_recommend]
impl<M> Plain<M> for Host {}
