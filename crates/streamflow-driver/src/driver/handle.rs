//! Handles of a driver's objects: plain integers with a type.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The number of a device within a platform, from 0 up to `device_count()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DeviceId(#[doc(hidden)] pub u32);

impl DeviceId {
    /// The device's index within its platform.
    #[inline]
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
        #[derive(Clone, Copy)]
        pub struct $name {
            device: DeviceId,
            /// Distinguishes the objects that have had this handle one after the other. 0 if the object is not known.
            stamp: u32,
            handle: u64,
        }

        impl $name {
            /// Creates the handle of an object of a driver. For drivers only: other code gets its handles from a
            /// driver.
            #[inline]
            pub const fn new(device: DeviceId, handle: u64) -> Self {
                Self { device, handle, stamp: 0 }
            }

            /// Returns the same handle with a stamp.
            #[allow(dead_code, reason = "not all kinds of handles are stamped")]
            pub(super) const fn stamped(self, stamp: u32) -> Self {
                Self { stamp, ..self }
            }

            #[allow(dead_code, reason = "as above")]
            pub(super) const fn stamp(self) -> u32 {
                self.stamp
            }

            /// The part of the handle that the driver sees and that comparisons use: all but the stamp.
            const fn identity(self) -> (DeviceId, u64) {
                (self.device, self.handle)
            }

            /// The device that the object belongs to.
            #[inline]
            pub const fn device(self) -> DeviceId {
                self.device
            }

            /// The driver's number for the object: on CUDA, the `CUstream`, `CUevent` or other pointer as an integer.
            #[inline]
            pub const fn handle(self) -> u64 {
                self.handle
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.identity() == other.identity()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.identity().cmp(&other.identity())
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.identity().hash(state);
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
    /// A driver's handle of a stream. A table in `streamflow::stream` has the other types of streams.
    RawStream,
    "stream "
);
handle!(
    /// A driver's handle of an event.
    RawEvent,
    "event "
);
handle!(
    /// A driver's handle of an executable graph.
    RawGraph,
    "graph "
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
    /// The number of bytes.
    pub bytes: u64,
}

impl MemoryRange {
    /// The address after the last byte.
    #[inline]
    pub const fn end(self) -> u64 {
        self.address + self.bytes
    }

    /// Whether the two ranges share a byte.
    #[inline]
    pub const fn overlaps(self, other: Self) -> bool {
        let is_empty = self.bytes == 0 || other.bytes == 0;
        !is_empty && self.address < other.end() && other.address < self.end()
    }
}

impl fmt::Debug for MemoryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}+{}", self.address, self.bytes)
    }
}

/// The lowest handle that an object of CUDA can have: a handle is the address of an object of the driver, and the
/// first page of a process holds no object.
pub(super) const FIRST_HANDLE: u64 = 4096;

/// The highest handle that an object of CUDA can have: the last address of a process with five levels of page
/// tables.
pub(super) const LAST_HANDLE: u64 = (1 << 56) - 1;

/// The alignment of every handle: a handle is the address of an object of the driver, and such objects are aligned for pointers.
pub(super) const HANDLE_ALIGNMENT: u64 = 8;

/// An event that other code made, borrowed for a lifetime.
#[derive(Debug, Clone, Copy)]
pub struct BorrowedEvent<'a> {
    raw: RawEvent,
    _owner: PhantomData<&'a ()>,
}

impl BorrowedEvent<'_> {
    /// Borrows an event by its handle: the `CUevent` pointer, or on the simulator the number that
    /// [`RawEvent::handle`] returns.
    ///
    /// # Safety
    /// The event belongs to this device, in the primary context or in a green context of the device. It lives as
    /// long as each object that is made from this value.
    #[inline]
    pub const unsafe fn new(device: DeviceId, handle: u64) -> Self {
        Self { raw: RawEvent::new(device, handle), _owner: PhantomData }
    }

    /// The device of the event.
    #[inline]
    pub const fn device(self) -> DeviceId {
        self.raw.device()
    }

    #[doc(hidden)]
    #[inline]
    pub fn raw(self) -> RawEvent {
        self.raw
    }
}

/// A stream that other code made, borrowed for a lifetime: the argument of `Platform::external_stream`. The table in
/// `streamflow::stream` has the other types of streams.
#[derive(Debug, Clone, Copy)]
pub struct BorrowedStream<'a> {
    raw: RawStream,
    _owner: PhantomData<&'a ()>,
}

impl BorrowedStream<'_> {
    /// Borrows a stream by its handle: the `CUstream` pointer, or on the simulator the number that
    /// [`RawStream::handle`] returns.
    ///
    /// # Safety
    /// The stream belongs to the platform that it is given to, in this device's primary context or in a green
    /// context of the device. The stream lives as long as each object that is made from this value; if such an
    /// object is never dropped, as with `mem::forget`, the stream lives as long as the platform. Meanwhile the
    /// stream captures no graph, and it is not a default stream.
    #[inline]
    pub const unsafe fn new(device: DeviceId, handle: u64) -> Self {
        Self { raw: RawStream::new(device, handle), _owner: PhantomData }
    }

    /// The device of the stream.
    #[inline]
    pub const fn device(self) -> DeviceId {
        self.raw.device()
    }

    #[doc(hidden)]
    #[inline]
    pub fn raw(self) -> RawStream {
        self.raw
    }
}
