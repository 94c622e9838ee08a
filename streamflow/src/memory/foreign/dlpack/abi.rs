//! The structures of DLPack 1.3, with the memory layout that `dlpack.h` declares.

use std::ffi::c_void;

/// The version of the structures that streamflow makes.
pub(super) const VERSION: Version = Version { major: 1, minor: 3 };

/// The flags of [`ManagedVersioned`]: memory that may only be read, and memory that is a copy made for the exchange.
pub(super) const READ_ONLY: u64 = 1;
pub(super) const IS_COPIED: u64 = 2;

/// The structure in which a tensor is exported: one of two that DLPack has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// `DLManagedTensorVersioned`, of DLPack 1.0 and later.
    Versioned,
    /// `DLManagedTensor`, of versions before 1.0, which has no flags.
    Legacy,
}

/// DLPack's structure `DLPackVersion`: the version of DLPack that a tensor's structure follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

/// DLPack's structure `DLDevice`: a device, by its kind and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Device {
    /// `DLDeviceType`, as a number and not as an enum, because other code may write a value without a name in this version.
    pub(super) kind: i32,
    pub(super) id: i32,
}

/// DLPack's structure `DLDataType`: the type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct DataType {
    pub(super) code: u8,
    pub(super) bits: u8,
    pub(super) lanes: u16,
}

/// DLPack's structure `DLTensor`: memory with its device, element type, shape and strides, without an owner.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Plain {
    pub(super) data: *mut c_void,
    pub(super) device: Device,
    pub(super) ndim: i32,
    pub(super) dtype: DataType,
    pub(super) shape: *mut i64,
    pub(super) strides: *mut i64,
    pub(super) byte_offset: u64,
}

/// DLPack's structure `DLManagedTensorVersioned`: a tensor with its deleter, flags and version.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ManagedVersioned {
    pub(super) version: Version,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    pub(super) flags: u64,
    pub(super) tensor: Plain,
}

/// DLPack's structure `DLManagedTensor`, of versions before 1.0: a tensor with its deleter.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Managed {
    pub(super) tensor: Plain,
    pub(super) context: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

// The structures must have the sizes and offsets of `dlpack.h` for 64-bit pointers.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Plain>() == 48 && offset_of!(Plain, shape) == 24);
    assert!(size_of::<ManagedVersioned>() == 80 && offset_of!(ManagedVersioned, tensor) == 32);
    assert!(size_of::<Managed>() == 64 && offset_of!(Managed, context) == 48);
};
