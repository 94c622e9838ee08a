//! The objects that cuBLASLt makes: descriptions, layouts, and a handle for each device.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::table::{CublasLt, Pointer, check};
use crate::ffi::cublaslt::element::MatmulElement;
use crate::ffi::cublaslt::problem::Stored;
use std::sync::Mutex;
use streamflow::driver::DriverError;
use streamflow::library::LibraryError;

/// Values of cuBLASLt's enum `cublasLtMatrixLayoutAttribute_t`.
const BATCH_COUNT: c_int = 5;
const BATCH_OFFSET: c_int = 6;

/// An object that the library has made, and the function that destroys it.
#[derive(Debug)]
pub(super) struct Owned(pub(super) Pointer, unsafe extern "C" fn(Pointer) -> c_int);

impl Owned {
    pub(super) fn new(
        call: &'static str,
        destroy: unsafe extern "C" fn(Pointer) -> c_int,
        make: impl FnOnce(*mut Pointer) -> c_int,
    ) -> Result<Self, LibraryError> {
        let mut made = ptr::null_mut();
        check(call, make(&mut made))?;
        Ok(Self(made, destroy))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this value owns the object, which is in host memory only, and no queued work reads it. A drop can't
        // handle the error code.
        unsafe { (self.1)(self.0) };
    }
}

/// Returns cuBLASLt's layout of a matrix that is stored in rows: that of its transpose in columns.
pub(super) fn layout<T: MatmulElement>(
    table: &'static CublasLt,
    stored: &Stored,
    products: usize,
) -> Result<Owned, DriverError> {
    let (rows, cols, leading) = (stored.cols as u64, stored.rows as u64, stored.leading as i64);
    let layout = Owned::new("cublasLtMatrixLayoutCreate", table.layout_destroy, |place| {
        // SAFETY: the function writes the layout to `place`.
        unsafe { (table.layout_create)(place, T::DATA_TYPE, rows, cols, leading) }
    })?;
    if products > 1 {
        let (count, offset) = (products as c_int, stored.apart.unwrap_or(0) as i64);
        let set = |attribute, value: *const c_void, bytes| {
            // SAFETY: the layout is alive, and the value has as many bytes as the attribute.
            let status = unsafe { (table.layout_set)(layout.0, attribute, value, bytes) };
            check("cublasLtMatrixLayoutSetAttribute", status)
        };
        set(BATCH_COUNT, ptr::from_ref(&count).cast(), 4)?;
        set(BATCH_OFFSET, ptr::from_ref(&offset).cast(), 8)?;
    }
    Ok(layout)
}

/// Returns the handle of a device, which must be current on this thread. The handle is made once, and never destroyed:
/// a device's primary context is never released.
pub(super) fn handle(table: &'static CublasLt, ordinal: u32) -> Result<Pointer, DriverError> {
    struct Handle(u32, Pointer);
    // SAFETY: a handle may be used by several threads at once (cuBLAS's documentation, "Thread Safety").
    unsafe impl Send for Handle {}
    static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

    let mut handles = HANDLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = handles.iter().find(|handle| handle.0 == ordinal) {
        return Ok(known.1);
    }
    let mut handle = ptr::null_mut();
    // SAFETY: the function writes the handle to `handle`.
    check("cublasLtCreate", unsafe { (table.create)(&mut handle) })?;
    handles.push(Handle(ordinal, handle));
    Ok(handle)
}
