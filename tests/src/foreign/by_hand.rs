//! Calls the code of `tests/benches/libraries/by_hand.cu`, which uses NVIDIA's libraries directly.

use std::ffi::{CString, c_char, c_int, c_longlong, c_void};
use std::path::Path;

use libloading::Library;

use crate::Failed;
use crate::libraries::{Problem, Values};

type New = unsafe extern "C" fn(
    *const c_char,
    *const i64,
    c_int,
    *const *const c_void,
    *const usize,
    c_int,
) -> *mut c_void;

/// The functions of the compiled `by_hand.cu`.
#[derive(Debug, Clone, Copy)]
pub struct ByHand {
    new: New,
    prepare: unsafe extern "C" fn(*mut c_void, c_int),
    call: unsafe extern "C" fn(*mut c_void, c_int),
    stream: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    result: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
    begin: unsafe extern "C" fn(*mut c_void, c_longlong),
    end: unsafe extern "C" fn(*mut c_void) -> f32,
}

impl ByHand {
    /// Opens the compiled library. It is never closed, since its CUDA runtime keeps streams and memory.
    ///
    /// # Errors
    /// There is no such library, or it is another one.
    pub fn open(path: &Path) -> Result<Self, Failed> {
        // SAFETY: the path names the library that `by_hand.cu` was compiled to. Loading it runs only the CUDA runtime's
        // initialisation.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(path) }?));
        // SAFETY: the types of the functions are those in `by_hand.cu`.
        unsafe {
            Ok(Self {
                new: *library.get(b"by_hand_new")?,
                prepare: *library.get(b"by_hand_prepare")?,
                call: *library.get(b"by_hand_call")?,
                stream: *library.get(b"by_hand_stream")?,
                result: *library.get(b"by_hand_result")?,
                begin: *library.get(b"by_hand_begin")?,
                end: *library.get(b"by_hand_end")?,
            })
        }
    }

    /// Keeps a stream busy for this many clock cycles, and marks the beginning of the work that is queued next.
    pub fn begin(&self, stream: u64, cycles: u64) {
        // SAFETY: the stream is alive, and the queued work touches no memory.
        unsafe { (self.begin)(stream as *mut c_void, cycles as c_longlong) }
    }

    /// Marks the end of the work on a stream, waits for it, and returns how many seconds the device has taken since
    /// [`begin`](Self::begin).
    pub fn end_blocking(&self, stream: u64) -> f64 {
        // SAFETY: the stream is alive, and the queued work touches no memory.
        f64::from(unsafe { (self.end)(stream as *mut c_void) }) / 1e3
    }
}

/// A plan with its operands in the code by hand, on the current device. It is never destroyed.
#[derive(Debug)]
pub struct Case {
    functions: ByHand,
    case: *mut c_void,
}

// SAFETY: the code by hand may be called on any thread, but only by one at a time. A `Case` is used only through `&mut`.
unsafe impl Send for Case {}

impl Case {
    /// Makes the plan, on a stream of its own.
    ///
    /// # Errors
    /// The library does not know this kind of problem.
    pub fn new(functions: ByHand, problem: &Problem) -> Result<Self, Failed> {
        let kind = CString::new(problem.kind)?;
        let sizes: Vec<i64> = problem.sizes.iter().map(|&size| size as i64).collect();
        let inputs: Vec<_> = problem.inputs.iter().map(Values::as_ptr).collect();
        let bytes: Vec<_> = problem.inputs.iter().map(Values::bytes).collect();
        let (sizes_len, inputs_len) = (sizes.len() as c_int, inputs.len() as c_int);
        // SAFETY: each pointer has as many elements or bytes as the length beside it says.
        let case = unsafe {
            (functions.new)(
                kind.as_ptr(),
                sizes.as_ptr(),
                sizes_len,
                inputs.as_ptr(),
                bytes.as_ptr(),
                inputs_len,
            )
        };
        if case.is_null() {
            return Err(Failed::msg(format!("the code by hand has no `{}`", problem.kind)));
        }
        Ok(Self { functions, case })
    }

    /// Prepares the operands of `calls` calls, and waits until the device is idle.
    pub fn prepare_blocking(&mut self, calls: usize) {
        // SAFETY: the case is alive, and `&mut self` makes this its only user.
        unsafe { (self.functions.prepare)(self.case, calls as c_int) }
    }

    /// Queues `calls` calls.
    pub fn call(&mut self, calls: usize) {
        // SAFETY: the case is alive, and `&mut self` makes this its only user.
        unsafe { (self.functions.call)(self.case, calls as c_int) }
    }

    /// Returns the handle of the case's stream.
    pub fn stream(&mut self) -> u64 {
        // SAFETY: the case is alive, and `&mut self` makes this its only user.
        unsafe { (self.functions.stream)(self.case) as u64 }
    }

    /// Overwrites `values` with the result of the calls, which has the same number of bytes.
    pub fn result_blocking(&mut self, values: &mut Values) {
        let bytes = values.bytes();
        // SAFETY: the case is alive, and `&mut self` makes this its only user. The result has as many bytes as `values`,
        // and any bytes are valid numbers.
        unsafe { (self.functions.result)(self.case, values.as_mut_ptr(), bytes) }
    }
}
