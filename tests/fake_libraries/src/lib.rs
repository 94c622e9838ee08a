//! NVIDIA's libraries without a GPU, for tests of the calls that plans make of them: functions that do nothing.
//!
//! A single file has the functions of all libraries that streamflow loads, and no others: a test gives it each of their
//! names. Each call is a line of the log of `fake_cuda`, `STREAMFLOW_FAKE_CUDA_LOG`, so that the calls of CUDA and
//! those of libraries are there in their order. `STREAMFLOW_FAKE_LIBRARIES_FAIL` names a function that fails, and
//! `STREAMFLOW_FAKE_LIBRARIES_SHORT` one that finds no memory in its first call, with the status of that:
//! `cufftMakePlanMany64 2`. A function that makes an object writes some handle, and one that is asked for a size writes
//! `WORK`.
//!
//! The declarations are those of the headers of CUDA 13.0. Enums are integers, and handles are pointers.
#![allow(non_snake_case, reason = "NVIDIA's names")]

mod blas;
mod direct;
mod fft;
mod lt;
mod solver;
mod sparse;

use std::env;
use std::ffi::{c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A handle, a description or an address.
type P = *mut c_void;
type I = c_int;
type L = i64;

/// The size of each work area, in bytes or elements.
const WORK: u8 = 64;

/// The status of a call that fails: an error in each library.
const FAILURE: c_int = 7;

/// The number in each handle.
const HANDLE: usize = 0x40;

/// Notes a call, and returns its status: 7 for the function that `STREAMFLOW_FAKE_LIBRARIES_FAIL` names, and 0 for all others.
fn begin(function: &str) -> c_int {
    static FAILS: OnceLock<Option<String>> = OnceLock::new();
    note(function);
    let fails = FAILS.get_or_init(|| env::var("STREAMFLOW_FAKE_LIBRARIES_FAIL").ok());
    if fails.as_deref() == Some(function) { FAILURE } else { short_of_memory(function) }
}

/// The status of a call that may find no memory.
fn short_of_memory(function: &str) -> c_int {
    static SHORT: Mutex<Option<String>> = Mutex::new(None);
    static ONCE: OnceLock<()> = OnceLock::new();
    let mut short = SHORT.lock().unwrap_or_else(PoisonError::into_inner);
    ONCE.get_or_init(|| *short = env::var("STREAMFLOW_FAKE_LIBRARIES_SHORT").ok());
    let status = short.as_deref().and_then(|it| it.strip_prefix(function)?.trim().parse().ok());
    if status.is_some() {
        *short = None;
    }
    status.unwrap_or(0)
}

fn note(function: &str) {
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    let open = || {
        let path = env::var_os("STREAMFLOW_FAKE_CUDA_LOG")?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    };
    if let Some(mut log) = LOG.get_or_init(open).as_ref() {
        // A test that reads the log finds that a line is missing.
        let _written = log.write_all(format!("call {function}\n").as_bytes());
    }
}

/// Defines functions that return success. The first kind does nothing else, the second writes a handle into its first
/// argument, and the third a size into its last ones.
macro_rules! functions {
    ($($kind:ident $name:ident($($ty:ty),* $(; $($last:ty),*)?);)*) => {
        $(crate::functions!(@$kind $name($($ty),*) $($($last),*)?);)*
    };
    (@does $name:ident($($ty:ty),*)) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $ty),*) -> std::ffi::c_int {
            crate::begin(stringify!($name))
        }
    };
    (@makes $name:ident($first:ty $(, $ty:ty)*)) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(made: *mut $first $(, _: $ty)*) -> std::ffi::c_int {
            let status = crate::begin(stringify!($name));
            if status == 0 {
                // SAFETY: the caller passes a place for the handle, as the documentation of the function requires.
                unsafe { made.write(crate::HANDLE as $first) };
            }
            status
        }
    };
    (@sizes $name:ident($($ty:ty),*) $size:ty) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(_: $ty,)* size: *mut $size) -> std::ffi::c_int {
            let status = crate::begin(stringify!($name));
            if status == 0 {
                // SAFETY: the caller passes a place for the size, as the documentation of the function requires.
                unsafe { size.write(crate::WORK.into()) };
            }
            status
        }
    };
    // The size is followed by the parameters of the routine, and by the length of the batch.
    (@sizes $name:ident($($ty:ty),*) $size:ty, $params:ty, $count:ty) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(_: $ty,)* size: *mut $size, _: $params, _: $count) -> std::ffi::c_int {
            crate::note(stringify!($name));
            // SAFETY: as above.
            unsafe { size.write(crate::WORK.into()) };
            0
        }
    };
    (@sizes $name:ident($($ty:ty),*) $device:ty, $host:ty) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(_: $ty,)* device: *mut $device, host: *mut $host) -> std::ffi::c_int {
            crate::note(stringify!($name));
            // SAFETY: as above, for two sizes.
            unsafe {
                device.write(crate::WORK.into());
                host.write(crate::WORK.into());
            }
            0
        }
    };
}
use functions;
