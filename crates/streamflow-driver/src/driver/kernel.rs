//! Kernels in the form that a driver takes: source, parameters, and the memory that they read and write.

use std::ffi::c_void;
use std::fmt;

use num_complex::Complex;

use super::{DriverResult, MemoryRange, RawFunction, RawModule, Rows};

/// The most parameters a kernel can have; a slice counts as two, its address and its length.
pub const MAX_PARAMS: usize = 32;

/// A value without pointers, references, padding or forbidden bit patterns, of at most 16 bytes.
///
/// # Safety
/// Every bit pattern of the type's size is a value of the type, the type has no padding, its size is at most 16 bytes
/// and its alignment at most 16.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty),*) => {
        $(
            // SAFETY: a primitive number: all bit patterns are values, no padding, at most 8 bytes.
            unsafe impl Plain for $ty {}
        )*
    };
}
plain!(i8, u8, i16, u16, i32, u32, i64, u64, usize, f32, f64);

// SAFETY: 16 bytes of any value.
unsafe impl Plain for [u8; 16] {}
// SAFETY: a `repr(C)` struct of two `f32`, of 8 bytes, without padding.
unsafe impl Plain for Complex<f32> {}
// SAFETY: a `repr(C)` struct of two `f64`, of 16 bytes, without padding.
unsafe impl Plain for Complex<f64> {}

// SAFETY: `f16` is a transparent `u16`.
#[cfg(feature = "half")]
unsafe impl Plain for half::f16 {}
// SAFETY: `bf16` is a transparent `u16`.
#[cfg(feature = "half")]
unsafe impl Plain for half::bf16 {}

/// A kernel parameter by value.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Param {
    bytes: [u8; 16],
}

impl Param {
    /// Copies a value into a parameter.
    pub fn new<T: Plain>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16) };
        let mut bytes = [0; 16];
        // SAFETY: `T` is plain, so it may be read as bytes, and it fits into the 16 bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(
                (&raw const value).cast(),
                bytes.as_mut_ptr(),
                size_of::<T>(),
            );
        }
        Self { bytes }
    }

    /// Returns the value. If `T` is not the type of the value that the parameter was made from, the bits are
    /// reinterpreted.
    pub fn get<T: Plain>(&self) -> T {
        // SAFETY: `bytes` is 16 bytes long and 16-aligned, and every bit pattern is a `T`.
        unsafe { self.bytes.as_ptr().cast::<T>().read() }
    }

    /// Whether all bytes are equal to those of another parameter.
    #[doc(hidden)]
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    /// All bytes, including the zero bytes behind the value.
    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.bytes
    }

    /// The address of the value, in the form that the CUDA driver takes.
    pub fn as_ptr(&self) -> *const c_void {
        self.bytes.as_ptr().cast()
    }
}

impl fmt::Debug for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.get::<u64>())
    }
}

/// Whether memory is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// Read only.
    Read,
    /// Written, and perhaps read.
    Write,
}

/// Memory that a launch touches, from the kernel's typed arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The bytes that the launch touches.
    pub range: MemoryRange,
    /// Whether the bytes are read or written.
    pub mode: AccessMode,
    /// The kernel argument's name.
    pub argument: &'static str,
    /// The index of the rows that hold the exact bytes, if bytes between them may belong to other arguments. `None`:
    /// all bytes of the range.
    pub rows: Option<RowsAt>,
}

/// The index of an access's [`Rows`] in the list of rows of its launch or library call. `Rows` are large and most
/// accesses have none, so they are stored separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsAt(pub u8);

impl Access {
    /// Finds the access's rows in `rows`, the list of its launch or library call.
    #[inline(always)]
    pub fn rows_in<'a>(&self, rows: &'a [Rows]) -> Option<&'a Rows> {
        rows.get(usize::from(self.rows?.0))
    }
}

/// A kernel launch.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The function to run.
    pub function: RawFunction,
    /// The kernel's name, for messages.
    pub name: &'a str,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: u32,
    /// The parameters in order.
    pub params: &'a [Param],
    /// All memory that the kernel touches.
    pub accesses: &'a [Access],
    /// The rows of those accesses that have a [`RowsAt`].
    pub rows: &'a [Rows],
}

impl Launch<'_> {
    /// Describes the kernel and its grid in words, for messages.
    #[cold]
    pub(super) fn describe(&self) -> String {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        format!(
            "kernel `{}` with a grid of {gx}x{gy}x{gz} blocks of {bx}x{by}x{bz} threads and {} bytes of dynamic \
             shared memory",
            self.name, self.shared_bytes
        )
    }
}

/// The arguments of a kernel's host body: the parameters as they were when the launch was queued.
#[derive(Debug, Clone, Copy)]
pub struct HostArgs<'a> {
    /// The parameters in order.
    pub params: &'a [Param],
}

/// A kernel's host body.
///
/// # Safety
/// The parameters are those of the kernel. The memory that the parameters name is allocated, and no other code touches
/// it during the call.
pub type HostKernel = unsafe fn(HostArgs<'_>);

/// The target that a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
}

/// Compiled code that a CUDA driver loads: PTX text, or a CUBIN or fatbin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image(pub Vec<u8>);

/// A kernel before it is loaded. The simulator uses the body in `host`, and a CUDA driver the body in `code`.
pub struct KernelSource<'a> {
    /// The kernel's name, for messages.
    pub name: &'a str,
    /// The function's name within the image.
    pub entry: &'a str,
    /// The body for the simulator, if there is one.
    pub host: Option<HostKernel>,
    /// The body for a CUDA driver.
    pub code: Code<'a>,
}

/// The source of a kernel's compiled body.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    /// A function that makes the image for a target: compiles it, or takes it from a cache. The function is called only
    /// when the image is needed.
    Image(&'a dyn Fn(Target) -> DriverResult<Image>),
    /// A module that was loaded by [`Driver::load_module`](super::Driver::load_module). Its functions
    /// share the module's variables.
    Module(RawModule),
    /// PTX text, a CUBIN or a fatbin within the program. A CUDA driver loads it once for all kernels of a device that have it. The
    /// kernels have no state: they share no variables of the image.
    Embedded(&'static [u8]),
}

impl fmt::Debug for KernelSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSource")
            .field("name", &self.name)
            .field("code", &self.code)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(_) => f.write_str("Image"),
            Self::Module(module) => f.debug_tuple("Module").field(module).finish(),
            Self::Embedded(_) => f.write_str("Embedded"),
        }
    }
}

/// A kernel that can be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedKernel {
    /// The driver's handle of the kernel.
    pub function: RawFunction,
    /// Threads per block that keep the device busiest, for launches without a block size.
    pub block_size: u32,
    /// The most threads a block of this kernel may have on this device.
    pub max_block_size: u32,
}

/// A function that a stream calls on the host, in the order of the stream's work.
#[derive(Debug, Clone, Copy)]
pub struct HostFunction {
    /// The function that the stream calls.
    pub call: unsafe extern "C" fn(*mut c_void),
    /// The function's argument.
    pub data: *mut c_void,
}
