//! Acts as another library that makes a device current on a thread and leaves it current.

use std::ffi::{c_int, c_void};

use libloading::Library;
use streamflow::driver::Driver;
use streamflow::platform::DeviceId;

/// Whether this device is current on the calling thread: only then an event can be made there.
pub fn is_current(driver: &dyn Driver, device: DeviceId) -> bool {
    let made = driver.create_event(device);
    // SAFETY: the event was just made, and is used nowhere.
    made.and_then(|event| unsafe { driver.destroy_event(event) }).is_ok()
}

/// Leaves no context current on this thread, as a library may do.
///
/// # Errors
/// CUDA is not installed, or CUDA's own error.
pub fn make_none_current() -> Result<(), String> {
    type SetCurrent = unsafe extern "C" fn(*mut c_void) -> c_int;
    let say = |error: libloading::Error| error.to_string();
    // SAFETY: the library is the CUDA driver, and its function has this declaration. A null context is a valid argument.
    let status = unsafe {
        let cuda = Library::new("libcuda.so").map_err(say)?;
        cuda.get::<SetCurrent>(b"cuCtxSetCurrent").map_err(say)?(std::ptr::null_mut())
    };
    if status == 0 { Ok(()) } else { Err(format!("CUDA's status is {status}")) }
}

/// Makes a GPU's primary context current on this thread, by calling the CUDA driver directly.
///
/// # Errors
/// CUDA is not installed, or CUDA's own error.
pub fn make_current(ordinal: i32) -> Result<(), String> {
    type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
    type SetCurrent = unsafe extern "C" fn(*mut c_void) -> c_int;
    let say = |error: libloading::Error| error.to_string();
    let mut context = std::ptr::null_mut();
    // SAFETY: the library is the CUDA driver, and its functions have these declarations. The context is written to a
    // variable, and streamflow keeps the primary context until the process ends.
    let statuses = unsafe {
        let cuda = Library::new("libcuda.so").map_err(say)?;
        let retain = cuda.get::<Retain>(b"cuDevicePrimaryCtxRetain").map_err(say)?;
        let set_current = cuda.get::<SetCurrent>(b"cuCtxSetCurrent").map_err(say)?;
        [retain(&mut context, ordinal), set_current(context)]
    };
    if statuses == [0; 2] { Ok(()) } else { Err(format!("CUDA's statuses are {statuses:?}")) }
}
