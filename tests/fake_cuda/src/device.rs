//! The memory of the devices, and the one kernel that they execute.

use std::ffi::c_void;

pub(crate) const INVALID_VALUE: i32 = 1;

/// The memory at an address.
pub(crate) fn at<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// The parameters of `add`.
pub(crate) unsafe fn add(params: *mut *mut c_void) {
    // SAFETY: the kernel has an address, a length and a value as parameters, and the caller vouches for the memory.
    unsafe {
        let (data, len) = (*(*params).cast::<u64>(), *(*params.add(1)).cast::<u64>());
        let value = *(*params.add(2)).cast::<u32>();
        for index in 0..len as usize {
            *at::<u32>(data).add(index) += value;
        }
    }
}
