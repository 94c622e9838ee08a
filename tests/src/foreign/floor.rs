//! Task graphs that are wired by hand in C++. Calls the code of `tests/benches/floor/by_hand.cpp`, compiled to a library.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::Library;
use streamflow::__private::KernelInfo;
use streamflow::kernel::CompiledCode;

use crate::Failed;
use crate::floor::Plan;

type Raw = *mut c_void;

/// An argument of a kernel launch.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// The address of a buffer.
    Buffer(Buffer),
    /// A number. The kernel gets as many of its lowest bytes as its parameter has.
    Value(u64),
    /// The given number `^` (the number of the tick + the salt).
    TickBits(u32),
    /// An `f32`: ((the number of the tick + the salt) modulo 8) times 0.125.
    TickStart,
    /// For how many clock cycles the kernel delays: 0, unless [`Program::break_order`] sets another number.
    Late,
    /// The given number `^` the salt.
    SaltBits(u32),
}

#[repr(C)]
struct RawArgument {
    kind: i32,
    value: u64,
}

impl From<Argument> for RawArgument {
    fn from(argument: Argument) -> Self {
        let (kind, value) = match argument {
            Argument::Buffer(Buffer(index)) => (0, index as u64),
            Argument::Value(value) => (1, value),
            Argument::TickBits(value) => (2, u64::from(value)),
            Argument::TickStart => (3, 0),
            Argument::Late => (4, 0),
            Argument::SaltBits(value) => (5, u64::from(value)),
        };
        Self { kind, value }
    }
}

/// A pair of buffers of a program, which its ticks use alternately.
#[derive(Debug, Clone, Copy)]
pub struct Buffer(c_int);

/// A kernel that a program has loaded.
#[derive(Debug, Clone, Copy)]
pub struct Function(c_int);

/// The functions of the compiled `by_hand.cpp`.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    error: unsafe extern "C" fn() -> *const c_char,
    new: unsafe extern "C" fn(c_int, c_int) -> Raw,
    drop: unsafe extern "C" fn(Raw),
    function: unsafe extern "C" fn(Raw, *const c_void, *const c_char) -> c_int,
    buffer: unsafe extern "C" fn(Raw, usize) -> c_int,
    task: unsafe extern "C" fn(Raw, c_int, c_int, *const c_int, c_int) -> c_int,
    launch:
        unsafe extern "C" fn(Raw, c_int, c_int, c_uint, c_uint, *const RawArgument, c_int) -> c_int,
    download: unsafe extern "C" fn(Raw, c_int, c_int, c_int) -> c_int,
    break_order: unsafe extern "C" fn(Raw, c_int, u64) -> c_int,
    queue: unsafe extern "C" fn(Raw, u64, u64, u32, c_int, c_int) -> c_int,
    finish: unsafe extern "C" fn(Raw) -> c_int,
    poison: unsafe extern "C" fn(Raw) -> c_int,
    result: unsafe extern "C" fn(Raw, c_int) -> *const c_void,
}

impl Floor {
    /// Opens the compiled library. It is never closed.
    ///
    /// # Errors
    /// There is no such library, or it is another one.
    pub fn open(path: &Path) -> Result<Self, Failed> {
        // SAFETY: the path names the library that `by_hand.cpp` was compiled to. Loading it runs no code of its own.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(path) }?));
        // SAFETY: the types of the functions are those in `by_hand.cpp`.
        unsafe {
            Ok(Self {
                error: *library.get(b"floor_error")?,
                new: *library.get(b"floor_new")?,
                drop: *library.get(b"floor_drop")?,
                function: *library.get(b"floor_function")?,
                buffer: *library.get(b"floor_buffer")?,
                task: *library.get(b"floor_task")?,
                launch: *library.get(b"floor_launch")?,
                download: *library.get(b"floor_download")?,
                break_order: *library.get(b"floor_break")?,
                queue: *library.get(b"floor_queue")?,
                finish: *library.get(b"floor_finish")?,
                poison: *library.get(b"floor_poison")?,
                result: *library.get(b"floor_result")?,
            })
        }
    }

    fn failed(&self) -> Failed {
        // SAFETY: the library returns a text that stays valid until its next call on this thread.
        let text = unsafe { CStr::from_ptr((self.error)()) };
        Failed::msg(format!("the program by hand: {}", text.to_string_lossy()))
    }

    fn check(&self, result: c_int) -> Result<c_int, Failed> {
        if result < 0 { Err(self.failed()) } else { Ok(result) }
    }
}

/// A program wired by hand on a device: its streams, events, memory and tasks.
#[derive(Debug)]
pub struct Program {
    functions: Floor,
    raw: Raw,
    /// The plan: for each task, its stream and its waits.
    plan: Plan,
    tasks: usize,
}

