//! The work of graphs, with the declarations of `cuda.h`.

use std::ffi::{c_uint, c_void};
use std::ptr;

use crate::device::{INVALID_VALUE, add, at};

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
pub(crate) struct KernelNode {
    pub(crate) function: *mut c_void,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    pub(crate) params: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: *mut c_void,
    context: *mut c_void,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Fill {
    target: u64,
    pitch: usize,
    value: c_uint,
    element: c_uint,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
pub(crate) struct Copy3D {
    source: Side,
    target: Side,
    width: usize,
    height: usize,
    depth: usize,
}

/// A side of the copy. `kind` says whether its host memory or its device memory counts.
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: c_uint,
    host: *mut c_void,
    device: u64,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    rows: usize,
}

impl Side {
    /// Returns the address of the side's first byte.
    fn address(&self) -> Result<u64, i32> {
        let Self { x: 0, y: 0, z: 0, level: 0, array, .. } = self else {
            return Err(INVALID_VALUE);
        };
        match self.kind {
            1 if array.is_null() => Ok(self.host.expose_provenance() as u64),
            2 if array.is_null() => Ok(self.device),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl Copy3D {
    pub(crate) fn work(&self) -> Result<Work, i32> {
        let Self { source, target, width, height, depth } = self;
        let has_rows = *height > 1 && (width > &source.pitch || width > &target.pitch);
        if *depth != 1 || *height == 0 || has_rows {
            return Err(INVALID_VALUE);
        }
        let (from, to) = ((source.address()?, source.pitch), (target.address()?, target.pitch));
        Ok(Work::Copy { from, to, width: *width, height: *height })
    }
}

/// The work of a node.
#[derive(Clone)]
pub(crate) enum Work {
    /// An address, a length and a value.
    Add([u64; 3]),
    /// Each side is an address and a pitch.
    Copy {
        from: (u64, usize),
        to: (u64, usize),
        width: usize,
        height: usize,
    },
    Fill(Fill),
    /// The work of another graph, in order.
    Graph(Vec<Work>),
}

impl Work {
    /// Returns the work of a kernel with a copy of these parameters.
    pub(crate) unsafe fn kernel(params: *mut *mut c_void, copies: bool) -> Self {
        // SAFETY: both kernels have three parameters; the last one of `add` has four bytes.
        let [first, second] = [0, 1].map(|index| unsafe { *(*params.add(index)).cast::<u64>() });
        // SAFETY: as above.
        let last = unsafe { *params.add(2) };
        if copies {
            // SAFETY: a length of eight bytes.
            let width = unsafe { *last.cast::<u64>() } as usize;
            return Self::Copy { from: (second, 0), to: (first, 0), width, height: 1 };
        }
        // SAFETY: a value of four bytes.
        Self::Add([first, second, u64::from(unsafe { *last.cast::<u32>() })])
    }

    /// A fill of bytes.
    pub(crate) fn fill(target: u64, byte: u8, width: usize) -> Self {
        let value = c_uint::from(byte);
        Self::Fill(Fill { target, pitch: 0, value, element: 1, width, height: 1 })
    }

    /// Where the memory that it uses begins.
    pub(crate) fn memory(&self) -> Vec<u64> {
        match self {
            Self::Add([data, ..]) => vec![*data],
            Self::Copy { from, to, .. } => vec![from.0, to.0],
            Self::Fill(Fill { target, .. }) => vec![*target],
            Self::Graph(work) => work.iter().flat_map(Self::memory).collect(),
        }
    }

    pub(crate) fn run(&self) {
        match *self {
            Self::Graph(ref work) => work.iter().for_each(Self::run),
            Self::Add([data, len, value]) => {
                let (mut data, mut len, mut value) = (data, len, value as u32);
                let mut params: [*mut c_void; 3] =
                    [(&raw mut data).cast(), (&raw mut len).cast(), (&raw mut value).cast()];
                // SAFETY: the parameters of `add`; the program vouches for the memory while its graph may be launched.
                unsafe { add(params.as_mut_ptr()) };
            }
            Self::Copy { from, to, width, height } => {
                for row in 0..height {
                    let (from, to) = (from.0 as usize + row * from.1, to.0 as usize + row * to.1);
                    // SAFETY: as above.
                    unsafe { ptr::copy(at::<u8>(from as u64), at::<u8>(to as u64), width) };
                }
            }
            Self::Fill(Fill { target, value, width, .. }) => {
                // SAFETY: as above.
                unsafe { ptr::write_bytes(at::<u8>(target), value as u8, width) };
            }
        }
    }
}
