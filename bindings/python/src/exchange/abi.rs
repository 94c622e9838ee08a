//! The structures of DLPack's C exchange API, as `dlpack.h` of version 1.3 declares them.

use std::ffi::{c_char, c_int, c_void};

/// DLPack's `DLPackVersion`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// DLPack's `DLDevice`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Device {
    pub(crate) kind: i32,
    pub(crate) id: i32,
}

/// DLPack's `DLDataType`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct DataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

/// DLPack's `DLTensor`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Plain {
    pub(crate) data: *mut c_void,
    pub(crate) device: Device,
    pub(crate) ndim: i32,
    pub(crate) dtype: DataType,
    pub(crate) shape: *mut i64,
    pub(crate) strides: *mut i64,
    pub(crate) byte_offset: u64,
}

/// The callback `SetError`, by which the allocator reports an error.
pub(crate) type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// DLPack's `DLPackExchangeAPIHeader`.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) version: Version,
    /// The table of an older major version of the API, or null.
    pub(crate) prev_api: *mut Self,
}

/// DLPack's `DLPackExchangeAPI`. Pointers to a `DLManagedTensorVersioned` and pointers to a `PyObject` are declared as `*mut
/// c_void` in it.
#[repr(C)]
pub(crate) struct ExchangeApi {
    pub(crate) header: Header,
    pub(crate) managed_tensor_allocator:
        unsafe extern "C" fn(*mut Plain, *mut *mut c_void, *mut c_void, Option<SetError>) -> c_int,
    pub(crate) managed_tensor_from_py_object_no_sync:
        unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int,
    pub(crate) managed_tensor_to_py_object_no_sync:
        unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int,
    pub(crate) dltensor_from_py_object_no_sync:
        unsafe extern "C" fn(*mut c_void, *mut Plain) -> c_int,
    pub(crate) current_work_stream: unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> c_int,
}

// SAFETY: the table is constant, and any thread may call its functions.
unsafe impl Sync for ExchangeApi {}

// Checks the sizes and offsets against those of `dlpack.h` with 64-bit pointers.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Plain>() == 48 && offset_of!(Plain, shape) == 24);
    assert!(size_of::<Header>() == 16 && offset_of!(Header, prev_api) == 8);
    assert!(size_of::<ExchangeApi>() == 56);
    assert!(offset_of!(ExchangeApi, managed_tensor_allocator) == 16);
    assert!(offset_of!(ExchangeApi, current_work_stream) == 48);
};
