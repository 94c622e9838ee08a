//! Names for what a driver owns: plain integers with a type.

use std::fmt;
use std::marker::PhantomData;

/// A device of a platform: logical, `0..device_count()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DeviceId(pub(crate) u32);

impl DeviceId {
    /// The device's index within its platform.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {}", self.0)
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name {
            device: DeviceId,
            handle: u64,
        }

        impl $name {
            /// Only a driver makes these up; what it made is all that others can hold.
            pub(crate) const fn new(device: DeviceId, handle: u64) -> Self {
                Self { device, handle }
            }

            /// The device that it belongs to.
            pub const fn device(self) -> DeviceId {
                self.device
            }

            /// The driver's own name for it: on CUDA the pointer behind the handle.
            pub const fn handle(self) -> u64 {
                self.handle
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}:{:#x}"), self.device.0, self.handle)
            }
        }
    };
}

handle!(
    /// A stream as the driver knows it.
    RawStream,
    "stream "
);
handle!(
    /// An event as the driver knows it.
    RawEvent,
    "event "
);
handle!(
    /// Loaded code as the driver knows it.
    RawModule,
    "module "
);
handle!(
    /// A loaded kernel as the driver knows it.
    RawFunction,
    "function "
);

/// Bytes in memory: an address and a length.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MemoryRange {
    /// The first byte: a device address, or a host address as an integer.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl MemoryRange {
    /// The address after the last byte.
    pub const fn end(self) -> u64 {
        self.address + self.bytes
    }

    /// Whether the two share a byte.
    pub const fn overlaps(self, other: Self) -> bool {
        self.address < other.end() && other.address < self.end()
    }
}

impl fmt::Debug for MemoryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}+{}", self.address, self.bytes)
    }
}

/// A stream that somebody else made, for as long as it is borrowed.
#[derive(Debug, Clone, Copy)]
pub struct BorrowedStream<'a> {
    raw: RawStream,
    _owner: PhantomData<&'a ()>,
}

impl BorrowedStream<'_> {
    /// From the handle: the `CUstream` pointer, or on the simulator what [`RawStream::handle`] says.
    ///
    /// # Safety
    /// The stream is one of the platform that it is given to, of this device's primary context or of a
    /// green context of it. It is alive as long as whatever is made from this value, and where such a thing
    /// is never dropped, as when it is forgotten, as long as that platform is. It captures no graph
    /// meanwhile, and it is not a default stream.
    pub const unsafe fn new(device: DeviceId, handle: u64) -> Self {
        Self { raw: RawStream::new(device, handle), _owner: PhantomData }
    }

    pub(crate) fn raw(self) -> RawStream {
        self.raw
    }
}
