//! Where a message's data is, as a type.

/// Whether device data is in a message. [`Host`] or [`Device`]; of several fields together it is
/// [`Device`] as soon as one is.
pub trait Place: 'static {
    /// This and `Other` together.
    type And<Other: Place>: Place;
    /// Whether there is device data.
    const IS_DEVICE: bool;
}

/// Host data alone: received without a stream.
#[derive(Debug)]
pub enum Host {}

/// Device data, perhaps with host data beside it: received together with a stream.
#[derive(Debug)]
pub enum Device {}

impl Place for Host {
    type And<Other: Place> = Other;
    const IS_DEVICE: bool = false;
}

impl Place for Device {
    type And<Other: Place> = Self;
    const IS_DEVICE: bool = true;
}
