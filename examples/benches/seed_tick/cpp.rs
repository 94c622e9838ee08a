//! The C++ program of the comparison, in the library that `cpp.cu` is compiled to.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::time::Instant;

use libloading::{Library, Symbol};
use streamflow::prelude::*;

use crate::TICKS;
use crate::forms::Form;

type New = unsafe extern "C" fn(c_int, c_int) -> *mut c_void;
type Queue = unsafe extern "C" fn(*mut c_void, c_int);
type Wait = unsafe extern "C" fn(*mut c_void);

/// The C++ program for one size of the images. Its streams, events, memory and CUDA errors stay until the process ends.
pub(crate) struct Cpp {
    seed: *mut c_void,
    queue: Symbol<'static, Queue>,
    wait_last: Symbol<'static, Wait>,
    wait_all: Symbol<'static, Wait>,
}

/// Opens the library, and never closes it, since the CUDA runtime in it owns streams and memory.
pub(crate) fn open(path: &Path) -> Result<&'static Library, Failure> {
    // SAFETY: `--cpp` names the library that `cpp.cu` was compiled to. Loading this library runs only the initialisation of the
    // CUDA runtime.
    Ok(Box::leak(Box::new(unsafe { Library::new(path) }?)))
}

impl Cpp {
    /// Makes the program's streams, events and memory on the current device.
    pub(crate) fn new(library: &'static Library, rows: u32, cols: u32) -> Result<Self, Failure> {
        // SAFETY: the types are those of `cpp.cu`, and `seed_new` may be called while the library is open.
        unsafe {
            let new: Symbol<'static, New> = library.get(b"seed_new")?;
            Ok(Self {
                seed: new(rows as c_int, cols as c_int),
                queue: library.get(b"seed_queue")?,
                wait_last: library.get(b"seed_wait_last")?,
                wait_all: library.get(b"seed_wait_all")?,
            })
        }
    }
}

impl Form for Cpp {
    fn batch(&mut self) -> Result<(Option<f64>, f64)> {
        let start = Instant::now();
        // SAFETY: `seed` is from `seed_new` of the same library, and only this value uses it.
        unsafe { (self.queue)(self.seed, TICKS as c_int) };
        let queued = start.elapsed();
        // SAFETY: as for the call of `queue`.
        unsafe { (self.wait_all)(self.seed) };
        Ok((Some(queued.as_secs_f64()), start.elapsed().as_secs_f64()))
    }

    fn latency(&mut self) -> Result<f64> {
        let start = Instant::now();
        // SAFETY: `seed` is from `seed_new` of the same library, and only this value uses it.
        unsafe {
            (self.queue)(self.seed, 1);
            (self.wait_last)(self.seed);
        }
        Ok(start.elapsed().as_secs_f64())
    }
}
