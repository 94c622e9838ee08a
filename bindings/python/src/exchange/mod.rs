//! DLPack's C exchange API: a table of functions. By them a library in C takes tensors as arguments of its kernels and
//! returns others, without a call of Python.
//!
//! The API's functions are called "no sync": the library works on the stream that `current_work_stream` names, and this
//! stream orders the work. Here there is one such stream for each GPU, a non-blocking one
//! ([`work_stream`](crate::work_stream)), and these rules make the exchange ordered in both directions without blocking
//! the host:
//!
//! 1. **Each export** makes the work stream wait for all that the tensor must come after, and notes a use of the tensor
//!    there. On the CPU, where there is no stream, the calling thread waits, as for `__dlpack__`.
//! 2. **`current_work_stream`** first makes the work stream wait for all that each tensor of this module on the GPU must
//!    come after. So a library that asks for the stream first, makes its own stream wait for it, and takes the tensor
//!    then, is ordered, too.
//! 3. **Each later use** of a tensor that was exported once, and its drop, comes after all work that is on the work stream
//!    then: the work that the library has queued. ([`Memory::settle`](crate::memory::Memory))
//! 4. **An import** comes after all work that is on the work stream then.
//!
//! A library that works on another stream orders that stream by itself, as the header requires. `__dlpack__` does that
//! for its caller.

mod abi;
mod calls;

use std::ffi::c_void;
use std::ptr;

use abi::{ExchangeApi, Header, Version};
use pyo3::ffi;
use pyo3::prelude::*;

/// The table, alive as long as the process.
static TABLE: ExchangeApi = ExchangeApi {
    header: Header { version: Version { major: 1, minor: 3 }, prev_api: ptr::null_mut() },
    managed_tensor_allocator: calls::allocate,
    managed_tensor_from_py_object_no_sync: calls::export_managed,
    managed_tensor_to_py_object_no_sync: calls::import_managed,
    dltensor_from_py_object_no_sync: calls::export_borrowed,
    current_work_stream: calls::current_work_stream,
};

/// The capsule with the table: the value of the type's attribute `__dlpack_c_exchange_api__`.
pub(crate) fn capsule(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let table = (&raw const TABLE).cast_mut().cast::<c_void>();
    // SAFETY: the table and the name are static, and the interpreter lock is held. No consumer writes the table.
    unsafe {
        let capsule = ffi::PyCapsule_New(table, c"dlpack_exchange_api".as_ptr(), None);
        Bound::from_owned_ptr_or_err(py, capsule).map(Bound::unbind)
    }
}