impl Program {
    /// Makes a program without tasks, on the device with this ordinal, with the streams of a plan.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(functions: Floor, ordinal: u32, plan: Plan) -> Result<Self, Failed> {
        // SAFETY: the function accepts any numbers.
        let raw = unsafe { (functions.new)(ordinal as c_int, plan.stream_count() as c_int) };
        if raw.is_null() {
            return Err(functions.failed());
        }
        Ok(Self { functions, raw, plan, tasks: 0 })
    }

    /// Loads the code that streamflow has compiled for a kernel.
    ///
    /// # Errors
    /// NVRTC's and the driver's.
    pub fn function(
        &mut self,
        kernel: &KernelInfo,
        capability: (u32, u32),
    ) -> Result<Function, Failed> {
        let (image, name) =
            (CompiledCode::cached_for(kernel, capability)?, CString::new(kernel.entry)?);
        // SAFETY: the program is alive, as in all methods; the image is compiled code, and CUDA checks it.
        let index = unsafe {
            (self.functions.function)(self.raw, image.bytes().as_ptr().cast(), name.as_ptr())
        };
        Ok(Function(self.functions.check(index)?))
    }

    /// Allocates two buffers.
    ///
    /// # Errors
    /// The driver's.
    pub fn buffer(&mut self, bytes: usize) -> Result<Buffer, Failed> {
        // SAFETY: the program is alive.
        let index = unsafe { (self.functions.buffer)(self.raw, bytes) };
        Ok(Buffer(self.functions.check(index)?))
    }

    /// Adds the next task of the plan, and returns its number.
    ///
    /// # Errors
    /// The driver's.
    pub fn task(&mut self) -> Result<usize, Failed> {
        let task = self.tasks;
        let waits: Vec<c_int> = self.plan.waits[task].iter().map(|task| *task as c_int).collect();
        let (stream, records) = (self.plan.streams[task] as c_int, self.plan.records[task].into());
        // SAFETY: the program is alive, and each pointer has as many elements as the length beside it says.
        let index = unsafe {
            (self.functions.task)(self.raw, stream, records, waits.as_ptr(), waits.len() as c_int)
        };
        self.functions.check(index)?;
        self.tasks += 1;
        Ok(task)
    }

    /// Adds a launch to a task.
    ///
    /// # Errors
    /// Too many arguments.
    pub fn launch(
        &mut self,
        task: usize,
        function: Function,
        (blocks, threads): (u32, u32),
        arguments: &[Argument],
    ) -> Result<(), Failed> {
        let list: Vec<RawArgument> = arguments.iter().map(|it| (*it).into()).collect();
        // SAFETY: the program is alive. The caller passes the kernel's arguments in their order; a benchmark compares the
        // results.
        let done = unsafe {
            (self.functions.launch)(
                self.raw,
                task as c_int,
                function.0,
                blocks,
                threads,
                list.as_ptr(),
                list.len() as c_int,
            )
        };
        self.functions.check(done).map(drop)
    }

    /// Adds the download of a buffer to a task: in each tick, or only in the last of the ticks that are queued together.
    /// Returns the download's number.
    ///
    /// # Errors
    /// The driver's.
    pub fn download(
        &mut self,
        task: usize,
        buffer: Buffer,
        in_each_tick: bool,
    ) -> Result<usize, Failed> {
        // SAFETY: the program is alive.
        let index = unsafe {
            (self.functions.download)(self.raw, task as c_int, buffer.0, in_each_tick.into())
        };
        Ok(self.functions.check(index)? as usize)
    }

    /// With `is_broken`, leaves all waits out of the program and delays some kernels. Otherwise restores the waits.
    ///
    /// # Errors
    /// None that is expected.
    pub fn break_order(&mut self, is_broken: bool) -> Result<(), Failed> {
        let cycles = if is_broken { 4_000_000 } else { 0 };
        // SAFETY: the program is alive.
        let done = unsafe { (self.functions.break_order)(self.raw, (!is_broken).into(), cycles) };
        self.functions.check(done).map(drop)
    }

    /// Queues ticks.
    ///
    /// # Errors
    /// The driver's.
    pub fn queue(
        &mut self,
        first: u64,
        ticks: u64,
        salt: u32,
        kernels: bool,
        keep: bool,
    ) -> Result<(), Failed> {
        // SAFETY: the program is alive.
        let done = unsafe {
            (self.functions.queue)(self.raw, first, ticks, salt, kernels.into(), keep.into())
        };
        self.functions.check(done).map(drop)
    }

    /// Waits until the last downloads are complete.
    ///
    /// # Errors
    /// The driver's.
    pub fn finish_blocking(&mut self) -> Result<(), Failed> {
        // SAFETY: the program is alive.
        let done = unsafe { (self.functions.finish)(self.raw) };
        self.functions.check(done).map(drop)
    }

    /// Fills all memory with zeros, after all tasks that use it.
    ///
    /// # Errors
    /// The driver's.
    pub fn poison_blocking(&mut self) -> Result<(), Failed> {
        // SAFETY: the program is alive.
        let done = unsafe { (self.functions.poison)(self.raw) };
        self.functions.check(done).map(drop)
    }

    /// Waits for a download, and returns its latest result.
    ///
    /// # Errors
    /// The driver's.
    pub fn result_blocking(&mut self, download: usize, len: usize) -> Result<Vec<u32>, Failed> {
        self.finish_blocking()?;
        // SAFETY: the program is alive. The buffer has room for this many words, no download is in flight, and any bytes
        // are valid words.
        let words = unsafe {
            let result = (self.functions.result)(self.raw, download as c_int);
            std::slice::from_raw_parts(result.cast::<u32>(), len)
        };
        Ok(words.to_vec())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive, and this is its last use.
        unsafe { (self.functions.drop)(self.raw) }
    }
}
