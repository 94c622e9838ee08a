//! DLPack's capsules. A library takes the tensor out of a capsule once. If no library takes it, the drop of the capsule calls the
//! tensor's deleter.

use std::ffi::CStr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use streamflow::memory::dlpack::{DlExport, DlTensor};

use crate::error::OrRaise;

const VERSIONED: &CStr = c"dltensor_versioned";
const LEGACY: &CStr = c"dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";
const USED_LEGACY: &CStr = c"used_dltensor";

/// Creates a capsule that contains a tensor.
pub(crate) fn wrap(py: Python<'_>, tensor: DlExport) -> PyResult<Bound<'_, PyAny>> {
    let name = if tensor.is_versioned() { VERSIONED } else { LEGACY };
    let pointer = tensor.into_raw();
    // SAFETY: the name is static, the pointer is not null, and the interpreter lock is held.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(give_back));
        if capsule.is_null() {
            drop(take(pointer, name));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Takes the tensor out of a capsule. The capsule counts as used afterwards.
///
/// # Errors
/// `ValueError` for a used capsule; `TypeError` for an object that is no capsule; as for [`DlTensor::from_versioned`].
pub(crate) fn unwrap(capsule: &Bound<'_, PyAny>) -> PyResult<DlTensor> {
    let is = |name: &CStr| {
        // SAFETY: the function accepts any object, and this thread holds the interpreter lock.
        unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 1 }
    };
    let (name, used) = if is(VERSIONED) {
        (VERSIONED, USED_VERSIONED)
    } else if is(LEGACY) {
        (LEGACY, USED_LEGACY)
    } else if is(USED_VERSIONED) || is(USED_LEGACY) {
        return Err(PyValueError::new_err(
            "this DLPack capsule was used already; call `__dlpack__()` again for each use",
        ));
    } else {
        return Err(PyTypeError::new_err(format!(
            "`__dlpack__` returned a {}, and not a capsule with a DLPack tensor; pass an array of a library that \
             supports DLPack",
            capsule.get_type().name()?
        )));
    };
    // SAFETY: a capsule with this name contains a pointer to such a structure. The capsule is renamed before the structure is
    // used, so no other code takes the structure out. The name is static.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        if pointer.is_null() || ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        take(pointer, name).or_raise()
    }
}

/// # Safety
/// As for [`DlTensor::from_versioned`]. `name` says whether the pointer leads to the versioned or to the legacy structure.
unsafe fn take(pointer: *mut std::ffi::c_void, name: &CStr) -> Result<DlTensor, streamflow::Error> {
    // SAFETY: the caller guarantees that the pointer leads to the structure that `name` says.
    unsafe {
        if name == VERSIONED {
            DlTensor::from_versioned(pointer)
        } else {
            DlTensor::from_legacy(pointer)
        }
    }
}

/// The destructor of a capsule. Calls the tensor's deleter, unless a library has taken the tensor out.
unsafe extern "C" fn give_back(capsule: *mut ffi::PyObject) {
    for name in [VERSIONED, LEGACY] {
        // SAFETY: `wrap` made the capsule. The capsule still has one of these names, so no library has taken the tensor out.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1 {
                drop(take(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()), name));
            }
        }
    }
}
