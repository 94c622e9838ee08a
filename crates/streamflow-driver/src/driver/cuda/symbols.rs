//! The functions of `libcuda` by their names, in the library that cudarc's bindings call.
//!
//! cudarc loads `libcuda`, unless another package of the program turns its feature `dynamic-linking` or
//! `static-linking` on: then the program is linked with the library and needs it to start. If this module opened the
//! library by its name, it could get a second copy in a linked program, for example the copy in a toolkit's `stubs`
//! folder.

use std::mem::ManuallyDrop;

#[cfg(unix)]
use libloading::os::unix::Library;
#[cfg(windows)]
use libloading::os::windows::Library;

/// Whether `libcuda` is present: `true`, since this function is called only in a program that is linked with the library.
#[allow(dead_code, reason = "cudarc's own function hides it in a program that loads the library")]
unsafe fn is_culib_present() -> bool {
    true
}

/// The `libcuda` of a program that is linked with it. The library is never closed.
#[allow(dead_code, reason = "cudarc's own function hides it in a program that loads the library")]
unsafe fn culib() -> ManuallyDrop<Library> {
    #[cfg(unix)]
    // SAFETY: the null handle is `RTLD_DEFAULT`, with which `dlsym` searches where the linker did.
    let library = unsafe { Library::from_raw(std::ptr::null_mut()) };
    #[cfg(windows)]
    let library = Library::open_already_loaded("nvcuda.dll")
        // SAFETY: a lookup with the null handle is an error.
        .unwrap_or_else(|_| unsafe { Library::from_raw(0) });
    ManuallyDrop::new(library)
}

/// Whether `libcuda` is present.
pub(super) fn is_present() -> bool {
    // The bindings have functions with the names above only where cudarc loads the library, and those functions hide the
    // functions of this module.
    #[allow(unused_imports, reason = "nothing of it is used in a program that is linked")]
    use cudarc::driver::sys::*;
    // SAFETY: loading the driver's library runs its initialisers, as intended.
    unsafe { is_culib_present() }
}

/// Whether `libcuda` has the function `name`. The library must be [present](is_present).
pub(super) fn has(name: &str) -> bool {
    // SAFETY: the address is only looked up, not called.
    unsafe { find::<unsafe extern "C" fn()>(name) }.is_some()
}

/// Returns the function `name` of `libcuda`, if there is one. The library must be [present](is_present).
///
/// # Safety
/// `F` is a pointer to a function with the signature of `name`.
pub(super) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    #[allow(unused_imports, reason = "nothing of it is used in a program that is linked")]
    use cudarc::driver::sys::*;
    // SAFETY: the library is present, and never unloaded; the caller vouches for the type.
    unsafe { culib().get::<F>(name.as_bytes()).ok().map(|function| *function) }
}
