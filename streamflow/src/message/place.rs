//! Law 2: Device data is behind its stream.
//!
//! Where a message's data is, as a type. `In::into_data` opens messages of host data alone; device data comes with its
//! stream, from `In::receive_cuda_stream`.

/// Whether a message has device data: [`Host`] or [`Device`]. A message of several fields is [`Device`] if one
/// field is.
pub trait Place: 'static {
    /// The place of this and `Other` together.
    type And<Other: Place>: Place;
    /// The place that decides about an output of such messages, of an operator whose inputs have data in `Inputs`: device data needs
    /// the internal stream, which comes with an input's device data, and host data is sent without a stream.
    #[doc(hidden)]
    type Behind<Inputs: Place>: Place;
    /// Whether there is device data.
    const IS_DEVICE: bool;
}

/// Host data alone: it is received without a stream.
#[derive(Debug)]
pub enum Host {}

/// Device data, perhaps with host data beside it: it is received together with a stream.
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

/// Seals the traits below: an implementation for another place could open data that is not ready.
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
