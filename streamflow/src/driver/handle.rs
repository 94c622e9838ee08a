//! Handles of a driver's objects: plain integers with a type.

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
            /// For drivers only: other code can only hold handles that a driver made.
            pub(crate) const fn new(device: DeviceId, handle: u64) -> Self {
                Self { device, handle }
            }

            /// The device that the object belongs to.
            pub const fn device(self) -> DeviceId {
                self.device
            }

            /// The driver's number for the object: on CUDA the pointer behind the handle.
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
    /// A driver's handle of a stream.
    RawStream,
    "stream "
);
handle!(
    /// A driver's handle of an event.
    RawEvent,
    "event "
);
handle!(
    /// A driver's handle of loaded code.
    RawModule,
    "module "
);
handle!(
    /// A driver's handle of a loaded kernel.
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

/// A stream that other code made, for as long as it is borrowed.
#[derive(Debug, Clone, Copy)]
pub struct BorrowedStream<'a> {
    raw: RawStream,
    _owner: PhantomData<&'a ()>,
}

impl BorrowedStream<'_> {
    /// From the handle: the `CUstream` pointer, or on the simulator the number that [`RawStream::handle`] returns.
    ///
    /// # Safety
    /// The stream belongs to the platform that it is given to, in this device's primary context or in a
    /// green context of it. It lives as long as each object that is made from this value; if such an object
    /// is never dropped, as with `mem::forget`, the stream lives as long as the platform. It captures no
    /// graph meanwhile, and it is not a default stream.
    pub const unsafe fn new(device: DeviceId, handle: u64) -> Self {
        Self { raw: RawStream::new(device, handle), _owner: PhantomData }
    }

    pub(crate) fn raw(self) -> RawStream {
        self.raw
    }
}
