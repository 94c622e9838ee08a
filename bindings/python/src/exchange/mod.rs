//! DLPack's C exchange API: a table of functions. With them a library in C gets the memory of Python's tensors that its functions
//! take, and makes the tensors that its functions return, without a call of Python.
//!
//! The API calls these functions "no sync": the library works on the stream that `current_work_stream` returns, and this stream
//! orders the work. Here each GPU has one such stream, a non-blocking one, its *work stream*
//! ([`work_stream`](crate::work_stream)). These rules order an exchange in both directions without blocking the host:
//!
//! 1. **Each export** makes the work stream wait for all work that the tensor must come after, and notes a use of the tensor
//!    on the work stream. On the CPU, where there is no stream, the calling thread waits, as for `__dlpack__`.
//! 2. **`current_work_stream`** first makes the work stream wait for all work that any tensor of this module on the GPU must
//!    come after. So a library is ordered, too, if it first asks for the stream, then makes a stream of its own wait for the
//!    work stream, and only then gets the tensor.
//! 3. **Each use** of a tensor after its first export, and its drop, comes after all work that is on the work stream at that
//!    time: the work that the library has queued. ([`Memory::settle`](crate::memory::Memory))
//! 4. **An import** comes after all work that is on the work stream at that time.
//!
//! A library that works on a stream of its own must order that stream after the work stream, as the header requires. With
//! `__dlpack__`, in contrast, streamflow orders the stream that the caller names.

mod abi;
mod calls;

use std::ffi::c_void;
use std::ptr;

use abi::{ExchangeApi, Header, Version};
use pyo3::ffi;
use pyo3::prelude::*;

/// The table of functions. It is static, since libraries keep its address.
static TABLE: ExchangeApi = ExchangeApi {
    header: Header { version: Version { major: 1, minor: 3 }, prev_api: ptr::null_mut() },
    managed_tensor_allocator: calls::allocate,
    managed_tensor_from_py_object_no_sync: calls::export_managed,
    managed_tensor_to_py_object_no_sync: calls::import_managed,
    dltensor_from_py_object_no_sync: calls::export_borrowed,
    current_work_stream: calls::current_work_stream,
};

/// Returns the capsule with the table, the value of the type's attribute `__dlpack_c_exchange_api__`.
pub(crate) fn capsule(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let table = (&raw const TABLE).cast_mut().cast::<c_void>();
    // SAFETY: the table and the name are static, and the interpreter lock is held. No consumer writes the table.
    unsafe {
        let capsule = ffi::PyCapsule_New(table, c"dlpack_exchange_api".as_ptr(), None);
        Bound::from_owned_ptr_or_err(py, capsule).map(Bound::unbind)
    }
}
